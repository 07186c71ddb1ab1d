from ._benchmarks import benchmark_path, benchmarks_folder, fetch_benchmark
from ._constructions import ranks_from_classes, ranks_from_columns
from ._generators import make_dyad_ranking, make_label_ranking
from ._shipped import dataset_names, get_results, load_dataset

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
