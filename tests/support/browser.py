"""A real browser for page tests: headless Chromium, spoken to over two pipes in its own DevTools protocol.

Pipes need no port, no driver program and no package. What the page logs, throws and asks the network for is kept, so
that a test can say that there was none of it.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.lacking import lacking
from tests.support.patience import PATIENCE, until
from tools.node import install

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    # Keys and clicks count from the start, not only once something has been painted.
    "--allow-pre-commit-input",
    "--remote-debugging-pipe",
)
# Chromium reads commands on descriptor 3 and answers on 4.
_TRAMPOLINE = """
import fcntl, os, sys
take, give = (fcntl.fcntl(int(text), fcntl.F_DUPFD, 10) for text in sys.argv[1:3])
os.dup2(take, 3), os.dup2(give, 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""
# Keys that are not a character: code, and Windows key code.
KEYS = {
    "Enter": 13,
    "Escape": 27,
    "ArrowDown": 40,
    "ArrowUp": 38,
    "ArrowLeft": 37,
    "ArrowRight": 39,
    "Home": 36,
    "End": 35,
    "PageDown": 34,
    "PageUp": 33,
    "Tab": 9,
}


def executable() -> str | None:
    """The browser to use: the one named by CHROMIUM, or the first that is installed."""
    return os.environ.get("CHROMIUM") or next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One running browser; its profile is thrown away with it."""

    def __init__(self, program: str) -> None:
        self._profile = tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True)
        take, self._out = os.pipe()
        self._in, give = os.pipe()
        command = [sys.executable, "-c", _TRAMPOLINE, str(take), str(give), program, *FLAGS]
        self.process = subprocess.Popen(
            [*command, f"--user-data-dir={self._profile.name}", "about:blank"],
            # It makes a socket there, whose path has room for about a hundred characters.
            env={**os.environ, "TMPDIR": "/tmp"},
            pass_fds=(take, give),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(take)
        os.close(give)
        self._held = b""
        self._last = 0
        self._pages: dict[str, Page] = {}

    def close(self) -> None:
        """End the browser."""
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (OSError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self._out)
        os.close(self._in)
        self._profile.cleanup()

    def page(self, width: int = 1400, height: int = 900, scheme: str = "light") -> "Page":
        """A new page of that size and colour scheme."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self._pages[session] = Page(self, target, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.call("Page.setLifecycleEventsEnabled", enabled=True)
        page.resize(width, height)
        page.scheme(scheme)
        return page

    def call(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Send a command and wait for its answer; events that come before it go to their pages."""
        self._last += 1
        number = self._last
        message = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']['message']}")
                result: dict[str, Any] = answer["result"]
                return result

    def hear(self, news: Callable[[], bool]) -> None:
        """Take events until they have brought something."""
        while not news():
            self._receive()

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._held:
            if not select.select([self._in], [], [], PATIENCE)[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self._in, 1 << 20)
            if not data:
                raise TimeoutError("the browser is gone")
            self._held += data
        line, _, self._held = self._held.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        page = self._pages.get(message.get("sessionId", ""))
        if page is not None and "method" in message:
            page.heard(message["method"], message["params"])
        return message


class Page:
    """A tab. `complaints` and `requests` fill up while it works."""

    def __init__(self, browser: Browser, target: str, session: str) -> None:
        self._browser = browser
        self._target = target
        self._session = session
        self._loaded: set[str] = set()
        self.complaints: list[str] = []
        """What the page logged as an error or warning, or threw."""
        self.requests: list[str] = []
        """What the page asked for, its own address and `data:` left out."""
        self.address = ""

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command to this page."""
        return self._browser.call(method, self._session, **params)

    def heard(self, method: str, params: dict[str, Any]) -> None:
        """An event of this page."""
        if method == "Page.lifecycleEvent" and params["name"] == "load":
            self._loaded.add(params["loaderId"])
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(one.get("value", one)) for one in params["args"]))
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if url.partition("#")[0] != self.address and not url.startswith("data:"):
                self.requests.append(url)

    def open(self, path: Path, fragment: str = "") -> None:
        """Load a file and wait until it is loaded."""
        self.address = path.resolve().as_uri()
        # Not the page that was there before, which is complete too: the one that this call loads.
        loader = self.call("Page.navigate", url=self.address + fragment)["loaderId"]
        self._browser.hear(lambda: loader in self._loaded)

    def js(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def until(self, condition: str) -> Any:
        """Wait until an expression is true; its value."""
        return until(lambda: self.js(condition), condition)

    def click(self, selector: str) -> None:
        """Click with the mouse in the middle of the first element that matches."""
        box = self.js(
            f"((node) => {{ node.scrollIntoView({{block: 'nearest'}}); const box = node.getBoundingClientRect(); return"
            f" [box.x + box.width / 2, box.y + box.height / 2]; }})(document.querySelector({json.dumps(selector)}))"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", buttons=1, clickCount=1)

    def key(self, name: str) -> None:
        """Press a key: a character or a name such as ArrowDown."""
        text = {} if name in KEYS and name != "Enter" else {"text": "\r" if name == "Enter" else name}
        code = KEYS.get(name, ord(name[0].upper()))
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, windowsVirtualKeyCode=code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, windowsVirtualKeyCode=code)

    def write(self, text: str) -> None:
        """Type text where the focus is."""
        self.call("Input.insertText", text=text)

    def scheme(self, name: str) -> None:
        """Prefer light or dark."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def resize(self, width: int, height: int, scale: float = 1) -> None:
        """Give the page another size."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False
        )

    def picture(self, path: Path) -> None:
        """Save what is in sight as PNG."""
        self.js("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def violations(self) -> list[str]:
        """The rules of accessibility that the page breaks, as axe tells them with the elements that break them."""
        try:
            script = install().parent / "axe-core" / "axe.min.js"
        except (FileNotFoundError, subprocess.CalledProcessError) as error:
            lacking(f"needs axe-core: {error}")
        self.js(f"{script.read_text(encoding='utf-8')}; 0")
        told = (
            "(found) => found.violations.map((one) => one.id + ': ' + one.nodes.map((node) => node.target).join(', '))"
        )
        found: list[str] = self.js(f"axe.run().then({told})")
        return found

    def close(self) -> None:
        """Close the tab."""
        self._browser.call("Target.closeTarget", targetId=self._target)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A browser for the whole run."""
    program = executable()
    if program is None:
        lacking("needs Chromium (Debian: apt-get install chromium), or CHROMIUM set to its path")
    running = Browser(program)
    yield running
    running.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh page. Whatever a test does with it, it must not complain and must not ask for anything."""
    page = browser.page()
    yield page
    page.js("1")  # hear what is still on its way
    page.close()
    assert page.complaints == []
    assert page.requests == []
