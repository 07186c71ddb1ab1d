"""How far a long run is, where there is no terminal to draw a bar on."""

import pytest

from prefero import _progress
from prefero._progress import reporting


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves when told to."""
    now = [0.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    return now


def test_a_line_every_half_minute_says_how_long_the_rest_takes(clock, capsys):
    with reporting("lines", 100, 0, "Working") as advance:
        for _ in range(100):
            clock[0] += 4.0
            advance()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Working: 3 of 100, about 6 minutes left."
    assert lines[1] == "Working: 11 of 100, about 6 minutes left."
    assert len(lines) == 13
    assert lines[-1] == "Working: 99 of 100, about 4 seconds left."


def test_runs_that_were_done_before_do_not_make_the_rest_look_short(clock, capsys):
    with reporting("lines", 100, 90, "Working") as advance:
        for _ in range(5):
            clock[0] += 20.0
            advance()
    assert capsys.readouterr().err.splitlines()[0] == "Working: 91 of 100, about 3 minutes left."


def test_a_short_run_prints_nothing(clock, capsys):
    with reporting("lines", 3, 0, "Working") as advance:
        for _ in range(3):
            clock[0] += 1.0
            advance()
    assert capsys.readouterr().err == ""
