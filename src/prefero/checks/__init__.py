"""Checks that an estimator keeps the promises of its task, for this package and for third parties.

``check_label_ranker(MyRanker())`` and ``check_multilabel_ranker(MyRanker())`` run scikit-learn's
own suite and then the axioms of the task on real targets. With pytest, one test per axiom::

    @pytest.mark.parametrize("axiom", LABEL_RANKER_AXIOMS, ids=lambda axiom: axiom.__name__)
    def test_axiom(axiom):
        axiom(MyRanker())
"""

import lazy_loader

# The names stand in the stub beside: each loads its module on first use.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
