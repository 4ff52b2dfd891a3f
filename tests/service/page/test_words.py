"""What the page says of trials that a limit stopped, of counts, and of a best that is no gain."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from searchspace.configuration import Configuration
from searchspace.job import load_job
from service.runtime import Runtime
from service.settings import Settings
from storage.proposal import Proposal
from storage.records import Outcome
from storage.storage import Storage
from tests.service.conftest import SPEC
from tests.service.live import started
from tests.service.page.conftest import PATIENCE, Window, violations

expect.set_options(timeout=PATIENCE)

WALL = Outcome(
    status="failed",
    reason={"kind": "wall", "message": "stopped after 0.008000 s of wall-clock time"},
    cpu_seconds=1.9e-3,
    wall_seconds=2.388e-2,
    peak_rss_bytes=11 << 20,
)
CRASH = Outcome(status="failed", reason={"kind": "crash", "message": "it crashed"})
FASTER = Outcome(status="completed", value=1.0e-3, cpu_seconds=1.0, wall_seconds=1.0)
SLOWER = Outcome(status="completed", value=2.0e-3, cpu_seconds=1.0, wall_seconds=1.0)
SIZE = 12
"""Of the search space; the budget of trials is larger."""


def make_job(storage: Storage, name: str, outcomes: list[Outcome], *, error: str = "") -> str:
    """A job that has ended; its first trial is the baseline torus-3d, outside of its space."""
    document = {**SPEC, "name": name, "limits": {"wall_seconds": "8ms"}}
    job = storage.jobs.create(name=name, spec=load_job(document).canonical(), seed=1)
    leased = storage.leases.acquire("test", 600.0, job.id)
    assert leased is not None
    storage.jobs.transition(job.id, "preparing")
    application = storage.applications.add(
        kind="builtin", key=name, name=name, ranks=16, trace_sha256="0" * 64, summary={}
    )
    storage.jobs.set_prepared(
        job.id, application_id=application.id, space={"size": SIZE, "parameters": []}
    )
    storage.jobs.transition(job.id, "running")
    for number, outcome in enumerate(outcomes, start=1):
        baseline = number == 1
        family = "torus-3d" if baseline else "random"
        configuration = Configuration({"topology": family, "topology_seed": number})
        trial = storage.trials.propose(
            job.id,
            leased.lease_token,
            Proposal.of(
                configuration,
                number=number,
                kind="baseline" if baseline else "search",
                label="torus-3d" if baseline else None,
                technique=None if baseline else "PureRandom",
                inside=not baseline,
            ),
        )
        storage.trials.settle(trial.id, leased.lease_token, outcome)
    if error:
        storage.jobs.transition(job.id, "failed", error=error)
    else:
        storage.jobs.transition(job.id, "completed")
    return job.id


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a service, and its jobs by name."""
    data = tmp_path_factory.mktemp("words") / "data"
    none = "none of the 4 trials of the search space completed"
    with Runtime(Settings.under(data), run=False) as runtime:
        storage = runtime.storage
        ids = {
            "stopped": make_job(storage, "stopped", [WALL, WALL, WALL, WALL, CRASH], error=none),
            "slower": make_job(storage, "slower", [FASTER, SLOWER]),
        }
        with started(data, run=False) as server:
            yield server.url, ids


def test_a_trial_that_a_limit_stopped_names_it_and_the_way_out(
    jobs: tuple[str, dict[str, str]], open_page: Callable[..., Window]
) -> None:
    url, ids = jobs
    page = open_page(f"{url}/#/jobs/{ids['stopped']}?trial=2").page
    drawer = page.get_by_role("complementary", name="Trial 2")
    notice = drawer.locator(".notice")
    expect(notice).to_contain_text("Stopped by limits.wall_seconds (8 ms) of the job file")
    expect(drawer).to_contain_text("2 ms of CPU, 24 ms of wall clock, 11.0 MiB of memory")
    expect(drawer).to_contain_text("so it may run to its end")
    expect(drawer).not_to_contain_text("the same time again")
    assert violations(page) == []
    notice.get_by_role("link", name="a clone of the job").click()
    expect(page).to_have_url(re.compile(f"clone={ids['stopped']}"))
    page.goto(f"{url}/#/jobs/{ids['stopped']}?trial=5")
    drawer = page.get_by_role("complementary", name="Trial 5")
    expect(drawer).to_contain_text("it crashed")
    expect(drawer).to_contain_text("It ends in the same way again.")


def test_counts_say_what_they_count(
    jobs: tuple[str, dict[str, str]], open_page: Callable[..., Window]
) -> None:
    url, ids = jobs
    page = open_page(f"{url}/#/jobs").page
    said = (
        f"4 of {SIZE} search trials + 1 baseline",
        f"the search space has at most {SIZE} configurations that differ",
        "5 of 5 trials in all failed: stopped by limits.wall_seconds (8 ms) (4 of them)",
    )
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="stopped"))
    for words in said:
        expect(row).to_contain_text(words)
    page.goto(f"{url}/#/jobs/{ids['stopped']}")
    for words in said:
        expect(page.locator(".figures")).to_contain_text(words)
    expect(page.get_by_role("alert")).to_contain_text(
        "Trials of the search space are the search trials and the baselines that lie in it."
    )
    expect(page.get_by_text("5 trials in all", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Job file")).to_be_visible()


def test_a_best_that_is_slower_than_a_baseline_is_explained(
    jobs: tuple[str, dict[str, str]], open_page: Callable[..., Window]
) -> None:
    url, ids = jobs
    page = open_page(f"{url}/#/jobs").page
    why = "the best is slower than the baseline torus-3d, which is not in the search space"
    # No pointer rests on anything on a phone: what is said there is said everywhere.
    for screen in ({"width": 1200, "height": 900}, {"width": 390, "height": 844}):
        page.set_viewport_size(screen)  # type: ignore[arg-type]
        page.goto(f"{url}/#/jobs")
        row = page.get_by_role("row").filter(has=page.get_by_role("link", name="slower"))
        cell = row.get_by_role("cell").filter(has_text="−50 %")
        expect(cell.get_by_text(why, exact=True)).to_be_in_viewport(ratio=1)
        page.goto(f"{url}/#/jobs/{ids['slower']}")
        head = page.locator(".job-head")
        figure = head.locator(".figure").filter(has_text="−50 %")
        expect(figure.get_by_text(why, exact=True)).to_be_in_viewport(ratio=1)
        expect(head).to_contain_text("torus-3d is not in the search space: add it to search")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert violations(page) == []
