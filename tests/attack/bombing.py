"""A service under all bombs at once: python -m attack.bombing MINUTES.

Other clients ask for rankings all the while; how long they wait, what is wrong, how much memory
all processes hold together, and whether a table is answered at the end.
"""

import json
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np

from attack.bombs import bombs
from attack.service import COMMAND, Client, Running, request
from prefero import ForestLabelRanker, save

_HALF_OPEN, _BOMBERS, _RATE = 200, 6, 50


def model_file(folder):
    """Write a forest of two features."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 2)), np.argsort(rng.normal(size=(60, 4)), axis=1) + 1.0
    path = Path(folder) / "forest.prefero"
    save(ForestLabelRanker(20, random_state=0).fit(X, Y), path)
    return path


def family(pid):
    """Return a process and all that it has begun."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += family(int(child))
    return found


def memory(pid):
    """Return the bytes that a family of processes holds, shared pages once."""
    total = 0
    for one in family(pid):
        try:
            text = Path(f"/proc/{one}/smaps_rollup").read_text()
            total += int(text.partition("\nPss:")[2].split()[0]) * 1024
        except OSError:  # it has ended
            continue
    return total


def throw(server, stop, told):
    """Send one bomb after the other."""
    while not stop.is_set():
        for name, content in bombs().items():
            if stop.is_set():
                return
            try:
                headers = {"content-type": "application/octet-stream"}
                status, _ = server.ask(request(content, "/rank.csv", **headers))
            except OSError:
                status = "closed"
            told[name, status] += 1


def hold_open(server, stop):
    """Keep many connections whose heads never end."""
    held = []
    while not stop.wait(1.0):
        held = [one for one in held if not _is_closed(one)]
        for _ in range(_HALF_OPEN - len(held)):
            one = server.connect()
            one.sendall(b"POST /rank HTTP/1.1\r\nhost: local")
            one.setblocking(False)
            held.append(one)
    for one in held:
        one.close()


def _is_closed(connection):
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def bombard(minutes):
    """Return what was seen."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = request(json.dumps({"instances": [{"x0": 0.5, "x1": -1.0}]}).encode())
        with Running((*COMMAND, str(model_file(folder))), workers=1) as server:
            expected = server.ask(wanted)[1]
            stop, told, peak = threading.Event(), Counter(), 0
            threads = [
                threading.Thread(target=throw, args=(server, stop, told)) for _ in range(_BOMBERS)
            ]
            threads.append(threading.Thread(target=hold_open, args=(server, stop)))
            bombs()
            for thread in threads:
                thread.start()
            seconds, failed, until = [], 0, time.monotonic() + 60 * minutes
            try:
                while time.monotonic() < until:
                    load = Client(server, wanted, expected, connections=4).run(5 * _RATE, _RATE)
                    seconds += load.seconds
                    failed += load.failed
                    peak = max(peak, memory(server.process.pid))
            finally:
                stop.set()
                for thread in threads:
                    thread.join()
            table = request(b"x0,x1\n0.5,-1\n", "/rank.csv", **{"content-type": "text/csv"})
            after = [server.ask(table)[0] for _ in range(16)]
            seconds.sort()
            return {
                "minutes": minutes,
                "bombs": sum(told.values()),
                "answers": {
                    f"{name}: {status}": n for (name, status), n in sorted(told.items(), key=str)
                },
                "others": len(seconds),
                "others wrong": failed,
                "p50 ms": round(1000 * seconds[len(seconds) // 2], 1),
                "p99 ms": round(1000 * seconds[int(0.99 * len(seconds))], 1),
                "peak MB": round(peak / 1e6),
                "tables after": after,
            }


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print(json.dumps(bombard(float(sys.argv[1])), indent=1))
