"""What stands before every request: bounds, the token, the access log."""

import asyncio
import hmac
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

import orjson

from prefero.serve._measures import Measures
from prefero.serve._settings import Settings

Headers = Mapping[bytes, bytes]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

LOG = logging.getLogger("prefero.serve")
_OPEN = ("/health", "/ready")
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


class _Refused(Exception):
    """A request that is answered before anyone reads it."""

    def __init__(self, status: int, sentence: str, **headers: str) -> None:
        super().__init__(sentence)
        self.status, self.headers = status, headers


class Guard:
    """What stands around the whole application.

    ``at_once`` holds, by path, what can answer a JSON body without the application, or None.
    """

    def __init__(
        self,
        app: Any,
        settings: Settings,
        measures: Measures,
        at_once: Mapping[str, Callable[[Scope, bytes], bytes | None]] | None = None,
    ) -> None:
        self._app = app
        self._settings = settings
        self._measures = measures
        self._at_once = dict(at_once or {})
        token = settings.token
        self._token = None if token is None else f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on with its body read and bounded."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, seen = time.perf_counter(), {"status": 500}
        answer = _noting(send, seen)
        path, headers = _path(scope), dict(scope["headers"])
        self._measures.running += 1
        try:
            self._admit(scope["method"], path, headers)
            body = await self._body(path, headers, receive)
            found = self._answer_at_once(scope, path, headers, body)
            if found is None:
                await self._run(scope, body, answer)
            else:
                await _send(answer, 200, found)
        except _Refused as refused:
            body = orjson.dumps({"detail": str(refused)})
            await _send(answer, refused.status, body, **refused.headers)
        finally:
            self._measures.running -= 1
            self._tell(scope, seen["status"], time.perf_counter() - began)

    def _admit(self, method: str, path: str, headers: Headers) -> None:
        if self._measures.running > self._settings.limits.concurrent:
            raise _Refused(
                429, "too many requests at a time: try again in a second.", **{"retry-after": "1"}
            )
        if self._token is None or path in _OPEN or method == "OPTIONS":
            return
        # The page holds no data: what it asks for bears the token.
        if path == "/" or path.startswith("/page/"):
            return
        if not hmac.compare_digest(headers.get(b"authorization", b""), self._token):
            raise _Refused(
                401,
                "this service wants a token: send 'Authorization: Bearer TOKEN'.",
                **{"www-authenticate": "Bearer"},
            )

    async def _body(self, path: str, headers: Headers, receive: Receive) -> bytes:
        """Read the whole body, within its bounds of size and time."""
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

    async def _run(self, scope: Scope, body: bytes, answer: Send) -> None:
        given = False

        async def receive() -> MutableMapping[str, Any]:
            nonlocal given
            if given:
                await asyncio.Event().wait()  # the client waits for its answer
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, receive, answer)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        found = scope.get("prefero.route") or getattr(scope.get("route"), "path", "other")
        self._measures.count(str(found), status, seconds)
        if LOG.isEnabledFor(logging.INFO):
            line = {
                "time": round(time.time(), 3),
                "method": scope["method"],
                "path": scope["path"][:200],
                "status": status,
                "ms": round(1000 * seconds, 2),
                **scope.get("prefero.told", {}),
            }
            # The logger would look for the line of code that says this.
            text = orjson.dumps(line, default=str).decode()
            LOG.handle(logging.LogRecord(LOG.name, logging.INFO, __file__, 0, text, (), None))


def _path(scope: Scope) -> str:
    """The path inside the application, which may be mounted in another."""
    path, root = scope["path"], scope.get("root_path", "")
    return path[len(root) :] if root and path.startswith(f"{root}/") else path


def _noting(send: Send, seen: dict[str, int]) -> Send:
    """A send that notes the status and adds the headers that every answer has."""

    async def noting(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            seen["status"] = message["status"]
            message = {**message, "headers": [*message.get("headers", ()), *_HEADERS]}
        await send(message)

    return noting


async def _send(send: Send, status: int, body: bytes, **headers: str) -> None:
    shown = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    shown += [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": shown})
    await send({"type": "http.response.body", "body": body})
