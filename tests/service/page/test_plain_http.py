"""The page over plain http from another machine, where browsers leave out what needs https."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from benchmarks.browser import require
from searchspace.job import load_job
from service.auth.principal import LOCAL
from service.auth.service import create
from service.runtime import Runtime
from service.settings import Settings
from tests.service.conftest import SPEC
from tests.service.live import started
from tests.service.page.conftest import PATIENCE, Window, typed

expect.set_options(timeout=PATIENCE)

NAME = "hamtune.test"
"""Of the service's machine: loopback addresses count as secure, other names do not."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser that finds the service under a name that is not this machine's own."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=require(),
            args=[
                "--no-sandbox",
                "--disable-dev-shm-usage",
                f"--host-resolver-rules=MAP {NAME} 127.0.0.1",
            ],
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, str]]:
    """The address of a service as another machine has it, a key, and a job."""
    data = tmp_path_factory.mktemp("plain") / "data"
    with Runtime(Settings.under(data), run=False) as runtime:
        storage = runtime.storage
        _, key = create(storage, LOCAL, {"name": "somebody", "role": "submitter"})
        spec = load_job(SPEC).canonical()
        job = storage.jobs.create(name="on another machine", spec=spec, seed=1)
        with started(data, run=False, keys=True) as server:
            yield f"http://{NAME}:{urlsplit(server.url).port}", key, job.id


@pytest.fixture
def opened(served: tuple[str, str, str], open_page: Callable[..., Window]) -> Callable[[str], Page]:
    """Opens a view there with the key."""
    url, key, _ = served

    def open_view(view: str) -> Page:
        window = open_page("about:blank")
        # That a header of security means nothing here, the browser notes as an error.
        window.expected = ("Cross-Origin-Opener-Policy",)
        window.page.add_init_script(f"sessionStorage.setItem('hamtune-key', '{key}')")
        window.page.goto(f"{url}/#/{view}")
        assert window.page.evaluate("[isSecureContext, typeof crypto.randomUUID]") == [
            False,
            "undefined",
        ]
        return window.page

    return open_view


def test_a_job_is_made_and_cloned(
    served: tuple[str, str, str], opened: Callable[[str], Page]
) -> None:
    page = opened("new")
    expect(page.get_by_text("32 cables")).to_be_visible()
    page.get_by_label("Job name").fill("made over plain http")
    page.get_by_role("button", name="Create the job").click()
    expect(page.get_by_role("heading", name="made over plain http")).to_be_visible()

    page = opened(f"new?clone={served[2]}")
    expect(page.get_by_role("heading", name="Clone of on another machine")).to_be_visible()
    assert "on another machine" in typed(page)


def test_what_is_copied_can_be_pasted(
    served: tuple[str, str, str], opened: Callable[[str], Page]
) -> None:
    page = opened(f"jobs/{served[2]}/about")
    text = page.locator("pre[aria-label='Job file']").inner_text()
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_role("button", name=re.compile("^(Copy|Copied)$"))).to_be_focused()
    page.get_by_role("button", name="Add a note or tags").click()
    note = page.get_by_role("textbox", name="Note")
    note.press("Control+v")
    expect(note).to_have_value(text)


def test_what_cannot_be_copied_is_said(
    served: tuple[str, str, str], opened: Callable[[str], Page]
) -> None:
    page = opened(f"jobs/{served[2]}/about")
    page.evaluate("document.execCommand = () => false")
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("does not let the page copy")
    expect(page.locator("textarea")).to_have_count(0)
