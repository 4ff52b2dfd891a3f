"""The page on a job that is at work: created from the form or a file, watched, interrupted."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import expect

from tests.service.conftest import write_pair
from tests.service.page.conftest import (
    PATIENCE,
    SECONDS,
    SPEC,
    Service,
    Window,
    editor,
    expect_typed,
    retype,
    typed,
    violations,
)

expect.set_options(timeout=PATIENCE)


def test_a_job_is_created_from_the_form_and_watched_to_its_end(
    service: Service, open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/new").page
    page.get_by_label("Job name").fill("from the form")
    page.get_by_label("Program", exact=True).select_option("is")
    page.get_by_role("textbox", name="Trials").fill("20")
    expect(page.get_by_text("random, 16 nodes, 32 cables")).to_be_visible()
    expect(page.get_by_text(re.compile(r"^at most 2\d$"))).to_be_visible()
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
    text = editor(page)
    expect(text).to_have_text(re.compile("ranks: 17"))
    retype(page, typed(page).replace("ranks: 17", "ranks: 16"))
    expect(page.locator("#job-problems .bad")).to_have_count(0)
    retype(page, "name: [")
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
    assert violations(watching.page) == []
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
    page.get_by_label("Open files").set_input_files(path)
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
    expect_typed(page, text)
    retype(page, text.replace("ranks: 17", "ranks: 16"))
    page.get_by_role("button", name="Edit as a form").click()
    expect(page.get_by_label("Ranks", exact=True)).to_have_value("16")
    expect(page.get_by_text("48 cables")).to_be_visible()
    page.get_by_label("Trials", exact=True).fill("8")
    page.locator(".choice label", has_text="YAML").click()
    expect(editor(page)).to_have_text(re.compile("trials: 8\\n"), use_inner_text=True)
    expect(editor(page)).to_have_text(re.compile("cpu_seconds: 100"))
    assert violations(page) == []
    window.expected = ("422",)


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
    written = re.compile("target: openmpi-4.1\n(.*\n)*priority: high")
    expect(editor(page)).to_have_text(written, use_inner_text=True)
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
    expect(chosen).to_have_text(re.compile(r"^pair \(2 ranks, \d{4}-\d\d-\d\d"))
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
