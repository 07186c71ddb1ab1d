"""A cluster that loses workers in the middle of a fit: the same model, or one clear error."""

import os
import signal

import numpy as np
import pytest

from clusters import two_workers
from prefero import BoostingLabelRanker, ForestLabelRanker, LogLinearLabelRanker
from prefero.datasets import make_label_ranking
from prefero.distributed import DistributedLabelRanker

da = pytest.importorskip("dask.array", reason="Dask is not installed")

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

ROWS = 120


@pytest.fixture(scope="module")
def client():
    with two_workers() as client:
        yield client


@pytest.fixture
def parts():
    X, Y = make_label_ranking(ROWS, 3, 4, theta=1.0, random_state=0)
    return da.from_array(X, chunks=(40, 3)), da.from_array(Y, chunks=(40, 4))


class Killer:
    """Kills a worker once so many rows were passed."""

    def __init__(self, client, after):
        self.client, self.after, self.killed = client, after, None

    def __call__(self, done, _):
        if self.killed is None and done >= self.after:
            self.killed = next(iter(self.client.run(os.getpid).values()))
            os.kill(self.killed, signal.SIGKILL)


@pytest.mark.parametrize(
    "ranker",
    [
        ForestLabelRanker(3, max_depth=4, random_state=0),
        BoostingLabelRanker(2, max_leaf_nodes=4, validation=None, random_state=0),
        LogLinearLabelRanker(alpha=0.1),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_a_worker_killed_in_the_middle_changes_nothing(ranker, client, parts):
    expected = DistributedLabelRanker(ranker, client=False).fit(*parts).to_local()
    kill = Killer(client, after=4 * ROWS)
    found = DistributedLabelRanker(ranker, client=client, progress=kill).fit(*parts).to_local()
    assert kill.killed is not None
    X = parts[0].compute()
    assert np.allclose(found.decision_function(X), expected.decision_function(X), atol=1e-9)
    if not isinstance(ranker, LogLinearLabelRanker):
        for name, array in expected.trees_.items():
            assert np.array_equal(array, found.trees_[name])


def test_a_task_that_kills_its_workers_is_one_clear_error(client, monkeypatch):
    # Dask would start a worker four times before it gives up.
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
    broken = da.map_blocks(die, da.zeros((8, 2), chunks=(4, 2)), dtype=float)
    with pytest.raises(RuntimeError, match="lost its workers in the middle of a fit"):
        DistributedLabelRanker(ForestLabelRanker(2), client=client).fit(
            broken, da.ones((8, 2), chunks=(4, 2))
        )


def die(block):
    if block.size:  # Dask tries the function on an empty block first
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def test_no_worker_at_all_is_an_error_and_no_waiting(parts, monkeypatch):
    from distributed import Client, LocalCluster

    monkeypatch.setattr("prefero.distributed._engine.PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr("prefero.distributed._engine._LOOK_SECONDS", 0.1)
    options = {"n_workers": 0, "processes": False, "dashboard_address": ":0"}
    with (
        LocalCluster(**options) as cluster,
        Client(cluster, set_as_default=False) as client,
        pytest.raises(RuntimeError, match="No worker of the cluster"),
    ):
        DistributedLabelRanker(ForestLabelRanker(2), client=client).fit(*parts)
