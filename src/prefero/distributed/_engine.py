"""Engines that call functions on partitions: threads of this machine, or Dask's workers."""

import pickle
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any, cast

import numpy as np
from joblib import effective_n_jobs

from prefero._optional import require
from prefero.distributed.blocks import LazyBlock

# How long to wait for a worker when none is left, and how often to look for one.
PATIENCE_SECONDS = 60.0
_LOOK_SECONDS = 2.0
# Arrays that are not worth a file, and the bytes at whose multiples they begin in one.
_SMALL_BYTES, _ALIGNED = 2**12, 64
# What tasks carry themselves, all of them together.
_LITTLE_BYTES = 2**18

Call = Callable[..., Any]
Column = Sequence[Any]
Handles = list[Any]


def need(module: str) -> Any:
    """Import a module of Dask, or say how to install it."""
    return require(module, extra="distributed", purpose="prefero.distributed")


def add(one: Any, other: Any, *, reuse: bool = False) -> Any:
    """Add numbers, arrays, or tuples and lists of them; arrays of the first may be reused."""
    if isinstance(one, tuple | list):
        return type(one)(add(a, b, reuse=reuse) for a, b in zip(one, other, strict=True))
    if reuse and isinstance(one, np.ndarray) and one.flags.writeable:
        one += other
        return one
    return one + other


class Engine(ABC):
    """Calls functions once per partition; results stay where they are until gathered.

    Functions take one entry of each column, and what all calls share, which travels once. A column
    has one entry per partition: a handle that ``each`` returned, a delayed block of a Dask
    collection, a block to be read later, a plain value, or a list of such.

    Attributes
    ----------
    passed : callable
        Called whenever the rows of a partition have been passed.
    ways : int
        Into how many requests work on sums is best divided.
    """

    ways = 1

    def __init__(self) -> None:
        self.passed: Callable[[], None] = lambda: None

    @abstractmethod
    def each(self, run: Call, *columns: Column, shared: Any = None, brief: bool = False) -> Handles:
        """Start ``run(*entries, shared)`` for each partition; return handles.

        Brief results are soon replaced, and never written to files.
        """

    @abstractmethod
    def sum(self, run: Call, *columns: Column, shared: Any = None) -> Any:
        """Return the sum over partitions of what the function returns, in a fixed order."""

    @abstractmethod
    def sums(self, run: Call, *columns: Column, requests: Column, then: Call) -> list[Any]:
        """Return ``then(sum, request)`` for each request, which all calls for it share.

        Sums are used where they are computed: they need not travel to the driver.
        """

    @abstractmethod
    def gather(self, handles: Column) -> list[Any]:
        """Return the results behind handles."""

    @abstractmethod
    def settle(self, handles: Column) -> Handles:
        """Wait for results that stay where they are; return handles that outlive the engine."""

    @abstractmethod
    def close(self) -> None:
        """End what the engine has started."""


class Summed:
    """Objects of all partitions whose methods' results are added up.

    Parameters
    ----------
    engine : Engine
        Adds up over partitions.
    parts : sequence of handles
        One object per partition.
    """

    def __init__(self, engine: Engine, parts: Sequence[Any]) -> None:
        self._engine, self._parts = engine, parts

    def total(self, method: str, *arguments: Any, **options: Any) -> Any:
        """Return the sum of what a method of each object returns."""
        return self._engine.sum(_call_method, self._parts, shared=(method, arguments, options))


def _call_method(part: Any, shared: tuple[str, tuple[Any, ...], dict[str, Any]]) -> Any:
    method, arguments, options = shared
    return getattr(part, method)(*arguments, **options)


class LocalEngine(Engine):
    """The threads of this machine; blocks are read when they are needed, and forgotten.

    Parameters
    ----------
    n_jobs : int, optional
        Number of threads, as in joblib: None means 1, -1 uses all cores.
    folder : path, optional
        Where kept arrays are written, to be mapped into memory; by default they stay there.
    """

    def __init__(self, n_jobs: int | None = None, folder: Any = None) -> None:
        super().__init__()
        self.jobs = effective_n_jobs(n_jobs)
        self._folder = None if folder is None else Path(folder)
        self._numbers = count()
        self._pool = ThreadPoolExecutor(self.jobs)

    def gather(self, handles: Column) -> list[Any]:
        """Wait for the results."""
        return [handle.result() for handle in handles]

    def settle(self, handles: Column) -> Handles:
        """Wait for the results, which are here."""
        return self.gather(handles)

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def each(self, run: Call, *columns: Column, shared: Any = None, brief: bool = False) -> Handles:
        """Start all calls; arrays they return are kept, in files if there is a folder."""

        def kept(*entries: Any) -> Any:
            result = _called(run, shared, *entries)
            self.passed()
            return result if brief or self._folder is None else self._in_file(result)

        return [self._pool.submit(kept, *own) for own in zip(*columns, strict=True)]

    def sum(self, run: Call, *columns: Column, shared: Any = None) -> Any:
        """Add up in the order of the partitions, never more results at a time than threads."""
        waiting: deque[Future[Any]] = deque()
        total: Any = None
        for own in zip(*columns, strict=True):
            waiting.append(self._pool.submit(_called, run, shared, *own))
            if len(waiting) > self.jobs:
                total = self._added(total, waiting.popleft())
        while waiting:
            total = self._added(total, waiting.popleft())
        return total

    def sums(self, run: Call, *columns: Column, requests: Column, then: Call) -> list[Any]:
        """Add up one request after the other."""
        return [then(self.sum(run, *columns, shared=one), one) for one in requests]

    def _added(self, total: Any, following: "Future[Any]") -> Any:
        value = following.result()
        self.passed()
        return value if total is None else add(total, value, reuse=True)

    def _in_file(self, result: Any) -> Any:
        """Put the arrays of a result, wherever they are in it, into a file mapped into memory."""
        assert self._folder is not None
        buffers: list[pickle.PickleBuffer] = []
        data = pickle.dumps(result, protocol=5, buffer_callback=buffers.append)
        parts = [buffer.raw() for buffer in buffers]
        if sum(part.nbytes for part in parts) <= _SMALL_BYTES:
            return result
        path = self._folder / f"{next(self._numbers)}.arrays"
        starts = []
        with path.open("wb") as file:
            for part in parts:
                file.write(bytes(-file.tell() % _ALIGNED))
                starts.append(file.tell())
                file.write(part)
        mapped = np.memmap(path, mode="r")
        ends = [start + part.nbytes for start, part in zip(starts, parts, strict=True)]
        views = [mapped[start:end] for start, end in zip(starts, ends, strict=True)]
        return pickle.loads(data, buffers=views)


def _here(entry: Any) -> Any:
    """What an entry stands for."""
    if isinstance(entry, list):
        return [_here(part) for part in entry]
    if isinstance(entry, Future):
        return entry.result()
    if isinstance(entry, LazyBlock):
        return entry.read(*entry.arguments)
    if hasattr(entry, "__dask_graph__"):
        return entry.compute(scheduler="synchronous")
    return entry


def _called(run: Call, shared: Any, *entries: Any) -> Any:
    """Call a function with what entries stand for; what tasks carry is unpacked."""
    return run(*(_here(entry) for entry in entries), _opened(shared))


def _identity(value: Any) -> Any:
    return value


class _Packed:
    """What travels with tasks, as bytes that Dask need not look into."""

    def __init__(self, data: bytes) -> None:
        self.data = data


def _opened(shared: Any) -> Any:
    return pickle.loads(shared.data) if isinstance(shared, _Packed) else shared


def _done(then: Call, request: Any, *parts: Any) -> Any:
    return then(parts[0] if len(parts) == 1 else add(*parts), _opened(request))


class DaskEngine(Engine):
    """The workers of a Dask cluster.

    What is lost with a worker is made again from the collections. If that fails, or no worker is
    left for a minute, one error says so.

    Parameters
    ----------
    client : distributed.Client
        The client of the cluster.
    """

    def __init__(self, client: Any) -> None:
        super().__init__()
        self._client = client
        self.ways = max(1, len(client.ncores()))

    def each(self, run: Call, *columns: Column, shared: Any = None, brief: bool = False) -> Handles:
        """Start all calls; what they return stays on the workers."""
        return self._calls(run, columns, self._carried(shared, len(columns[0])))

    def _carried(self, shared: Any, calls: int) -> Any:
        """What calls take along: a little as it is, which saves them from waiting for another."""
        data = need("distributed.protocol").pickle.dumps(shared)
        if len(data) * calls <= _LITTLE_BYTES:
            return _Packed(data)
        # A task and not scattered data: it can be made again if its worker is lost.
        return self._client.submit(_identity, shared, pure=False)

    def _calls(self, run: Call, columns: Sequence[Column], carried: Any) -> Handles:
        delayed = need("dask").delayed
        return [
            self._client.compute(
                delayed(_called, pure=False)(run, carried, *own), optimize_graph=True
            )
            if any(hasattr(entry, "__dask_graph__") for entry in own)
            else self._client.submit(_called, run, carried, *own, pure=False)
            for own in zip(*columns, strict=True)
        ]

    def sum(self, run: Call, *columns: Column, shared: Any = None) -> Any:
        """Add up in pairs on the workers, always the same ones."""
        (total,) = self.gather(self._added(self.each(run, *columns, shared=shared), 1))
        self._all_passed(columns)
        return _writable(total)

    def sums(self, run: Call, *columns: Column, requests: Column, then: Call) -> list[Any]:
        """Add up all requests at once; workers share what is to be done then."""
        waiting = []
        for request in requests:
            carried = self._carried(request, len(columns[0]))
            last = self._added(self._calls(run, columns, carried), 2)
            waiting.append(self._client.submit(_done, then, carried, *last, pure=False))
        found = self.gather(waiting)
        self._all_passed(columns)
        return found

    def _added(self, level: list[Any], most: int) -> list[Any]:
        """Add up in pairs until at most so many are left."""
        while len(level) > most:
            pairs = zip(level[::2], level[1::2], strict=False)
            added = [self._client.submit(add, *pair, pure=False) for pair in pairs]
            level = added + level[2 * len(added) :]
        return level

    def _all_passed(self, columns: Sequence[Column]) -> None:
        for _ in columns[0]:
            self.passed()

    def gather(self, handles: Column) -> list[Any]:
        """Wait for the results; say so if the cluster cannot give them."""
        distributed = need("distributed")
        self._wait(distributed, handles)
        try:
            return cast(list[Any], self._client.gather(list(handles)))
        except (distributed.KilledWorker, distributed.client.FutureCancelledError) as error:
            raise RuntimeError(
                "The cluster lost its workers in the middle of a fit, again and again on the same "
                "task: give them more memory, or make the partitions smaller, and fit again."
            ) from error

    def _wait(self, distributed: Any, handles: Column) -> None:
        alone = 0.0
        while True:
            try:
                with self._client.as_current():
                    distributed.wait(list(handles), timeout=_LOOK_SECONDS)
                return
            except TimeoutError:
                alone = 0.0 if self._client.scheduler_info()["workers"] else alone + _LOOK_SECONDS
            if alone >= PATIENCE_SECONDS:
                raise RuntimeError(
                    f"No worker of the cluster has been there for {PATIENCE_SECONDS:g} seconds: "
                    "start some and fit again."
                )

    def settle(self, handles: Column) -> Handles:
        """Return what outlives the engine: the workers keep it as long as someone asks for it."""
        self._wait(need("distributed"), handles)
        return list(handles)

    def close(self) -> None:
        """Leave the cluster to its owner."""


def _writable(value: Any) -> Any:
    """The same with arrays that may be changed: what comes over a wire may not."""
    if isinstance(value, tuple | list):
        return type(value)(_writable(part) for part in value)
    return np.array(value) if isinstance(value, np.ndarray) else value


def find_engine(client: Any, n_jobs: int | None, folder: Any) -> Engine:
    """Return the engine of a client; of the one that is there if None; else of this machine."""
    if client is False:
        return LocalEngine(n_jobs, folder)
    if client is None:
        try:
            client = need("distributed").get_client()
        except ValueError:
            return LocalEngine(n_jobs, folder)
    return DaskEngine(client)
