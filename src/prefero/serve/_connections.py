"""Connections of a server: the head of a request has a limit of size and of time."""

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from prefero.serve._settings import Limits

_TOO_LARGE = b"HTTP/1.1 431 Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class BoundedProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """HTTP as uvicorn speaks it, for clients that send whole heads.

    A connection without a request is closed after some seconds. Of more connections than allowed,
    the one that has waited the longest for its head gives way; if none waits, the new one does.
    """

    limits: ClassVar[Limits] = Limits()
    _waiting: ClassVar[dict["BoundedProtocol", asyncio.TimerHandle]] = {}
    _head = 0

    def connection_made(self, transport: Any) -> None:
        """Wait for the first head."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            next(iter(self._waiting), self).transport.abort()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._wait_no_longer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count the bytes of a head that is not complete."""
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._answers():
            self._head = 0
            self._wait_no_longer()
            return
        self._head += len(data)
        if self not in self._waiting:
            self._wait()
        if self._head > self.limits.head_bytes:
            self.transport.write(_TOO_LARGE)
            self.transport.close()

    def _answers(self) -> bool:
        """Whether a request has come whose answer is not complete."""
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        self._waiting[self] = self.loop.call_later(self.limits.head_seconds, self.transport.abort)

    def _wait_no_longer(self) -> None:
        timer = self._waiting.pop(self, None)
        if timer is not None:
            timer.cancel()
