"""Label-ranking data: what ships, what can be made or fetched, and readers of file formats.

Every set is a scikit-learn ``Bunch`` with ``data``, ``target`` (ranks), ``feature_names``,
``label_names`` and ``DESCR``.
"""

from prefero.datasets._constructions import ranks_from_classes, ranks_from_columns
from prefero.datasets._shipped import dataset_names, load_dataset

__all__ = ["dataset_names", "load_dataset", "ranks_from_classes", "ranks_from_columns"]
