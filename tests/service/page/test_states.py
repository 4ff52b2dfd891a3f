"""The page for each state that a job can be in, over a service in which nothing moves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

import pytest
from playwright.sync_api import Dialog, Route, expect

from searchspace.configuration import Configuration
from searchspace.job import load_job
from service.auth.principal import LOCAL
from service.auth.service import create
from service.runtime import Runtime
from service.settings import Settings
from storage.errors import NotFound
from storage.proposal import Proposal
from storage.records import JobState, Outcome
from storage.storage import Storage
from tests.service.conftest import SPEC
from tests.service.live import started
from tests.service.page.conftest import PATIENCE, Window, violations

expect.set_options(timeout=PATIENCE)

WAYS: dict[JobState, tuple[JobState, ...]] = {
    "queued": (),
    "preparing": ("preparing",),
    "running": ("preparing", "running"),
    "pausing": ("running", "pausing"),
    "paused": ("running", "pausing", "paused"),
    "completed": ("running", "completed"),
    "failed": ("preparing", "failed"),
    "cancelling": ("running", "cancelling"),
    "cancelled": ("running", "cancelling", "cancelled"),
}
OUTCOMES = (
    Outcome(status="completed", value=2.0e-3, cpu_seconds=1.0, wall_seconds=1.0),
    Outcome(status="completed", value=1.0e-3, cpu_seconds=1.0, wall_seconds=1.0),
    Outcome(status="censored", value=1.0e-3, cpu_seconds=0.5),
    Outcome(status="infeasible", reason={"kind": "constraint", "message": "no such torus"}),
    Outcome(status="failed", reason={"kind": "crash", "message": "it crashed"}),
    Outcome(status="completed", value=1.5e-3, cached=True),
    None,
)


def make_job(storage: Storage, state: JobState) -> str:
    """A job that came to a state, with a trial of each kind where it has run."""
    spec = load_job(SPEC).canonical()
    job = storage.jobs.create(name=f"{state} one", spec=spec, seed=1)
    leased = storage.leases.acquire("test", 600.0, job.id)
    assert leased is not None
    for to in WAYS[state]:
        error = "the capture failed\nmake: *** Error 1" if to == "failed" else None
        storage.jobs.transition(job.id, to, error=error)
        if to == "running":
            for number, outcome in enumerate(OUTCOMES, start=1):
                configuration = Configuration({"topology": "random", "topology_seed": number})
                trial = storage.trials.propose(
                    job.id,
                    leased.lease_token,
                    Proposal.of(
                        configuration,
                        number=number,
                        kind="baseline" if number == 1 else "search",
                        label="torus-2d" if number == 1 else None,
                        technique=None if number == 1 else "PureRandom",
                    ),
                )
                if outcome is not None:
                    storage.trials.settle(trial.id, leased.lease_token, outcome)
    return job.id


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all of it is."""
    return tmp_path_factory.mktemp("states") / "data"


@pytest.fixture(scope="module")
def stored(data: Path) -> Iterator[tuple[Storage, dict[str, str]]]:
    """A storage, and a job of each state in it."""
    with Runtime(Settings.under(data), run=False) as runtime:
        storage = runtime.storage
        yield storage, {state: make_job(storage, state) for state in get_args(JobState)}


@pytest.fixture(scope="module")
def jobs(
    data: Path, stored: tuple[Storage, dict[str, str]]
) -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a service, and a job of each state in it."""
    with started(data, run=False) as server:
        yield server.url, stored[1]


@pytest.mark.parametrize("state", get_args(JobState))
def test_each_state_has_its_page(
    jobs: tuple[str, dict[str, str]], open_page: Callable[..., Window], state: JobState
) -> None:
    url, ids = jobs
    page = open_page(f"{url}/#/jobs/{ids[state]}").page
    expect(page.get_by_role("heading", name=f"{state} one")).to_be_visible()
    expect(page.locator(".job-title .badge")).to_have_text(state)
    ended = state in ("completed", "failed", "cancelled")
    wanted = {
        "Pause": state in ("queued", "preparing", "running"),
        "Resume": state in ("paused", "pausing"),
        "Cancel": not ended and state != "cancelling",
        "Archive": ended or state == "paused",
        "Delete": ended or state == "paused",
    }
    for name, there in wanted.items():
        expect(page.get_by_role("button", name=name)).to_have_count(int(there))
    expect(page.get_by_role("link", name="Clone")).to_be_visible()
    if "running" in WAYS[state]:
        expect(page.locator("table.trials tbody tr")).to_have_count(7 if ended else 6)
        for text in ("cached (1)", "censored: at least (1)", "infeasible (1)", "failed (1)"):
            expect(page.get_by_text(text)).to_be_visible()
        expect(page.locator(".gain")).to_have_text("+100 %")
    else:
        expect(page.get_by_text("No trial has an outcome yet.")).to_be_visible()
    if state == "failed":
        expect(page.get_by_role("alert")).to_contain_text("make: *** Error 1")
    assert violations(page) == []


def test_the_list_is_filtered_and_searched(
    jobs: tuple[str, dict[str, str]], open_page: Callable[..., Window]
) -> None:
    url, ids = jobs
    page = open_page(f"{url}/").page
    rows = page.locator("table.jobs tbody tr")
    expect(rows).to_have_count(len(ids))
    page.get_by_label("State").select_option("active")
    expect(rows).to_have_count(5)
    page.get_by_label("State").select_option("")
    page.get_by_placeholder("Search by name, tag or id").fill("CANCELL")
    expect(rows).to_have_count(2)
    page.get_by_placeholder("Search by name, tag or id").fill("nothing at all")
    expect(page.get_by_text("No jobs match.")).to_be_visible()


def test_links_lead_to_their_jobs_whatever_was_searched(
    stored: tuple[Storage, dict[str, str]],
    jobs: tuple[str, dict[str, str]],
    open_page: Callable[..., Window],
) -> None:
    storage, _ = stored
    url, ids = jobs
    storage.jobs.describe(ids["queued"], tags=["autumn"])
    page = open_page("about:blank").page
    page.clock.install()
    page.goto(f"{url}/#/jobs?search=one")
    rows = page.locator("table.jobs tbody tr")
    search = page.get_by_placeholder("Search by name, tag or id")

    def expect_rest(text: str, address: str, count: int) -> None:
        """Whatever is still to come after a pause in typing comes, and it changes nothing."""
        expect(search).to_have_value(text)
        page.clock.run_for(1000)
        expect(page).to_have_url(f"{url}/{address}")
        expect(search).to_have_value(text)
        expect(rows).to_have_count(count)

    expect_rest("one", "#/jobs?search=one", len(ids))
    page.get_by_role("link", name="autumn").click()
    expect_rest("autumn", "#/jobs?search=autumn", 1)
    page.get_by_role("link", name="Jobs", exact=True).first.click()
    expect_rest("", "#/jobs", len(ids))
    search.fill("nothing at all ")
    page.clock.run_for(1000)
    # What is typed stays as it is, up to the blank before the next word.
    expect_rest("nothing at all ", "#/jobs?search=nothing+at+all", 0)
    page.get_by_role("link", name="Show all jobs").click()
    expect_rest("", "#/jobs", len(ids))
    page.go_back()
    expect_rest("nothing at all", "#/jobs?search=nothing+at+all", 0)
    storage.jobs.describe(ids["queued"], tags=[])


def test_a_job_is_renamed_written_on_found_by_its_tag_deleted_and_restored(
    stored: tuple[Storage, dict[str, str]],
    jobs: tuple[str, dict[str, str]],
    open_page: Callable[..., Window],
) -> None:
    storage, _ = stored
    url, _ = jobs
    job_id = make_job(storage, "completed")
    window = open_page(f"{url}/#/jobs/{job_id}")
    page = window.page
    page.get_by_role("button", name="Add a note or tags").click()
    form = page.get_by_role("form", name="Name, note and tags")
    form.get_by_label("Name").fill("the one with new cables")
    form.get_by_label("Tags").fill("spring, cables ,")
    form.get_by_label("Note").fill("Twice as many\ncables.")
    assert violations(page) == []
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="the one with new cables")).to_be_visible()
    expect(page.locator(".note")).to_have_text("Twice as many\ncables.")
    assert storage.jobs.get(job_id).tags == ("cables", "spring")
    assert violations(page) == []

    page.get_by_role("link", name="spring").click()
    rows = page.locator("table.jobs tbody tr")
    expect(rows).to_have_count(1)
    rows.get_by_role("link", name="the one with new cables").click()
    # The page may ask for the job once more before it leaves: the browser notes that.
    window.expected = ("404",)
    page.get_by_role("button", name="Delete").click()
    told = page.get_by_role("status").filter(has_text="the one with new cables")
    expect(told).to_contain_text("was deleted. This can be undone for 30 days, until")
    with pytest.raises(NotFound, match="was deleted"):
        storage.jobs.get(job_id)
    assert violations(page) == []
    told.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name="the one with new cables")).to_be_visible()
    assert storage.jobs.get(job_id).tags == ("cables", "spring")

    page.get_by_role("button", name="Delete").click()
    expect(told).to_be_visible()
    page.get_by_label("State").select_option("deleted")
    gone = page.locator("table.deleted tbody tr")
    expect(gone).to_have_count(1)
    expect(gone).to_contain_text("for good on")
    assert violations(page) == []
    gone.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("heading", name="the one with new cables")).to_be_visible()
    assert storage.jobs.get(job_id).deleted_at is None

    page.get_by_role("button", name="Delete").click()
    page.get_by_label("State").select_option("deleted")
    page.once("dialog", lambda dialog: dialog.dismiss())
    gone.get_by_role("button", name="Delete now").click()
    assert len(storage.jobs.page(deleted="only").items) == 1
    asked: list[str] = []

    def agree(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.accept()

    page.once("dialog", agree)
    gone.get_by_role("button", name="Delete now").click()
    expect(gone).to_have_count(0)
    assert "cannot be undone" in asked[0]
    assert storage.jobs.page(deleted="only").items == []


def test_the_address_of_a_deleted_job_tells_when_it_was_deleted_and_restores_it(
    stored: tuple[Storage, dict[str, str]],
    jobs: tuple[str, dict[str, str]],
    open_page: Callable[..., Window],
) -> None:
    storage, _ = stored
    url, _ = jobs
    job_id = make_job(storage, "completed")
    storage.jobs.describe(job_id, name="linked from a letter")
    gone = storage.trash.put(job_id, 86400.0)
    window = open_page(f"{url}/#/jobs/{job_id}/workers", timezone_id="UTC")
    window.expected = ("404",)
    page = window.page
    expect(page.get_by_role("heading", name="linked from a letter")).to_be_visible()
    told = page.get_by_role("status").filter(has_text="was deleted")
    for what, when in (("deleted on", gone.deleted_at), ("until", gone.restorable_until)):
        assert when is not None
        expect(told).to_contain_text(f"{what} {time.strftime('%Y-%m-%d', time.gmtime(when))}")
    expect(page.get_by_role("alert")).to_have_count(0)
    assert violations(page) == []
    told.get_by_role("link", name="All deleted jobs").click()
    expect(page.locator("table.deleted")).to_contain_text("linked from a letter")
    page.go_back()
    told.get_by_role("button", name="Restore").click()
    expect(page.locator(".job-title .badge")).to_have_text("completed")
    workers = page.get_by_role("link", name="Workers", exact=True)
    expect(workers).to_have_attribute("aria-current", "page")
    assert storage.jobs.get(job_id).deleted_at is None
    # Who looks at a job while somebody else deletes it is told as well.
    storage.jobs.describe(paused := make_job(storage, "paused"), name="looked at")
    page.goto(f"{url}/#/jobs/{paused}")
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    storage.trash.put(paused, 86400.0)
    expect(told).to_be_visible()
    expect(page.get_by_role("heading", name="looked at")).to_be_visible()
    told.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    expect(told).to_have_count(0)
    for one in (job_id, paused):  # what other tests count
        storage.trash.delete(one)


def test_deleted_jobs_fit_a_phone(
    stored: tuple[Storage, dict[str, str]],
    jobs: tuple[str, dict[str, str]],
    open_page: Callable[..., Window],
) -> None:
    storage, _ = stored
    url, _ = jobs
    job_id = make_job(storage, "failed")
    storage.jobs.describe(job_id, name="a-job-with-a-long-name-that-was-deleted-in-the-end")
    storage.trash.put(job_id, 86400.0)
    page = open_page(
        f"{url}/#/jobs?state=deleted", viewport={"width": 360, "height": 740}, has_touch=True
    ).page
    row = page.locator("table.deleted tbody tr").filter(has_text="a-job-with-a-long-name")
    for name in ("Restore", "Delete now"):
        expect(row.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
    expect(row).to_contain_text("for good on")
    region = page.get_by_role("region", name="Jobs")
    assert region.evaluate("(one) => one.scrollWidth - one.clientWidth") == 0
    assert violations(page) == []
    storage.trash.delete(job_id)


def test_an_older_job_that_is_deleted_for_good_leaves_the_list(
    stored: tuple[Storage, dict[str, str]],
    jobs: tuple[str, dict[str, str]],
    open_page: Callable[..., Window],
) -> None:
    storage, _ = stored
    url, _ = jobs
    older = make_job(storage, "failed")
    newer = make_job(storage, "cancelled")
    for job_id in (older, newer):
        storage.trash.put(job_id, 86400.0)
    page = open_page("about:blank").page

    def one_each(route: Route) -> None:
        route.continue_(url=route.request.url.replace("limit=50", "limit=1"))

    page.route("**/api/v1/jobs?*", one_each)
    page.goto(f"{url}/#/jobs?state=deleted")
    rows = page.locator("table.deleted tbody tr")
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="Older jobs").click()
    expect(rows).to_have_count(2)
    for left, row in ((1, rows.last), (0, rows)):
        page.once("dialog", lambda dialog: dialog.accept())
        row.get_by_role("button", name="Delete now").click()
        expect(rows).to_have_count(left)
    assert storage.jobs.page(deleted="only").items == []


def test_a_job_is_put_aside_and_comes_back(
    stored: tuple[Storage, dict[str, str]],
    jobs: tuple[str, dict[str, str]],
    open_page: Callable[..., Window],
) -> None:
    storage, ids = stored
    url, _ = jobs
    job_id = make_job(storage, "cancelled")
    page = open_page(f"{url}/#/jobs/{job_id}").page
    page.get_by_role("button", name="Archive").click()
    expect(page.get_by_text("archived ", exact=False)).to_be_visible()
    assert violations(page) == []
    page.get_by_role("link", name="Jobs", exact=True).first.click()
    rows = page.locator("table.jobs tbody tr")
    expect(rows).to_have_count(len(ids))
    page.get_by_label("State").select_option("archived")
    expect(rows).to_have_count(1)
    rows.get_by_role("link").first.click()
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("button", name="Archive")).to_be_visible()
    assert storage.jobs.get(job_id).archived_at is None
    storage.trash.delete(job_id)


def test_jobs_are_laid_over_one_another(
    jobs: tuple[str, dict[str, str]], open_page: Callable[..., Window]
) -> None:
    url, _ = jobs
    page = open_page(f"{url}/").page
    for name in ("completed one", "paused one"):
        page.get_by_label(f"Compare {name}").check()
    page.get_by_role("button", name="Compare 2").click()
    expect(page.get_by_role("img", name="Best so far of 2 jobs")).to_be_visible()


def test_what_is_not_there_is_said(
    jobs: tuple[str, dict[str, str]], open_page: Callable[..., Window]
) -> None:
    url, ids = jobs
    window = open_page(f"{url}/#/jobs/nothere")
    expect(window.page.get_by_role("alert")).to_contain_text("there is no job nothere")
    # The browser notes each 404 on its console: those are what this test asks for.
    window.expected = ("404",)
    page = open_page(f"{url}/#/elsewhere").page
    expect(page.get_by_text("There is no such page.")).to_be_visible()
    page.goto(f"{url}/#/jobs/{ids['queued']}/best")
    expect(page.get_by_text("There is no best configuration yet.")).to_be_visible()


def test_a_revoked_key_ends_the_watching_and_keeps_what_was_typed(
    data: Path, stored: tuple[Storage, dict[str, str]], open_page: Callable[..., Window]
) -> None:
    storage, ids = stored
    watcher, token = create(storage, LOCAL, {"name": "watcher", "role": "submitter"})
    _, other = create(storage, LOCAL, {"name": "new", "role": "submitter", "project": "elsewhere"})

    def give(window: Window, key: str) -> None:
        window.page.get_by_role("button", name="Enter another key").first.click()
        window.page.get_by_role("textbox", name="Key").fill(key)
        window.page.get_by_role("button", name="Use it").click()

    with started(data, run=False, keys=True) as server:
        watching = open_page(f"{server.url}/#/jobs/{ids['running']}")
        typing = open_page(f"{server.url}/#/new")
        expect(watching.page.get_by_role("alert")).to_contain_text(
            "You are not allowed to see this"
        )
        give(watching, token)
        give(typing, token)
        expect(watching.page.locator(".live")).to_be_visible()
        typing.page.get_by_label("Job name").fill("half typed")
        expect(typing.page.get_by_text("32 cables")).to_be_visible()
        storage.keys.revoke(watcher.id)
        alert = watching.page.get_by_role("alert")
        expect(alert).to_contain_text("You are no longer allowed to watch this job.")
        expect(alert).to_contain_text("was revoked")
        # What was known stays to be read.
        expect(watching.page.locator("table.trials tbody tr")).to_have_count(6)
        assert violations(watching.page) == []
        typing.page.get_by_label("Degree (links per host)").fill("6")
        expect(typing.page.locator("#job-problems")).to_contain_text("What you typed is kept")
        give(typing, other)
        expect(typing.page.get_by_text("48 cables")).to_be_visible()
        expect(typing.page.get_by_label("Job name")).to_have_value("half typed")
        # The other project has no job yet.
        typing.page.goto(f"{server.url}/#/jobs")
        expect(typing.page.get_by_text("There are no jobs yet.")).to_be_visible()
        assert violations(typing.page) == []
    # The browser notes each refusal on its console; those are what this test asks for.
    for window in (watching, typing):
        window.expected = ("401",)
