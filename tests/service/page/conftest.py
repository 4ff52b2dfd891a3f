"""A real browser on a real service."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Locator,
    Page,
    expect,
    sync_playwright,
)

from benchmarks.browser import launched
from benchmarks.machines import designed
from deploy.servers import ReservedPort
from service.page.site import BUILT
from tests.processes import ended_with_us
from tests.valve import Valve

ROOT = Path(__file__).parents[3]
AXE = ROOT / "service/page/node_modules/axe-core/axe.min.js"
PATIENCE = 120_000  # milliseconds: the machine that tests may be busy
SECONDS = 300.0
"""How long the service may take to start, to answer or to end."""
SPEC: dict[str, Any] = {
    "name": "first",
    "application": {"builtin": "is", "class": "S", "ranks": 16},
    "machine": designed(16, 4),
    "search": {
        "topology": [{"family": "random", "instances": 4}, "torus-2d"],
        "ordering": ["original", "hamorder"],
        "mpi": ["mpich", "ompi"],
        "collectives": {"alltoall": "all", "allreduce": "all"},
    },
    "budget": {"trials": 16},
    "cutoff_factor": None,  # so that enough trials complete to tell what parameters matter
    "seed": 1,
}


@dataclass
class Service:
    """A `hamtune up` that can be killed and started again where it was."""

    data: Path
    port: int
    valve: Valve
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.process = subprocess.Popen(
            ended_with_us(
                *(sys.executable, "-m", "cli", "up"),
                *("--port", str(self.port), "--data", str(self.data)),
            ),
            cwd=ROOT,
            env={**os.environ, "HAMTUNE_CONCURRENCY": "2", **self.valve.environment},
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                httpx.get(f"{self.url}/healthz", timeout=30.0).raise_for_status()
                return
            except httpx.HTTPError:
                assert self.process.poll() is None, "hamtune up ended"
                assert time.monotonic() < deadline, "hamtune up does not answer"
                time.sleep(0.05)

    def kill(self) -> None:
        """End it without a word."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """End it in order."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()

    def get(self, path: str) -> Any:
        """A JSON document of the service."""
        return httpx.get(f"{self.url}/api/v1{path}", timeout=SECONDS).json()

    def post(self, path: str, document: Any = None) -> Any:
        """POST a document; the answer."""
        answer = httpx.post(f"{self.url}/api/v1{path}", json=document, timeout=SECONDS)
        assert answer.is_success, answer.text
        return answer.json()


@contextmanager
def running(folder: Path) -> Iterator[Service]:
    """A service in a directory, whose evaluations pass through a valve."""
    with ReservedPort() as port:
        service = Service(folder / "data", port.number, Valve(folder / "valve"))
        service.start()
        try:
            yield service
        finally:
            service.stop()


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A `hamtune up` for all tests here."""
    with running(tmp_path_factory.mktemp("page")) as started:
        yield started


@pytest.fixture(autouse=True)
def whatever_comes_of_a_test_its_evaluations_go_on(
    request: pytest.FixtureRequest,
) -> Iterator[None]:
    """Else a test that fails behind a shut valve would have all others wait."""
    yield
    if "service" in request.fixturenames:
        request.getfixturevalue("service").valve.open()


@pytest.fixture(scope="session")
def ended(service: Service) -> dict[str, Any]:
    """A job that has completed."""
    job = service.post("/jobs", SPEC)
    # The stream of its events ends with the job.
    httpx.get(f"{service.url}/api/v1/jobs/{job['id']}/events", timeout=SECONDS).raise_for_status()
    return dict(service.get(f"/jobs/{job['id']}"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium; no longer than its tests, since its event loop runs in their thread."""
    assert (BUILT / "index.html").exists(), "the page is not built; run ./setup.sh"
    with sync_playwright() as playwright:
        browser = launched(playwright)
        yield browser
        browser.close()


@dataclass
class Window:
    """A page of the browser that remembers what went wrong in it."""

    page: Page
    errors: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()  # what an error that the test asks for has in it, as "404"
    away: bool = False  # while the service is away, failed requests are what has to be

    def note(self, message: ConsoleMessage) -> None:
        """Keep an error of the console."""
        if message.type == "error" and not (self.away and "net::ERR_" in message.text):
            self.errors.append(message.text)

    def unexpected(self) -> list[str]:
        """What went wrong and no test asked for: the browser tells some of it late."""
        return [error for error in self.errors if not any(one in error for one in self.expected)]


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Window]]:
    """Opens an address; at the end no page may have had an error."""
    windows: list[Window] = []

    def open_one(url: str, **options: Any) -> Window:
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        context.set_default_timeout(PATIENCE)
        window = Window(context.new_page())
        window.page.on("console", window.note)
        window.page.on("pageerror", lambda error: window.errors.append(str(error)))
        window.page.goto(url)
        windows.append(window)
        return window

    yield open_one
    for window in windows:
        window.page.context.close()
    assert [error for window in windows for error in window.unexpected()] == []


def editor(page: Page) -> Locator:
    """Where a job file is typed as YAML, once that is there: not the text field before it."""
    found = page.locator("#job-text").get_by_role("textbox", name="Job file as YAML")
    expect(found).to_be_editable(timeout=PATIENCE)
    return found


def retype(page: Page, text: str) -> None:
    """Put a job file in the place of what is in the editor, as pasting over all of it does."""
    editor(page).press("Control+a")
    page.keyboard.insert_text(text)


def typed(page: Page) -> str:
    """The whole job file in the editor: in a window so high that no line is left out."""
    size = page.viewport_size
    assert size is not None
    page.set_viewport_size({"width": size["width"], "height": 4000})
    expect(editor(page).locator(".cm-gap")).to_have_count(0)
    text = "\n".join(editor(page).locator(".cm-line").all_text_contents())
    page.set_viewport_size(size)
    return text


def expect_typed(page: Page, text: str) -> None:
    """Wait until the editor shows a job file, to the last blank."""
    lines = [re.compile(f"^{re.escape(line)}$") for line in text.split("\n")]
    expect(editor(page).locator(".cm-line")).to_have_text(lines)


# What axe says of all that passed takes three times as long to tell as to find.
_AXE_RUN = """async () => {
    const levels = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
    const { violations } = await axe.run({ runOnly: levels, resultTypes: ['violations'] });
    return violations.map(({ id, nodes }) => [id, nodes.slice(0, 4).map(({ html }) => html)]);
}"""


def violations(page: Page) -> list[str]:
    """What axe finds against WCAG 2.2 AA."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    return [f"{rule}: {json.dumps(nodes)}" for rule, nodes in page.evaluate(_AXE_RUN)]
