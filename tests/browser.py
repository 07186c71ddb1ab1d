"""A real browser without a window, spoken to through its debugging pipe."""

import base64
import json
import os
import shutil
import subprocess
import time
from typing import Any

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--remote-debugging-pipe",
)


class Browser:
    """One page of chromium: sends commands, keeps every event."""

    def __init__(self, folder: Any) -> None:
        to_browser, self._in = os.pipe()
        self._out, from_browser = os.pipe()
        # The browser reads from descriptor 3 and writes to 4; the shell puts them there.
        line = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", line, "-", PROGRAM, *_FLAGS, f"--user-data-dir={folder}", "about:blank"],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._in, json.dumps(message).encode() + b"\0")
        while (answer := self._read()).get("id") != self._number:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            piece = os.read(self._out, 1 << 16)
            if not piece:
                raise RuntimeError("The browser has gone.")
            self._buffer += piece
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def open(self, address: str, *, width: int, scheme: str) -> None:
        """Show a page in a window of some width, light or dark, and wait until it is loaded."""
        self.events.clear()
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **metrics)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])
        self.call("Page.navigate", url=address)
        until = time.monotonic() + 60
        while self.value("document.readyState") != "complete":
            if time.monotonic() > until:
                raise TimeoutError(f"{address} is not loaded after a minute.")
            time.sleep(0.05)

    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            code = {"windowsVirtualKeyCode": 9} if key == "Tab" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, **code)

    def screenshot(self) -> bytes:
        """Return a picture of the whole page as PNG."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(answer["data"])

    def named(self, *methods: str) -> list[dict[str, Any]]:
        """Return the parameters of the events of some kinds since the page was opened."""
        return [event["params"] for event in self.events if event.get("method") in methods]

    def close(self) -> None:
        """End the browser."""
        self._process.terminate()
        self._process.wait(timeout=30)
        os.close(self._in)
        os.close(self._out)
