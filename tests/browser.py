"""A headless Chromium for tests of report and site: opens files, runs code, takes pictures.

It is spoken to over two pipes (the DevTools protocol), so that nothing else has to be installed.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

from spark_cdc.errors import SparkCdcError

NAMES = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 60.0
AXE = "axe-core@4.14.1"


def binary() -> str:
    """The browser's program; SparkCdcError if there is none."""
    for name in (os.environ.get("SPARK_CDC_CHROMIUM"), *NAMES):
        found = name and shutil.which(name)
        if found:
            return found
    raise SparkCdcError(
        "the tests in a browser need Chromium: there is none of "
        + ", ".join(NAMES)
        + ". Install it, in Debian with: apt-get install chromium",
        "Another place: SPARK_CDC_CHROMIUM=/opt/…/chromium",
    )


@cache
def axe() -> str:
    """The script of axe-core, which npm brings; SparkCdcError if it can't.

    npm keeps what it fetched, and checks it against the registry's checksum.
    """
    npm = shutil.which("npm")
    if not npm:
        raise SparkCdcError(
            "the accessibility tests need axe-core, which npm brings: there is no npm."
            " Install it, in Debian with: apt-get install npm",
            f"npm pack {AXE}",
        )
    with tempfile.TemporaryDirectory() as folder:
        words = [npm, "pack", "--silent", "--prefer-offline", "--pack-destination", folder, AXE]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, cwd=folder)
        packed = next(Path(folder).glob("*.tgz"), None)
        if done.returncode or not packed:
            raise SparkCdcError(
                f"the accessibility tests need {AXE}, which npm could not bring: {done.stderr}",
                "Another registry: npm config set registry URL",
            )
        with tarfile.open(packed) as archive:
            script = archive.extractfile("package/axe.min.js")
            assert script
            return script.read().decode("utf-8")


class Browser:
    """One page. `problems` is all that its console said, and what it asked for beside the file."""

    def __init__(self, width: int = 1280, height: int = 900) -> None:
        program = binary()
        self.problems: list[str] = []
        self._folder = tempfile.mkdtemp(prefix="spark_cdc_browser_")
        self._number = 0
        asked, self._asking = os.pipe()
        self._answers, answering = os.pipe()
        # above all numbers that are in use when it gets them as 3 and 4
        high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 100) for end in (asked, answering)]
        words = [
            *(program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"),
            *("--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe"),
            *(f"--user-data-dir={self._folder}", f"--window-size={width},{height}", "about:blank"),
        ]

        def connect() -> None:  # it reads 3 and writes 4
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self._process = subprocess.Popen(
            words,
            preexec_fn=connect,
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for end in (asked, answering, *high):
            os.close(end)
        self._left = b""
        self._session: str | None = None
        pages = self._ask("Target.getTargets")["targetInfos"]
        page = next(one["targetId"] for one in pages if one["type"] == "page")
        self._session = self._ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._ask(f"{domain}.enable")
        self.size(width, height)

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result; what is told meanwhile is looked at."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._asking, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") == self._number:
                assert "error" not in found, (method, found["error"])
                return dict(found["result"])
            self._look_at(found.get("method", ""), found.get("params", {}))

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            found = os.read(self._answers, 1 << 20)
            assert found, f"Chromium ended with code {self._process.poll()}"
            self._left += found
        line, _, self._left = self._left.partition(b"\0")
        return dict(json.loads(line))

    def _look_at(self, method: str, told: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(told["exceptionDetails"])[:2000])
        elif method == "Runtime.consoleAPICalled":
            self.problems.append(f"{told['type']}: {json.dumps(told['args'])[:2000]}")
        elif method == "Log.entryAdded":
            self.problems.append(f"{told['entry']['level']}: {told['entry']['text']}")
        elif method == "Network.requestWillBeSent":
            url = told["request"]["url"]
            if not url.startswith(("file:", "data:", "blob:")):
                self.problems.append(f"asked for {url}")

    def size(self, width: int, height: int) -> None:
        """Make the window so large."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._ask("Emulation.setDeviceMetricsOverride", **metrics)

    def open(self, path: Path, fragment: str = "") -> None:
        """Open a report and wait until it is drawn."""
        self.visit(path, fragment)
        self.wait("document.body && document.body.dataset.ready === 'true'")

    def visit(self, path: Path, fragment: str = "") -> None:
        """Open a file anew, whatever is shown."""
        self._ask("Page.navigate", url="about:blank")
        self._ask("Page.navigate", url=path.as_uri() + fragment)

    def run(self, code: str) -> Any:
        """The value of an expression in the page."""
        result = self._ask(
            "Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def wait(self, code: str) -> None:
        """Wait until an expression is true."""
        ends = time.monotonic() + SECONDS
        while not self.run(code):
            assert time.monotonic() < ends, (code, self.problems)
            time.sleep(0.05)

    def press(self, key: str, text: str = "") -> None:
        """Press a key, as a keyboard does."""
        code = {"Tab": 9, "Enter": 13, "Escape": 27}.get(key, ord(key[0].upper()))
        typed = {"Enter": "\r"}.get(key, key if len(key) == 1 else text)
        common = {"key": key, "windowsVirtualKeyCode": code}
        self._ask("Input.dispatchKeyEvent", type="keyDown", text=typed, **common)
        self._ask("Input.dispatchKeyEvent", type="keyUp", **common)

    def move(self, x: float, y: float) -> None:
        """Move the mouse there."""
        self._ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def prefer(self, scheme: str = "light", media: str = "") -> None:
        """Prefer light or dark; media: print for paper."""
        self._ask(
            "Emulation.setEmulatedMedia",
            media=media,
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """Take a picture of what is shown, or of the whole page; its name says in which format."""
        how = {"format": path.suffix[1:], "quality": 60, "captureBeyondViewport": whole}
        found = self._ask("Page.captureScreenshot", **how)
        path.write_bytes(base64.b64decode(found["data"]))

    def paper(self) -> bytes:
        """The page as PDF."""
        return base64.b64decode(self._ask("Page.printToPDF", printBackground=False)["data"])

    def close(self) -> None:
        """End the browser."""
        os.close(self._asking)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._answers)
        shutil.rmtree(self._folder, ignore_errors=True)
