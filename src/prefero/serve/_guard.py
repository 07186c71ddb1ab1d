"""What every request passes: limits, the token, the access log and the counters."""

import asyncio
import hmac
import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from ipaddress import ip_address
from typing import Any

import orjson

from prefero.serve._settings import Settings

Headers = Mapping[bytes, bytes]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

LOG = logging.getLogger("prefero.serve")
# Answered however busy the service is, and without a token.
_PROBES = ("/health", "/ready")
# Bodies that a page may send to another site without asking.
_OF_FORMS = (b"", b"text/plain", b"multipart/form-data", b"application/x-www-form-urlencoded")
_HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        b"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)


_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class RequestCounters:
    """Counts and times of the requests of one worker, for Prometheus."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._buckets: Counter[float] = Counter()
        self._seconds = 0.0
        self._instances: Counter[str] = Counter()
        self.running = 0

    def count(self, route: str, status: int, seconds: float) -> None:
        """Count a finished request."""
        with self._lock:
            self._requests[route, status] += 1
            self._seconds += seconds
            for bound in _BUCKETS:
                if seconds <= bound:
                    self._buckets[bound] += 1
                    break

    def count_instances(self, model: str, n: int) -> None:
        """Count instances that a model was asked about."""
        with self._lock:
            self._instances[model] += n

    def text(self, loaded: dict[str, float]) -> str:
        """Return everything; ``loaded`` is when each model was read."""
        worker = f'worker="{os.getpid()}"'
        with self._lock:
            total, seen = sum(self._requests.values()), 0
            lines = ["# TYPE prefero_requests_total counter"]
            for (route, status), n in sorted(self._requests.items()):
                labels = f'{worker},route="{route}",status="{status}"'
                lines.append(f"prefero_requests_total{{{labels}}} {n}")
            lines.append("# TYPE prefero_request_seconds histogram")
            for bound in _BUCKETS:
                seen += self._buckets[bound]
                lines.append(f'prefero_request_seconds_bucket{{{worker},le="{bound}"}} {seen}')
            lines += [
                f'prefero_request_seconds_bucket{{{worker},le="+Inf"}} {total}',
                f"prefero_request_seconds_sum{{{worker}}} {self._seconds:.6f}",
                f"prefero_request_seconds_count{{{worker}}} {total}",
                "# TYPE prefero_instances_total counter",
                *(
                    f'prefero_instances_total{{{worker},model="{_escaped(name)}"}} {n}'
                    for name, n in sorted(self._instances.items())
                ),
                "# TYPE prefero_requests_running gauge",
                f"prefero_requests_running{{{worker}}} {self.running}",
                "# TYPE prefero_model_loaded_seconds gauge",
                *(
                    f'prefero_model_loaded_seconds{{{worker},model="{_escaped(name)}"}} {when:.3f}'
                    for name, when in sorted(loaded.items())
                ),
            ]
        return "\n".join(lines) + "\n"


def _escaped(name: str) -> str:
    return name.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


class _Refused(Exception):
    """A request that is refused before the application sees it."""

    def __init__(self, status: int, sentence: str, **headers: str) -> None:
        super().__init__(sentence)
        self.status, self.headers = status, headers


class Guard:
    """Checks every request before the application sees it.

    ``at_once`` holds, by path, functions that can answer a JSON body without the application; they
    return None if they cannot.
    """

    def __init__(
        self,
        app: Any,
        settings: Settings,
        counters: RequestCounters,
        at_once: Mapping[str, Callable[[Scope, bytes], bytes | None]] | None = None,
    ) -> None:
        self._app = app
        self._settings = settings
        self._counters = counters
        self._at_once = dict(at_once or {})
        self._held = 0
        token = settings.token
        self._token = None if token is None else f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on with its body read and bounded."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, seen, held = time.perf_counter(), {"status": 500}, 0
        answer = _recording(send, seen)
        path, headers = _path(scope), dict(scope["headers"])
        limited = path not in _PROBES
        self._counters.running += limited
        try:
            self._refuse_foreign(scope["method"], path, headers)
            self._admit(scope["method"], path, headers)
            body = await self._body(path, headers, receive)
            held = len(body)
            self._held += held
            found = self._answer_at_once(scope, path, headers, body)
            if found is None:
                await self._run(scope, body, receive, answer)
            else:
                await _send(answer, 200, found)
        except _Refused as refused:
            body = orjson.dumps({"detail": str(refused)})
            await _send(answer, refused.status, body, **refused.headers)
        finally:
            self._counters.running -= limited
            self._held -= held
            self._log(scope, seen["status"], time.perf_counter() - began)

    def _refuse_foreign(self, method: str, path: str, headers: Headers) -> None:
        """Refuse what a page of another site may have sent, by whatever name it calls us."""
        host, origin = headers.get(b"host", b"").decode("latin-1"), headers.get(b"origin")
        if not self._is_ours(host.lower()):
            raise _Refused(
                421, f"{host:.80} is no name of this service: start it with --allow-host."
            )
        if origin is not None:
            site = origin.decode("latin-1")
            if site.partition("://")[2] != host and site not in self._settings.origins:
                raise _Refused(403, "pages of other sites need --allow-origin.")
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if method == "POST" and path == "/rank.csv" and kind in _OF_FORMS:
            raise _Refused(415, "say what the body is: send 'Content-Type: text/csv'.")

    def _is_ours(self, host: str) -> bool:
        known = self._settings.hosts
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if name in known or "*" in known:
            return True
        return bool({"0.0.0.0", "::"}.intersection(known)) and _is_address(name.strip("[]"))

    def _admit(self, method: str, path: str, headers: Headers) -> None:
        if path in _PROBES:
            return
        if self._counters.running > self._settings.limits.concurrent:
            raise _Refused(
                429, "too many requests at a time: try again in a second.", **{"retry-after": "1"}
            )
        if self._token is None or method == "OPTIONS":
            return
        # The page itself holds no data; its requests carry the token.
        if path == "/" or path.startswith("/page/"):
            return
        if not hmac.compare_digest(headers.get(b"authorization", b""), self._token):
            raise _Refused(
                401,
                "this service wants a token: send 'Authorization: Bearer TOKEN'.",
                **{"www-authenticate": "Bearer"},
            )

    async def _body(self, path: str, headers: Headers, receive: Receive) -> bytes:
        """Read the whole body, within the limits of size and time."""
        limits = self._settings.limits
        most = limits.table_bytes if path == "/rank.csv" else limits.body_bytes
        too_large = f"the request is larger than {most} bytes: ask in parts."
        declared = headers.get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > most:
            raise _Refused(413, too_large)
        parts, size, more = [], 0, True
        try:
            async with asyncio.timeout(limits.seconds):
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _Refused(400, "the request ended before its body did.")
                    part = message.get("body", b"")
                    parts.append(part)
                    size += len(part)
                    if self._held + size > limits.bodies:
                        raise _Refused(
                            429, "too many bytes at a time: try again soon.", **{"retry-after": "1"}
                        )
                    more = message.get("more_body", False)
                    if size > most:
                        raise _Refused(413, too_large)
        except TimeoutError:
            raise _Refused(408, f"the request took more than {limits.seconds:g} s.") from None
        return b"".join(parts)

    def _answer_at_once(
        self, scope: Scope, path: str, headers: Headers, body: bytes
    ) -> bytes | None:
        answer = self._at_once.get(path)
        if answer is None or scope["method"] != "POST":
            return None
        if headers.get(b"content-type") != b"application/json":
            return None
        found = answer(scope, body)
        if found is not None:
            scope["prefero.route"] = path
        return found

    async def _run(self, scope: Scope, body: bytes, more: Receive, answer: Send) -> None:
        given = False

        async def receive() -> MutableMapping[str, Any]:
            nonlocal given
            if given:
                return await more()  # after the body, only that the client has gone
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, receive, answer)

    def _log(self, scope: Scope, status: int, seconds: float) -> None:
        found = scope.get("prefero.route") or getattr(scope.get("route"), "path", "other")
        self._counters.count(str(found), status, seconds)
        if LOG.isEnabledFor(logging.INFO):
            line = {
                "time": round(time.time(), 3),
                "method": scope["method"],
                "path": scope["path"][:200],
                "status": status,
                "ms": round(1000 * seconds, 2),
                **scope.get("prefero.log", {}),
            }
            # LOG.info would look up the calling line of code, which takes time.
            text = orjson.dumps(line, default=str).decode()
            LOG.handle(logging.LogRecord(LOG.name, logging.INFO, __file__, 0, text, (), None))


def _is_address(name: str) -> bool:
    with suppress(ValueError):
        return bool(ip_address(name))
    return False


def _path(scope: Scope) -> str:
    """The path inside the application, which may be mounted in another."""
    path, root = scope["path"], scope.get("root_path", "")
    return path[len(root) :] if root and path.startswith(f"{root}/") else path


def _recording(send: Send, seen: dict[str, int]) -> Send:
    """A send that records the status and adds the headers that every answer has."""

    async def recording(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            seen["status"] = message["status"]
            message = {**message, "headers": [*message.get("headers", ()), *_HEADERS]}
        await send(message)

    return recording


async def _send(send: Send, status: int, body: bytes, **headers: str) -> None:
    shown = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    shown += [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": shown})
    await send({"type": "http.response.body", "body": body})
