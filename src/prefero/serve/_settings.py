"""The settings of a service."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

# No other site can be called so; the last name is that of tests.
HOSTS = ("localhost", "127.0.0.1", "[::1]", "testserver")


@dataclass(frozen=True)
class Limits:
    """Limits of one request, and of all requests that a worker answers at a time.

    Parameters
    ----------
    body_bytes : int, default=1_000_000
        The size of a request in JSON; more is answered with 413.
    table_bytes : int, default=100_000_000
        The size of a table in a request.
    rows : int, default=1000
        Instances in one request in JSON; more is answered with 413.
    seconds : float, default=30.0
        How long a request may take to arrive (408) and to be answered (503).
    concurrent : int, default=64
        Requests at a time in one worker; more are answered with 429 and Retry-After.
    connections : int, default=1000
        Open connections of one worker.
    head_bytes : int, default=65536
        The size of the head of a request; more is answered with 431.
    head_seconds : float, default=10.0
        How long the head of a request may take to arrive.
    tables : int, default=2
        Processes of one worker that answer tables; eight times as many may wait.
    table_memory : int, default=400_000_000
        How many bytes a table may take in such a process.
    bodies : int, default=200_000_000
        The bytes of all requests that arrive or are answered at a time; more are answered with
        429.

    Examples
    --------
    >>> Limits(rows=10).rows
    10
    """

    body_bytes: int = 1_000_000
    table_bytes: int = 100_000_000
    rows: int = 1000
    seconds: float = 30.0
    concurrent: int = 64
    connections: int = 1000
    head_bytes: int = 65536
    head_seconds: float = 10.0
    tables: int = 2
    table_memory: int = 400_000_000
    bodies: int = 200_000_000

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value <= 0:
                raise ValueError(f"Limits: {name} must be positive, got {value!r}.")


@dataclass(frozen=True)
class Settings:
    """How a service runs.

    Parameters
    ----------
    limits : Limits, optional
        Limits of requests.
    token : str, optional
        The token that requests must send as ``Authorization: Bearer TOKEN``; none by default.
    origins : tuple of str, default=()
        Other sites whose pages may send requests, such as ``https://example.org``.
    hosts : tuple of str, default=("localhost", "127.0.0.1", "[::1]", "testserver")
        The names by which the service is called, in the header ``Host``; with ``"0.0.0.0"`` also
        any address, with ``"*"`` any name.
    log_values : bool, default=False
        Whether the access log holds the instances too.
    seconds_between_checks : float, default=1.0
        How often the model files are checked for changes.

    Examples
    --------
    >>> Settings.from_json(Settings(token="secret").to_json()).token
    'secret'
    """

    limits: Limits = field(default_factory=Limits)
    token: str | None = field(default=None, repr=False)
    origins: tuple[str, ...] = ()
    hosts: tuple[str, ...] = HOSTS
    log_values: bool = False
    seconds_between_checks: float = 1.0

    def to_json(self) -> str:
        """Return the settings as text, for the workers of a service.

        Returns
        -------
        str
            JSON.
        """
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the settings that a text holds.

        Parameters
        ----------
        text : str
            What `to_json` returned.

        Returns
        -------
        Settings
            The same settings.
        """
        values: dict[str, Any] = json.loads(text)
        limits = Limits(**values.pop("limits"))
        lists = {name: tuple(values[name]) for name in ("origins", "hosts")}
        return cls(limits=limits, **{**values, **lists})


def named_paths(paths: list[Path]) -> dict[str, Path]:
    """Return model files by the name of the model: that of the file without its ending."""
    named: dict[str, Path] = {}
    for path in paths:
        if path.stem in named:
            raise ValueError(
                f"{named[path.stem]} and {path} would both be called {path.stem!r}: rename one."
            )
        named[path.stem] = path
    return named
