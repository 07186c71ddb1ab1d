"""Heads of requests over real sockets: they have a size, a time and a number."""

import asyncio
import socket
import threading

import pytest
import uvicorn

from prefero import ConsensusLabelRanker
from prefero.serve import Limits, create_app
from prefero.serve._connections import BoundedProtocol

GOOD = b"GET /ready HTTP/1.1\r\nhost: localhost\r\n\r\n"


@pytest.fixture
def connect(monkeypatch):
    """A server in a thread, with narrow limits; returns a way to reach it."""
    limits = Limits(head_bytes=2000, head_seconds=0.5, connections=5)
    monkeypatch.setattr(BoundedProtocol, "limits", limits)
    model = ConsensusLabelRanker().fit([[0.0], [1.0]], [[1, 2], [1, 2]])
    server = uvicorn.Server(
        uvicorn.Config(create_app({"m": model}), http=BoundedProtocol, log_level="critical")
    )
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
    thread.start()
    made = []

    def connect():
        made.append(socket.create_connection(listening.getsockname(), 30))
        made[-1].settimeout(30)
        return made[-1]

    yield connect
    for one in made:
        one.close()
    server.should_exit = True
    thread.join()


def answered(connection):
    """Whether a whole answer comes."""
    seen = b""
    while not seen.endswith(b'{"ready":true}'):
        part = connection.recv(1000)
        if not part:
            return False
        seen += part
    return seen.startswith(b"HTTP/1.1 200")


def ended(connection):
    """Whether the other side closes the connection, after whatever it says."""
    try:
        while connection.recv(1000):
            pass
    except ConnectionError:
        pass
    return True


def test_a_whole_head_is_answered(connect):
    one = connect()
    for _ in range(3):
        one.sendall(GOOD)
        assert answered(one)


@pytest.mark.parametrize("begin", [b"", b"GET /ready HT", GOOD + b"GET /re"])
def test_a_head_that_does_not_end_is_given_up(connect, begin):
    one = connect()
    one.sendall(begin)
    assert ended(one)


def test_an_endless_head_is_refused(connect):
    one = connect()
    one.sendall(GOOD[:-2] + b"x: " + b"y" * 3000)
    assert one.recv(1000).startswith(b"HTTP/1.1 431")
    assert ended(one)


def test_of_too_many_connections_those_that_wait_give_way(connect):
    held = [connect() for _ in range(20)]
    last = connect()
    last.sendall(GOOD)
    assert answered(last)
    assert all(map(ended, held))
