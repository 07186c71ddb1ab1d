"""A service in processes of its own, and clients that count: how fast, how often wrong."""

import http.client
import itertools
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from pathlib import Path
from typing import NamedTuple

# A worker imports everything anew; a loaded machine is no failure.
PATIENCE = 300.0
COMMAND = ("-c", "from prefero.cli.main import main; main()", "serve")


def request(body, path="/rank", **headers):
    """Return an HTTP request with a JSON body as bytes."""
    shown = {"host": "localhost", "content-type": "application/json", **headers}
    shown.setdefault("content-length", str(len(body)))
    lines = "".join(f"{name}: {value}\r\n" for name, value in shown.items())
    return f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode() + body


def free_port():
    """Return a port where nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Running:
    """A server at a port of this machine, ended with its block."""

    def __init__(self, arguments, *, workers=2, log=subprocess.DEVNULL, **environment):
        self.port = free_port()
        path = os.pathsep.join(part for part in sys.path if part)
        self.process = subprocess.Popen(
            [sys.executable, *arguments, "--port", str(self.port), "--workers", str(workers)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            env={**os.environ, "PYTHONPATH": path, **environment},
        )
        self.n_workers = workers

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(PATIENCE)

    def connect(self):
        """Return a connection, as soon as something listens."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port), PATIENCE)
            except OSError:
                if time.monotonic() > until or self.process.poll() is not None:
                    raise
                time.sleep(0.05)

    def ask(self, wanted):
        """Send one request over a connection of its own; return status and body."""
        with self.connect() as connection:
            connection.sendall(wanted)
            return read_answer(connection)

    def workers(self):
        """Return the processes that answer; /proc tells them."""
        if self.n_workers == 1:
            return [self.process.pid]
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(pid) for pid in children.split() if b"spawn_main" in _command(pid)]

    def who_answers(self):
        """Return the process that takes the next connection; None if it died of it."""
        try:
            text = self.ask(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n")[1].decode()
        except ConnectionError:
            return None
        return int(re.search(r'worker="(\d+)"', text)[1])

    def memory(self):
        """Return the bytes that the workers hold."""
        pages = (int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self.workers())
        return sum(pages) * os.sysconf("SC_PAGE_SIZE")

    def cpu_seconds(self):
        """Return the time that the workers have worked."""
        fields = (
            Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            for pid in self.workers()
        )
        return sum(int(field[11]) + int(field[12]) for field in fields) / os.sysconf("SC_CLK_TCK")

    def kill_a_worker(self):
        """End a worker in the middle of what it does, and return which."""
        pid = self.workers()[0]
        os.kill(pid, signal.SIGKILL)
        return pid


def _command(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has ended
        return b""


def read_answer(connection):
    """Return status and body of an answer; ConnectionError if there is none, or a part."""
    answer = http.client.HTTPResponse(connection)
    try:
        answer.begin()
        return answer.status, answer.read()
    except http.client.HTTPException as error:
        raise ConnectionError(f"there was no whole answer: {error!r}") from error


class Load(NamedTuple):
    """What a client has seen."""

    seconds: list  # of each answer
    lasted: float
    failed: int

    @property
    def rate(self):
        """Answers a second."""
        return len(self.seconds) / self.lasted

    def percentile(self, share):
        """Seconds within which a share of the answers came."""
        return sorted(self.seconds)[min(len(self.seconds) - 1, int(share * len(self.seconds)))]


class Client:
    """Connections that ask for the same over and over, in one thread without a parser of HTTP."""

    def __init__(self, server, wanted, expected, connections=16):
        self._server, self._wanted, self._expected = server, wanted, expected
        self._connections = connections
        self._idle, self._sent, self._seen = deque(), {}, {}

    def _connect(self):
        connection = self._server.connect()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._selector.register(connection, selectors.EVENT_READ)
        self._idle.append(connection)

    def run(self, count, rate=None):
        """Ask so many times, as fast as answers come or so many times a second.

        At a rate an answer's time counts from when its request was due.
        """
        with selectors.DefaultSelector() as self._selector:
            for _ in range(self._connections):
                self._connect()
            load = self._run(count, rate)
            for key in list(self._selector.get_map().values()):
                key.fileobj.close()
            self._idle.clear()
        return load

    def _run(self, count, rate):
        seconds, failed, asked = [], 0, 0
        began = time.perf_counter()
        while len(seconds) + failed < count:
            now = time.perf_counter()
            due = count if rate is None else min(count, 1 + int((now - began) * rate))
            while self._idle and asked < due:
                connection = self._idle.popleft()
                self._sent[connection] = now if rate is None else began + asked / rate
                connection.sendall(self._wanted)
                asked += 1
            wait = None if rate is None else 1 / rate
            for key, _ in self._selector.select(wait):
                good = self._received(key.fileobj)
                if good is None:
                    continue
                spent = time.perf_counter() - self._sent.pop(key.fileobj)
                if good:
                    seconds.append(spent)
                failed += not good
        return Load(seconds, time.perf_counter() - began, failed)

    def _received(self, connection):
        """Whether an answer is the right one; None as long as it has not all come."""
        data = connection.recv(65536)
        if not data:
            self._selector.unregister(connection)
            connection.close()
            self._connect()
            if connection in self._sent:
                return False
            self._idle.remove(connection)  # it was kept open as long as HTTP asks for
            return None
        data = self._seen.pop(connection, b"") + data
        head, found, body = data.partition(b"\r\n\r\n")
        well = head.startswith(b"HTTP/1.1 200 ")
        if not found or (well and len(body) < len(self._expected)):
            self._seen[connection] = data
            return None
        self._idle.append(connection)
        return well and body == self._expected


class Told(NamedTuple):
    """What clients were told while workers were killed."""

    right: int
    wrong: int
    broken: int  # connections that ended without a whole answer
    seconds: list  # until there were as many workers as before


def kill_under_load(server, answers, kills, clients=4):
    """Kill workers one after the other while clients ask; ``answers`` are right, by bodies."""
    told, stop, errors = Counter(), threading.Event(), []

    def ask():
        try:
            while not stop.is_set():
                _ask_over_one_connection(server, answers, told, stop)
        except BaseException as error:  # shown by the thread that asked for all this
            errors.append(error)

    threads = [threading.Thread(target=ask) for _ in range(clients)]
    for thread in threads:
        thread.start()
    try:
        seconds = [_kill_one(server, told) for _ in range(kills)]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]
    return Told(told["right"], told["wrong"], told["broken"], seconds)


def _ask_over_one_connection(server, answers, told, stop):
    with server.connect() as connection:
        try:
            for body, expected in itertools.cycle(answers.items()):
                if stop.is_set():
                    return
                connection.sendall(request(body))
                told["right" if read_answer(connection) == (200, expected) else "wrong"] += 1
        except OSError:
            told["broken"] += 1


def _kill_one(server, told):
    """Kill a worker that is busy; return how long it took until another answered in its place."""
    until = time.monotonic() + PATIENCE
    start = told["right"]
    _wait(lambda: told["right"] > start + 50, until)
    before = set(server.workers())
    server.kill_a_worker()
    began, start = time.monotonic(), told["right"]
    _wait(lambda: server.who_answers() not in {None, *before}, until)
    seconds = time.monotonic() - began
    _wait(lambda: told["right"] > start + 50, until)
    return seconds


def _wait(condition, until):
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError("the service did not come back")
        time.sleep(0.02)
