"""Label-ranking data sets: shipped, generated, or downloaded.

Every set is a scikit-learn ``Bunch`` with ``data``, ``target`` (ranks), ``feature_names``,
``label_names`` and ``DESCR``.
"""

from prefero.datasets._benchmarks import benchmark_path, benchmarks_folder, fetch_benchmark
from prefero.datasets._constructions import ranks_from_classes, ranks_from_columns
from prefero.datasets._generators import make_dyad_ranking, make_label_ranking
from prefero.datasets._shipped import dataset_names, get_results, load_dataset

__all__ = [
    "benchmark_path",
    "benchmarks_folder",
    "dataset_names",
    "fetch_benchmark",
    "get_results",
    "load_dataset",
    "make_dyad_ranking",
    "make_label_ranking",
    "ranks_from_classes",
    "ranks_from_columns",
]
