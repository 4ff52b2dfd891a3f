"""The page on a job that is at work: created from the form, watched, interrupted, exported."""

from __future__ import annotations

import re
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.service.conftest import write_pair
from tests.service.page.conftest import PATIENCE, SECONDS, Service, Window, violations

expect.set_options(timeout=PATIENCE)

SPEC: dict[str, Any] = {
    "name": "first",
    "application": {"builtin": "is", "class": "S", "ranks": 16},
    "machine": {
        "nodes": 16,
        "degree": 4,
        "host_speed": "100Gf",
        "link_bandwidth": "40Gbps",
        "switch_latency": "60ns",
    },
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


@pytest.fixture(scope="module")
def ended(service: Service) -> dict[str, Any]:
    """A job that has completed."""
    job = service.post("/jobs", SPEC)
    # The stream of its events ends with the job.
    httpx.get(f"{service.url}/api/v1/jobs/{job['id']}/events", timeout=SECONDS).raise_for_status()
    return dict(service.get(f"/jobs/{job['id']}"))


def test_a_job_is_created_from_the_form_and_watched_to_its_end(
    service: Service, open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/new").page
    page.get_by_label("Job name").fill("from the form")
    page.get_by_label("Program", exact=True).select_option("is")
    page.get_by_role("textbox", name="Trials").fill("20")
    expect(page.get_by_text("random, 16 nodes, 32 cables")).to_be_visible()
    expect(page.get_by_text("at most 2")).to_be_visible()
    page.get_by_role("button", name="Create the job").click()
    expect(page.get_by_role("heading", name="from the form")).to_be_visible()
    expect(page.locator(".job-title .state-completed")).to_be_visible()
    # Nobody has loaded the page again: what it shows came with the events.
    job = service.get("/jobs?search=from%20the%20form")["items"][0]
    expect(page.locator("table.trials tbody tr")).to_have_count(job["progress"]["finished"])
    expect(page.locator(".figure dd").first).to_contain_text(
        f"trial {job['progress']['best']['trial']}"
    )
    assert page.evaluate("Object.keys(localStorage).includes('hamtune-draft')") is False


def test_what_the_service_refuses_stands_beside_the_field(
    service: Service, open_page: Callable[..., Window]
) -> None:
    window = open_page(f"{service.url}/#/new")
    page = window.page
    page.get_by_label("Ranks", exact=True).fill("17")
    message = "class S needs a power of two up to 1024, not 17"
    expect(
        page.locator(".field", has=page.get_by_label("Ranks", exact=True)).get_by_text(message)
    ).to_be_visible()
    assert page.get_by_label("Ranks", exact=True).get_attribute("aria-invalid") == "true"
    page.get_by_role("button", name="Create the job").click()
    expect(page.locator("#job-problems")).to_contain_text(f"application.ranks: {message}")
    # What was typed outlives the page.
    page.reload()
    expect(page.get_by_label("Ranks", exact=True)).to_have_value("17")
    page.locator("label", has_text="YAML").click()
    text = page.get_by_label("Job file as YAML")
    expect(text).to_have_value(re.compile("ranks: 17"))
    text.fill(text.input_value().replace("ranks: 17", "ranks: 16"))
    expect(page.locator("#job-problems .bad")).to_have_count(0)
    text.fill("name: [")
    expect(page.locator("#job-problems")).to_contain_text("not acceptable YAML")
    # The browser notes each refusal on its console; those are what this test asks for.
    window.expected = ("422", "400")


def test_the_page_goes_on_after_the_service_was_killed(
    service: Service, ended: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    service.valve.shut(passes=2)  # it is to run until the service is killed
    job = service.post("/jobs", {**SPEC, "name": "killed", "seed": 2})
    watching = open_page(f"{service.url}/#/jobs/{job['id']}")
    form = open_page(f"{service.url}/#/new")
    expect(watching.page.locator(".live")).to_be_visible()
    form.page.get_by_label("Job name").fill("half typed")
    watching.away = form.away = True
    service.kill()
    expect(watching.page.get_by_text("The service does not answer")).to_be_visible()
    form.page.get_by_label("Degree (links per host)").fill("6")
    expect(form.page.get_by_text("What you typed is kept")).to_be_visible()
    service.valve.open()
    service.start()
    expect(watching.page.get_by_text("The service does not answer")).to_have_count(0)
    expect(form.page.get_by_text("What you typed is kept")).to_have_count(0)
    expect(form.page.get_by_label("Job name")).to_have_value("half typed")
    expect(form.page.get_by_label("Degree (links per host)")).to_have_value("6")
    # The job went on with the service, and the page saw its end.
    expect(watching.page.locator(".job-title .state-completed")).to_be_visible()
    shown = service.get(f"/jobs/{job['id']}")["progress"]["kinds"]["search"]
    expect(watching.page.locator(".figures")).to_contain_text(f"{shown} of")


def test_a_running_job_is_paused_and_resumed(
    service: Service, ended: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    service.valve.shut(passes=2)  # whoever clicks comes in time
    job = service.post("/jobs", {**SPEC, "name": "paused", "seed": 3})
    page = open_page(f"{service.url}/#/jobs/{job['id']}").page
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".job-title .badge")).to_have_text(re.compile("pausing|paused"))
    service.valve.open()
    expect(page.locator(".job-title .badge")).to_have_text("paused")
    service.valve.shut()
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.get_by_label("Priority").select_option("high")
    expect(page.locator(".job-title")).to_contain_text("high priority")
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".job-title .badge")).to_have_text("cancelled")
    service.valve.open()


def test_a_job_file_fills_the_form(
    service: Service, tmp_path: Path, open_page: Callable[..., Window]
) -> None:
    text = """
name: from a file  # of mine
application: {builtin: is, class: S, ranks: 17}
machine: {nodes: 16, degree: 6, host_speed: 100Gf, link_bandwidth: 40Gbps, switch_latency: 60ns}
search: {topology: [random], ordering: [hamorder], collectives: {alltoall: all, bcast: [default]}}
budget: {trials: 7, cpu_seconds: 100}
"""
    window = open_page(f"{service.url}/#/new")
    page = window.page
    path = tmp_path / "job.yaml"
    path.write_text(text)
    page.get_by_label("Open a job file").set_input_files(path)
    expect(page.get_by_label("Job name")).to_have_value("from a file")
    for label, value in {"Degree (links per host)": "6", "Trials": "7", "Ranks": "17"}.items():
        expect(page.get_by_label(label, exact=True)).to_have_value(value)
    expect(page.get_by_label("hamorder")).to_be_checked()
    expect(page.get_by_text("search.collectives.bcast")).to_be_visible()
    # What the service says of a value stands beside its field.
    ranks = page.locator(".field", has=page.get_by_label("Ranks", exact=True))
    expect(ranks.get_by_text("class S needs a power of two up to 128, not 17")).to_be_visible()
    # Unchanged, the text is there again with its comments; changed, it says what the form says.
    page.locator(".choice label", has_text="YAML").click()
    area = page.get_by_label("Job file as YAML")
    expect(area).to_have_value(text)
    area.fill(text.replace("ranks: 17", "ranks: 16"))
    page.get_by_role("button", name="Edit as a form").click()
    expect(page.get_by_label("Ranks", exact=True)).to_have_value("16")
    expect(page.get_by_text("48 cables")).to_be_visible()
    page.get_by_label("Trials", exact=True).fill("8")
    page.locator(".choice label", has_text="YAML").click()
    expect(area).to_have_value(re.compile("trials: 8\\n"))
    expect(area).to_have_value(re.compile("cpu_seconds: 100"))
    assert violations(page) == []
    window.expected = ("422",)


def test_the_document_asks_for_what_is_shown_first_and_that_is_asked_for_once(
    service: Service, ended: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    window = open_page(f"{service.url}/#/jobs/{ended['id']}")
    page, window.away = window.page, True
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.removeprefix(service.url)))
    # Nothing but the document: its own script asks.
    page.route("**/assets/app-*.js", lambda route: route.abort())
    page.reload(wait_until="commit")
    table = f"/api/v1/jobs/{ended['id']}/table?after=0&points=2500"
    page.wait_for_function("() => window.early?.size === 2")
    assert {table, f"/api/v1/jobs/{ended['id']}"} <= set(asked)

    page.unroute("**/assets/app-*.js")
    asked.clear()
    page.reload()
    expect(page.locator("table.trials tbody tr").first).to_be_visible()
    assert asked.count(table) == 1


def test_traffic_is_shown_before_and_after(
    service: Service, ended: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/jobs/{ended['id']}/best").page
    expect(page.get_by_role("img", name="Before: ranks in order")).to_be_visible()
    expect(page.get_by_role("img", name="After: mapped by by-order")).to_be_visible()
    expect(page.get_by_text("so both are the same")).to_be_visible()
    baseline = page.locator(".choice label").nth(1)
    baseline.click()
    expect(page.get_by_role("img", name=f"Before: {baseline.inner_text()}")).to_be_visible()
    expect(page.get_by_text("so both are the same")).to_have_count(0)


def test_the_best_is_shown_by_both_network_models(
    service: Service, open_page: Callable[..., Window]
) -> None:
    machine = {**SPEC["machine"], "network": "auto"}
    job = service.post("/jobs", {**SPEC, "name": "auto", "machine": machine})
    httpx.get(f"{service.url}/api/v1/jobs/{job['id']}/events", timeout=SECONDS).raise_for_status()
    best = service.get(f"/jobs/{job['id']}/best")

    page = open_page(f"{service.url}/#/jobs/{job['id']}/best").page
    expect(page.get_by_text("simulated (packets, tcp-openmpi)")).to_be_visible()
    rows = page.get_by_role("region", name="Both network models").locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.first.get_by_role("rowheader")).to_have_text(str(best["trial"]))
    expect(page.get_by_text("packets decided.")).to_be_visible()
    assert violations(page) == []
    number = best["comparisons"][0]["comparison"]
    page.goto(f"{service.url}/#/jobs/{job['id']}/convergence?trial={number}")
    drawer = page.get_by_role("complementary", name=f"Trial {number}")
    expect(drawer.get_by_text("by the fluid model")).to_be_visible()


def test_what_was_measured_is_shown_over_what_was_simulated(
    service: Service, ended: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    best = service.get(f"/jobs/{ended['id']}/best")
    measured = [
        (f"trial {best['trial']}", best["trial"], best["value"], 0.9),
        ("torus-2d (1)", 1, 1.3 * best["value"], 1.5),
        ("the library's defaults", None, None, 1.7),
    ]
    for label, trial, simulated, times in measured:
        seconds = [best["value"] * times * (1 + shift) for shift in (-0.02, 0.0, 0.02)]
        runs = [{"seconds": each, "doubts": []} for each in seconds]
        failed = {"seconds": best["value"], "doubts": ["segments were sent again"]}
        service.post(
            f"/jobs/{ended['id']}/measured",
            {
                "label": label,
                "trial": trial,
                "simulated": simulated,
                "cluster": "bluebird",
                "outcomes": [*runs, failed],
            },
        )

    page = open_page(f"{service.url}/#/jobs/{ended['id']}/best").page
    rows = page.get_by_role("region", name="Measured times").locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(1).get_by_role("rowheader")).to_have_text("torus-2d (1)")
    expect(rows.first.get_by_role("rowheader")).to_have_text(f"trial {best['trial']}")
    expect(rows.first).to_contain_text("± 5.0%")
    expect(rows.first).to_contain_text("1.11")
    expect(rows.first.locator("td").last).to_have_text("3")
    expect(rows.last).to_contain_text("the library's defaults")
    picture = page.get_by_role("img", name=f"Measured over simulated times: trial {best['trial']}")
    expect(picture.locator("canvas")).to_be_visible()
    expect(page.get_by_text("the simulation decides")).to_be_visible()
    assert violations(page) == []

    slow = page.get_by_text("their order can agree and the times cannot")
    expect(slow).to_have_count(0)
    for number in range(3):
        seconds = {"seconds": 20 * best["value"], "doubts": []}
        place = {"label": f"emulated {number}", "cluster": "bluebird", "outcomes": [seconds]}
        service.post(f"/jobs/{ended['id']}/measured", place | {"simulated": best["value"]})
    page.reload()
    expect(slow).to_have_text(re.compile("Simulated times are 0.050 of measured ones"))


def test_a_library_limits_the_search_to_what_it_can_run(
    service: Service, open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/new").page
    expect(page.get_by_text("32 cables")).to_be_visible()
    page.get_by_label("Target MPI library").select_option("openmpi-4.1")
    expect(page.get_by_text("MPI implementations")).to_have_count(0)
    expect(page.get_by_text("(all that the application calls)")).to_be_visible()
    page.get_by_label("Priority").select_option("high")
    page.locator(".choice label", has_text="YAML").click()
    text = page.get_by_label("Job file as YAML")
    expect(text).to_have_value(re.compile("target: openmpi-4.1\n(.*\n)*priority: high"))
    expect(page.locator("#job-problems .bad")).to_have_count(0)
    assert violations(page) == []


def test_a_trace_is_uploaded_for_a_job(
    service: Service, tmp_path: Path, open_page: Callable[..., Window]
) -> None:
    write_pair(tmp_path / "pair.ht")
    (tmp_path / "bad.ht").write_bytes(b"no trace")
    window = open_page(f"{service.url}/#/new")
    page = window.page
    page.get_by_role("combobox", name="Application", exact=True).select_option("stored")
    page.get_by_text("Upload another").click()
    upload = page.get_by_role("button", name="Upload", exact=True)
    upload.click()
    expect(page.get_by_text("Choose the trace first.")).to_be_visible()
    page.get_by_label("Trace, as hamtune").set_input_files(tmp_path / "bad.ht")
    upload.click()
    expect(page.get_by_role("alert").filter(has_text="trace")).to_be_visible()
    page.get_by_label("Trace, as hamtune").set_input_files(tmp_path / "pair.ht")
    upload.click()
    expect(page.get_by_text("pair with 2 ranks is chosen.")).to_be_visible()
    chosen = page.get_by_label("Uploaded").locator("option:checked")
    expect(chosen).to_have_text("pair (2 ranks)")
    assert violations(page) == []
    window.expected = ("422",)


PROGRAM = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < 200; round++)
    MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    FILE *verdict = fopen("verdict.txt", "w");
    fputs("residual 1e-9", verdict);
    fclose(verdict);
    puts("VERIFIED");
  }
  MPI_Finalize();
}
"""


def test_a_program_of_ones_own_shows_what_it_printed_and_left(
    service: Service, tmp_path: Path, open_page: Callable[..., Window]
) -> None:
    with zipfile.ZipFile(tmp_path / "tree.zip", "w") as archive:
        archive.writestr("solver.c", PROGRAM)
    answer = httpx.post(
        f"{service.url}/api/v1/applications",
        files={"source": ("tree.zip", (tmp_path / "tree.zip").read_bytes())},
        data={"build": "echo building; mpicc solver.c -o solver", "run": "solver", "ranks": "4"},
        timeout=SECONDS,
    )
    document = {**SPEC, "name": "own", "application": {"id": answer.json()["id"]}}
    job = service.post("/jobs", {**document, "budget": {"trials": 2}})
    page = open_page(f"{service.url}/#/jobs/{job['id']}/about").page
    # Nobody loads the page again: the log comes while the program is built and runs.
    expect(page.locator("pre[aria-label='What the build printed']")).to_contain_text("building")
    expect(page.locator("pre[aria-label='What the program printed']")).to_contain_text("VERIFIED")
    with page.expect_download() as verdict:
        page.get_by_role("button", name="Download verdict.txt").click()
    assert verdict.value.suggested_filename == "verdict.txt"
    assert verdict.value.path().read_text() == "residual 1e-9"
    assert violations(page) == []


def test_a_trial_is_exported_and_simulated_again(
    service: Service, ended: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    best = ended["progress"]["best"]["trial"]
    trials = service.get(f"/jobs/{ended['id']}/trials")["items"]
    number = next(
        one["number"] for one in trials if one["state"] == "completed" and one["number"] != best
    )
    page = open_page(f"{service.url}/#/jobs/{ended['id']}/convergence?trial={number}").page
    drawer = page.get_by_role("complementary", name=f"Trial {number}")
    drawer.get_by_label("Beside trial").fill(str(best))
    drawer.get_by_label("Beside trial").press("Tab")
    expect(drawer.get_by_role("columnheader", name=f"Trial {best}")).to_have_count(2)
    expect(drawer.get_by_text("Busiest cable, one way")).to_be_visible()
    drawer.get_by_label("Beside trial").fill("")
    drawer.get_by_label("Format").select_option("json")
    with page.expect_download() as archive:
        drawer.get_by_role("button", name="Export this trial").click()
    assert archive.value.suggested_filename == f"{ended['id']}-trial-{number}-json.zip"
    drawer.get_by_role("button", name="Simulate again").click()
    expect(drawer.get_by_text("The same again")).to_be_visible()
    expect(drawer.get_by_text("(all as before)")).to_have_count(2)
    expect(drawer.get_by_label("Log of the trial")).to_contain_text("attempt 1: finished on")
    assert violations(page) == []


def test_trials_are_reached_with_the_keyboard(
    service: Service, ended: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/jobs/{ended['id']}").page
    chart = page.get_by_role("application")
    expect(chart).to_be_visible()
    chart.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("status").filter(has_text="Trial 2")).to_have_count(1)
    page.keyboard.press("Enter")
    drawer = page.get_by_role("complementary", name="Trial 2")
    expect(drawer.get_by_role("heading", name="Trial 2", exact=True)).to_be_focused()
    expect(drawer).to_contain_text("hamtune evaluate --application application.json")
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)


def finds_a_point(page: Page) -> bool:
    """Whether the mouse, moved along the left edge of the chart, came to a point and is there.

    The first trial is a baseline at that edge; somewhere on it lies its point.
    """
    box = page.locator(".chart .u-over").bounding_box()
    assert box is not None
    for share in range(2, 98, 2):
        page.mouse.move(box["x"] + 2, box["y"] + box["height"] * share / 100)
        if page.locator(".tip").count():
            return True
    return False


def test_a_point_is_told_and_opened_by_the_mouse(
    service: Service, ended: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/jobs/{ended['id']}").page
    expect(page.locator("table.trials tbody tr").first).to_be_visible()
    deadline = time.monotonic() + SECONDS
    while not finds_a_point(page):  # until nothing moves on the page any more
        assert time.monotonic() < deadline, "there is no point at the left edge"
    expect(page.locator(".tip")).to_contain_text("Trial")
    page.mouse.down()
    page.mouse.up()
    expect(page.locator(".drawer")).to_be_visible()


def test_files_are_downloaded(
    service: Service, ended: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/jobs/{ended['id']}").page
    with page.expect_download() as table:
        page.get_by_role("button", name="csv").click()
    assert table.value.suggested_filename == f"{ended['id']}-trials.csv"
    assert table.value.path().read_text().startswith("number,kind,")
    page.get_by_role("link", name="Best configuration").click()
    for one in service.get("/catalogue")["exports"]:
        expect(page.get_by_role("button", name=one["name"], exact=True)).to_be_visible()
    with page.expect_download() as archive:
        page.get_by_role("button", name="json", exact=True).click()
    assert archive.value.path().read_bytes().startswith(b"PK")


def test_an_export_is_made_for_named_hosts_and_a_library(
    service: Service, ended: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    window = open_page(f"{service.url}/#/jobs/{ended['id']}/best")
    page = window.page
    page.get_by_label("Target MPI library").select_option("openmpi-4.1")
    page.get_by_label("the nearest that it can express").check()
    expect(page.get_by_role("button", name="mpich", exact=True)).to_be_disabled()
    export = page.get_by_role("button", name="openmpi", exact=True)

    page.get_by_label("Names of the hosts").fill("only-one")
    export.click()
    expect(page.locator(".exports").get_by_role("alert")).to_contain_text("hosts")
    nodes = ended["spec"]["machine"]["nodes"]
    page.get_by_label("Names of the hosts").fill(f"n[01-{nodes}]")
    with page.expect_download() as archive:
        export.click()
    with zipfile.ZipFile(archive.value.path()) as files:
        hostfile = next(name for name in files.namelist() if name.endswith("hostfile"))
        assert "n01" in files.read(hostfile).decode()
    assert violations(page) == []
    window.expected = ("422",)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_of_a_completed_job_can_be_read_by_everybody(
    service: Service, ended: dict[str, Any], open_page: Callable[..., Window], scheme: str
) -> None:
    job = ended["id"]
    page = open_page(f"{service.url}/#/jobs/{job}", color_scheme=scheme).page
    for view, sign in {
        f"jobs/{job}/convergence": "csv",
        f"jobs/{job}/best": "Hops and finish times",
        f"jobs/{job}/space": "R² on trials left out",
        f"jobs/{job}/workers": "Longest",
        f"jobs/{job}/about": "Job file",
        f"compare?jobs={job}": "simulated time",
        "jobs": "first",
        "new": "32 cables",
    }.items():
        page.goto(f"{service.url}/#/{view}")
        expect(page.get_by_text(sign).first).to_be_visible()
        assert violations(page) == [], view


def test_the_page_fits_a_phone(
    service: Service, ended: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    page = open_page(
        f"{service.url}/#/jobs", viewport={"width": 360, "height": 740}, has_touch=True
    ).page
    for view, sign in {
        "jobs": "first",
        f"jobs/{ended['id']}/convergence": "csv",
        f"jobs/{ended['id']}/best": "Hops and finish times",
        f"jobs/{ended['id']}/space": "Parallel",
        "new": "32 cables",
    }.items():
        page.goto(f"{service.url}/#/{view}")
        expect(page.get_by_text(sign).first).to_be_visible()
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 360, f"{view} is {wide} px wide"


def test_parallel_coordinates_are_brushed(
    service: Service, ended: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/jobs/{ended['id']}/space").page
    said = page.get_by_role("status").filter(has_text="chosen")
    everything = said.inner_text()
    page.get_by_label("mpi", exact=True).select_option("ompi")
    expect(said).not_to_have_text(everything)
    page.get_by_role("button", name="Choose all").click()
    expect(said).to_have_text(everything)
