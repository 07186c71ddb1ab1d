"""A small Dask cluster for tests: two worker processes of one thread each."""

import contextlib
import logging

import pytest

dask = pytest.importorskip(
    "dask", reason="Dask is not installed: pip install 'prefero[distributed]'"
)
pytest.importorskip("distributed", reason="distributed is not installed")


@contextlib.contextmanager
def two_workers():
    """Start the cluster and yield its client."""
    from distributed import Client, LocalCluster

    quiet = {"silence_logs": logging.CRITICAL, "dashboard_address": ":0"}
    with (
        dask.config.set({"distributed.worker.memory.terminate": False}),
        LocalCluster(n_workers=2, threads_per_worker=1, **quiet) as cluster,
        Client(cluster) as client,
    ):
        yield client
