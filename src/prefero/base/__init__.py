"""What the estimators of each task share: tags, validation, names, and the public predictions."""

from prefero.base._features import check_features
from prefero.base._label_ranking import BaseLabelRanker, LabelRankerMixin

__all__ = ["BaseLabelRanker", "LabelRankerMixin", "check_features"]
