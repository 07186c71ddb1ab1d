"""Checks that an estimator keeps the promises of its task, for this package and for third parties.

``check_label_ranker(MyRanker())`` and ``check_multilabel_ranker(MyRanker())`` run scikit-learn's
own suite and then the axioms of the task on real targets. With pytest, one test an axiom::

    @pytest.mark.parametrize("axiom", LABEL_RANKER_AXIOMS, ids=lambda axiom: axiom.__name__)
    def test_axiom(axiom):
        axiom(MyRanker())
"""

from prefero.checks._label_ranker import LABEL_RANKER_AXIOMS, check_label_ranker
from prefero.checks._multilabel_ranker import MULTILABEL_RANKER_AXIOMS, check_multilabel_ranker
from prefero.checks._running import assert_valid_rankings, run_axiom

__all__ = [
    "LABEL_RANKER_AXIOMS",
    "MULTILABEL_RANKER_AXIOMS",
    "assert_valid_rankings",
    "check_label_ranker",
    "check_multilabel_ranker",
    "run_axiom",
]
