from ._label_ranker import LABEL_RANKER_AXIOMS, check_label_ranker
from ._multilabel_ranker import MULTILABEL_RANKER_AXIOMS, check_multilabel_ranker
from ._running import assert_valid_rankings, run_axiom

__all__ = [
    "LABEL_RANKER_AXIOMS",
    "MULTILABEL_RANKER_AXIOMS",
    "assert_valid_rankings",
    "check_label_ranker",
    "check_multilabel_ranker",
    "run_axiom",
]
