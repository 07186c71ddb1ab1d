"""Hostile requests to a service: none of them may be answered with anything but a refusal."""

import json
import select
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import NamedTuple

from attack.service import read_answer, request

# How long an answer may take on a loaded machine before the service counts as hanging.
_PATIENCE = 60.0
_NONSENSE = (True, "much", [], {}, [1.0], {"a": 1}, "\u0000", "١", [[]], "NaN", "1e3", " 1")


class Hostile(NamedTuple):
    """A request as it goes over the wire, with pauses between its pieces."""

    kind: str
    pieces: list
    pause: float = 0.0
    # Whether HTTP lets a server close the connection without a word.
    may_be_closed: bool = False


def hostile(random, features, slowly):
    """Return a hostile request to a model of numbers; a slow one pauses for so many seconds."""
    good = {"instances": [{name: random.gauss(0, 1) for name in features}]}
    return random.choice(_KINDS)(random, good, slowly)


def _spoilt(random, good, value):
    good["instances"][0][random.choice(list(good["instances"][0]))] = value
    return request(json.dumps(good).encode())


def deep_nesting(random, good, slowly):
    """Brackets in brackets, as the whole body or as a value."""
    depth = random.choice([250, 1000, 20_000, 200_000])
    opening, closing = random.choice([(b"[", b"]"), (b'{"a":', b"}")])
    nest = opening * depth + b"1" + closing * random.choice([0, depth])
    whole = random.random() < 0.5
    body = nest if whole else json.dumps(good).encode()[:-2] + b',"b":' + nest + b"}]}"
    return Hostile("deep nesting", [request(body)])


def huge_number(random, good, slowly):
    """Numbers that no float, or no single-precision float, can hold."""
    sign = random.choice(["", "-"])
    digits = random.choice([39, 400, 4000, 20_000])
    forms = ("9" * (digits + 1), f"1e{digits}", f"1{'0' * digits}.5", "1e999999")
    number = sign + random.choice(forms)
    body = json.dumps(good)
    name = random.choice(list(good["instances"][0]))
    body = body.replace(f"{good['instances'][0][name]!r}", number, 1)
    return Hostile("huge number", [request(body.encode())])


def wrong_value(random, good, slowly):
    """A feature that is no number, or no feature."""
    if random.random() < 0.3:
        good["instances"][0][random.choice(["", "é" * 1000, "__class__", "x\u0000"])] = 1.0
        return Hostile("wrong type", [request(json.dumps(good).encode())])
    return Hostile("wrong type", [_spoilt(random, good, random.choice(_NONSENSE))])


def wrong_field(random, good, slowly):
    """A field of the request that is not what it must be."""
    name, values = random.choice(
        [
            ("instances", (None, {}, [], [None], [[]], "x", 3, [1, 2])),
            ("model", (3, [], {}, "no such model", "../etc/passwd", "x" * 10_000)),
            ("include", ("order", ["orders"], [[]], {"order": True}, [None], 1)),
            ("top", (0, -1, "many", 1.5, [], 10**30 + 0.5)),
            ("error", (0, 1, -3, "little", [], {}, None)),
            ("explain", (["a"], ["a", "b", "c"], [1, 2], {}, "y" * 100, ["no", "labels"], None)),
            ("surprise", (1, None)),
        ]
    )
    good[name] = random.choice(values)
    return Hostile("wrong type", [request(json.dumps(good).encode())])


def not_utf_8(random, good, slowly):
    """A byte that UTF-8 never has, a lone surrogate, a byte order mark, another encoding."""
    body = json.dumps(good).encode()
    at = random.randrange(len(body))
    spoilt = random.choice(
        [
            body[:at] + bytes([random.choice([0xC0, 0xF5, 0xFE, 0xFF])]) + body[at:],
            body[:-2] + rb',"\ud800":1}]}',
            body.decode().encode("utf-16"),
            body[:at] + b"\x00" + body[at:],
        ]
    )
    return Hostile("not UTF-8", [request(spoilt)])


def cut_short(random, good, slowly):
    """JSON that ends too early, or goes on after its end."""
    body = json.dumps(good).encode()
    spoilt = random.choice([body[: random.randrange(len(body))], body + b"]", body + body])
    return Hostile("broken JSON", [request(spoilt)])


def noise(random, good, slowly):
    """Bytes that mean nothing."""
    return Hostile("broken JSON", [request(b"\x01" + random.randbytes(random.randrange(2000)))])


def too_large(random, good, slowly):
    """More than the service reads, said before or found out on the way."""
    body = json.dumps(good).encode() + b" " * 1_100_000
    if random.random() < 0.5:
        return Hostile("too large", [request(body)], may_be_closed=True)
    pieces = [request(b"", **{"transfer-encoding": "chunked", "content-length": ""})]
    head = pieces[0].replace(b"content-length: \r\n", b"")
    chunk = b"%x\r\n" % 65536 + body[:65536] + b"\r\n"
    return Hostile("too large", [head, *[chunk] * 20, b"0\r\n\r\n"], may_be_closed=True)


def wrong_length(random, good, slowly):
    """A length that is not that of the body, or is none."""
    body = json.dumps(good).encode()
    length = random.choice(["-1", "abc", "1e3", str(len(body) // 2), "", "0x10", "9" * 40, "1,2"])
    return Hostile("wrong length", [request(body, **{"content-length": length})])


def never_ends(random, good, slowly):
    """Less than was promised, and then nothing: the service gives up."""
    body = json.dumps(good).encode()
    whole = request(body, **{"content-length": str(len(body) + 10)})
    return Hostile("slow sender", [whole], may_be_closed=True)


def slow_sender(random, good, slowly):
    """A body in drops."""
    whole = request(json.dumps(good).encode())
    at = len(whole) - random.randrange(3, 20)
    drops = [whole[:at], *(whole[i : i + 1] for i in range(at, len(whole) - 1))]
    return Hostile("slow sender", drops, slowly, may_be_closed=True)


def wrong_kind(random, good, slowly):
    """Another kind of content, way or method than the service knows."""
    whole = request(json.dumps(good).encode())
    spoilt = random.choice(
        [
            whole.replace(b"application/json", random.choice([b"text/plain", b"a" * 500, b"/"])),
            whole.replace(b"POST", random.choice([b"PUT", b"DELETE", b"BREW", b"PATCH"])),
            whole.replace(b"/rank", random.choice([b"/ranks", b"/%00", b"/../..", b"/rank/" * 9])),
            whole.replace(b"HTTP/1.1", b"HTTP/9.9"),
            random.randbytes(200) + b"\r\n\r\n",
        ]
    )
    return Hostile("wrong kind", [spoilt], may_be_closed=True)


def bad_table(random, good, slowly):
    """A table that lacks columns, or is none."""
    names = list(good["instances"][0])[1:]
    table = random.choice(
        [
            b"",
            b"\x00" + random.randbytes(500),
            b'"' * random.randrange(1, 2000),
            (",".join(names) + "\n" + ",".join("1" for _ in names)).encode(),
            (",".join(good["instances"][0]) + "\n" + ",".join("x" for _ in range(50))).encode(),
            b"a\n" * 10_000,
        ]
    )
    return Hostile("bad table", [request(table, "/rank.csv", **{"content-type": "text/csv"})])


_KINDS = (
    *(deep_nesting, huge_number, wrong_value, wrong_field, not_utf_8, cut_short, noise),
    *(too_large, wrong_length, never_ends, slow_sender, wrong_kind, bad_table),
)


def send(server, attack):
    """Send a hostile request; return the status, ``closed`` or ``hangs``."""
    with server.connect() as connection:
        try:
            for piece in attack.pieces:
                if attack.pause and select.select([connection], [], [], attack.pause)[0]:
                    break
                connection.sendall(piece)
        except OSError:
            pass  # refused before all was sent; what was said of it can still be read
        connection.settimeout(_PATIENCE)
        try:
            return read_answer(connection)[0]
        except TimeoutError:
            return "hangs"
        except ConnectionError:
            return "closed"


def bombard(server, features, count, slowly=0.4, threads=8):
    """Send so many hostile requests; return how often each kind was answered how, and the worst.

    The worst are requests that were not refused, by the number that repeats them.
    """

    def attacked(number):
        attack = hostile(Random(number), features, slowly)
        return number, attack, send(server, attack)

    seen, worst = Counter(), []
    with ThreadPoolExecutor(threads) as pool:
        for number, attack, answer in pool.map(attacked, range(count)):
            seen[attack.kind, answer] += 1
            refused = isinstance(answer, int) and 400 <= answer < 500
            if not (refused or (answer == "closed" and attack.may_be_closed)):
                worst.append((number, attack.kind, answer))
    return seen, worst
