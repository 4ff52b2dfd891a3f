"""The form of a new job: what it is for, what its fields mean, and files that are dropped on it."""

from __future__ import annotations

import base64
import io
import json
import re
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from playwright.sync_api import Page, Route, expect

from tests.service.conftest import SPEC, write_pair
from tests.service.page.conftest import PATIENCE, SECONDS, Service, Window, typed, violations

expect.set_options(timeout=PATIENCE)

FABRIC = (Path(__file__).parents[2] / "fuzz/corpus/ibnetdiscover/two-leaves.txt").read_bytes()
HOST = b"<topology><object type='Machine'>" + 4 * b"<object type='Core'/>" + b"</object></topology>"
JOB = yaml.safe_dump({**SPEC, "name": "dropped"}).encode()
RING = b"0 1\n1 2\n2 3\n3 0\n"


def drop(page: Page, onto: str = "main", **files: bytes) -> None:
    """Drop files somewhere on the page; `job_yaml` is called `job.yaml`."""
    named = [
        [name.replace("_", "."), base64.b64encode(content).decode()]
        for name, content in files.items()
    ]
    carried = page.evaluate_handle(
        """(files) => {
          const carried = new DataTransfer();
          for (const [name, text] of files) {
            const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
            carried.items.add(new File([bytes], name));
          }
          return carried;
        }""",
        named,
    )
    expect(page.get_by_text("Files can be dropped anywhere on this page")).to_be_visible()
    page.dispatch_event(onto, "dragover", {"dataTransfer": carried})
    expect(page.get_by_text("Drop the files here")).to_be_visible()
    page.dispatch_event(onto, "drop", {"dataTransfer": carried})
    expect(page.get_by_text("Drop the files here")).to_have_count(0)


def sources() -> bytes:
    """An archive with the source of a program."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        source = tarfile.TarInfo("solver.c")
        source.size = 1
        archive.addfile(source, io.BytesIO(b" "))
    return content.getvalue()


def purpose(page: Page, title: str) -> None:
    page.locator(".purposes label", has_text=title).click()
    expect(page.get_by_role("radio", name=title)).to_be_checked()


def as_job_file(page: Page) -> dict[str, Any]:
    """The job file that the form stands for."""
    page.locator(".choice label", has_text="YAML").click()
    text = typed(page)
    page.locator(".choice label", has_text="form").click()
    document: dict[str, Any] = yaml.safe_load(text)
    return document


@pytest.fixture
def form(service: Service, open_page: Callable[..., Window]) -> Window:
    """The form as somebody sees it who has never been here."""
    window = open_page(f"{service.url}/#/new")
    expect(window.page.get_by_text("32 cables")).to_be_visible()
    return window


@pytest.fixture
def pair(service: Service, tmp_path: Path) -> bytes:
    """A trace of two ranks."""
    write_pair(tmp_path / "pair.ht")
    return (tmp_path / "pair.ht").read_bytes()


def test_the_form_for_a_network_leaves_mpi_alone(service: Service, form: Window) -> None:
    page = form.page
    purpose(page, "Design a network")
    for gone in ("MPI implementations", "Collectives to tune", "Target MPI library", "Priority"):
        expect(page.get_by_text(gone)).to_have_count(0)
    said = as_job_file(page)
    assert said["search"]["topology"] == [{"family": "random", "instances": 8}, "torus-2d"]
    assert set(said["search"]) == {"topology", "ordering", "mapping"}
    assert said["budget"] == {"trials": 200, "patience": 50}
    checked = service.post("/jobs/check", said)
    assert checked["space"]["size"] > 9
    expect(page.get_by_text("random, 16 nodes, 32 cables")).to_be_visible()


def test_the_form_for_a_cluster_takes_its_network_as_it_is(service: Service, form: Window) -> None:
    page = form.page
    page.get_by_label("Ranks", exact=True).fill("8")  # 16 do not fit on it
    drop(page, bluebird_txt=FABRIC, host_xml=HOST)
    expect(page.get_by_text("bluebird.txt and host.xml: 3 hosts, 2 switches, 5 cables, 4 cores")
           ).to_be_visible()  # fmt: skip
    purpose(page, "Tune an existing cluster")
    facts = page.get_by_role("region", name="Machine").get_by_text("4 cores per host")
    expect(facts).to_have_text(re.compile("3 hosts · 2 switches · 5 cables · 4 cores per host"))
    for gone in ("Network topologies", "Host orderings", "Objective", "Degree"):
        expect(page.get_by_text(gone)).to_have_count(0)
    said = as_job_file(page)
    assert set(said["search"]) == {"mapping", "mpi", "collectives"}
    machine = service.get(f"/machines/{said['machine']['id']}")
    assert machine["machine"]["topology"]["host_names"] == ["n01", "n02", "n03"]
    checked = service.post("/jobs/check", said)
    values = {one["name"]: one.get("values") for one in checked["space"]["parameters"]}
    assert values["topology"] == ["given"]
    expect(page.locator("#job-problems .bad")).to_have_count(0)


def test_the_form_for_algorithms_searches_nothing_else(
    service: Service, form: Window, pair: bytes
) -> None:
    page = form.page
    drop(page, solver_ht=pair)
    expect(page.get_by_text("solver.ht: pair with 2 ranks is the application.")).to_be_visible()
    purpose(page, "Find the best algorithms for my program")
    for gone in ("Host orderings", "Rank mappings", "Instances per random network", "Objective"):
        expect(page.get_by_text(gone)).to_have_count(0)
    expect(page.get_by_label("Uploaded").locator("option:checked")).to_have_text(
        re.compile(r"^pair \(2 ranks, \d{4}-\d\d-\d\d \d\d:\d\d\)")
    )
    said = as_job_file(page)
    assert set(said["search"]) == {"topology", "mpi", "collectives", "by_size"}
    assert (said["search"]["topology"], said["budget"]["until"]) == (["torus-2d"], "1%")
    assert service.get(f"/applications/{said['application']['id']}")["ranks"] == 2
    service.post("/jobs/check", said)
    page.get_by_role("button", name="Create the job").click()
    expect(page.locator(".job-title")).to_contain_text("my-job")


def test_what_was_typed_stays_or_is_told(form: Window) -> None:
    page = form.page
    page.get_by_label("Trials", exact=True).fill("12")
    page.get_by_label("rcm").first.check()
    page.get_by_label("Highest cost").fill("90000")
    purpose(page, "Tune an existing cluster")
    expect(page.get_by_label("Trials", exact=True)).to_have_value("12")
    expect(page.get_by_text("Kept as you chose: Trials.")).to_be_visible()
    left = "this purpose does without: Host orderings, Limits of the network."
    expect(page.get_by_text(re.compile(left))).to_be_visible()
    said = as_job_file(page)
    assert "constraints" not in said
    assert said["budget"]["trials"] == 12
    purpose(page, "Design a network")
    expect(page.get_by_label("Highest cost")).to_have_value("90000")
    expect(page.get_by_label("rcm").first).to_be_checked()
    expect(page.get_by_text(re.compile(left))).to_have_count(0)
    # What another choice rules out is told as well.
    purpose(page, "All options")
    page.get_by_label("Until").fill("2%")
    page.get_by_label("Objective").select_option("cost")
    expect(page.get_by_text("since other choices rule it out: Until.")).to_be_visible()
    assert "until" not in as_job_file(page)["budget"]
    form.expected = ("422",)  # no machine is stored for a moment, and the browser notes refusals


def test_every_option_is_explained_where_it_stands(service: Service, form: Window) -> None:
    page = form.page
    expect(page.get_by_text("How many hosts there are.")).to_be_visible()
    catalogue = service.get("/catalogue")
    for one in [*catalogue["orderings"], *catalogue["collectives"], *catalogue["mpi"]]:
        assert page.get_by_text(one["description"].replace("`", "")).count() > 0, one["name"]
    for field in page.locator("form .field").all():
        assert field.locator(".sub").inner_text().strip(), field.inner_text()


def test_which_trials_are_cut_off_is_chosen_where_it_matters(
    service: Service, form: Window
) -> None:
    page = form.page
    factor, share = page.get_by_label("Cutoff factor"), page.get_by_label("Share that runs to")
    cutoff = page.get_by_label("Trials that are cut off")
    expect(factor).to_have_attribute("placeholder", "1.3")
    expect(share).to_have_count(0)
    assert not {"cutoff", "cutoff_factor", "completed_share"} & as_job_file(page).keys()
    cutoff.select_option("adaptive")
    factor.fill("1.5")
    share.fill("120%")
    expect(page.locator("#field-share-that-runs-to-its-end-said .problem")).to_be_visible()
    assert violations(page) == []
    share.fill("30%")
    said = as_job_file(page)
    assert (said["cutoff"], said["cutoff_factor"], said["completed_share"]) == (
        "adaptive", 1.5, "30%",
    )  # fmt: skip
    service.post("/jobs/check", said)
    drop(page, job_yaml=yaml.safe_dump(said).encode())
    expect(share).to_have_value("30%")
    assert as_job_file(page) == said
    cutoff.select_option("none: all run to their end")
    expect(factor).to_have_count(0)
    expect(share).to_have_count(0)
    said = as_job_file(page)
    assert said["cutoff_factor"] is None and "completed_share" not in said
    service.post("/jobs/check", said)
    # What a purpose has no need of is still there for whoever has chosen it.
    purpose(page, "Design a network")
    expect(cutoff).to_have_value("null")
    cutoff.select_option("default (fixed)")
    expect(cutoff).to_have_count(0)
    form.expected = ("422",)


def test_the_form_asks_for_names_and_sizes_of_machines(service: Service, form: Window) -> None:
    page = form.page
    form.expected = ("422",)  # 16 ranks do not fit on it
    drop(page, harrier_txt=FABRIC)
    facts = page.get_by_text("3 hosts · 2 switches · 5 cables")
    expect(facts).to_be_visible()
    with page.expect_response(re.compile(r"/api/v1/machines\?")) as listed:
        page.reload()
    [machine] = [one for one in listed.value.json()["items"] if one["name"] == "harrier"]
    assert machine["network"] == {"switches": 2, "cables": 5}
    assert not [one for one in machine["machine"].values() if isinstance(one, dict | list)]
    expect(facts).to_be_visible()


def test_a_job_file_that_is_dropped_fills_the_form(form: Window) -> None:
    page = form.page
    purpose(page, "Design a network")
    drop(page, job_yaml=JOB)
    expect(page.get_by_text("job.yaml fills the form, in place of what was there.")).to_be_visible()
    expect(page.get_by_label("Job name")).to_have_value("dropped")
    expect(page.get_by_role("radio", name="All options")).to_be_checked()
    assert as_job_file(page) == SPEC | {"name": "dropped"}


def test_a_machine_file_becomes_a_stored_machine_whose_numbers_can_be_changed(
    service: Service, form: Window
) -> None:
    page = form.page
    drop(page, rack_json=json.dumps(SPEC["machine"]).encode())
    expect(page.get_by_text("rack.json: It is stored as rack")).to_be_visible()
    expect(page.get_by_label("Stored").locator("option:checked")).to_have_text("rack")
    assert service.get("/machines?limit=1")["items"][0]["machine"]["network"] == "auto"
    page.get_by_role("button", name="Change its numbers here").click()
    expect(page.get_by_label("Hosts", exact=True)).to_have_value(str(SPEC["machine"]["nodes"]))
    page.get_by_label("Host speed").fill("40Gf")
    said = as_job_file(page)
    assert said["machine"]["host_speed"] == "40Gf"
    service.post("/jobs/check", said)


def test_the_inside_of_a_host_goes_into_the_machine_at_hand(service: Service, form: Window) -> None:
    page = form.page
    drop(page, host_xml=HOST)
    expect(page.get_by_text("host.xml: 4 cores per host.")).to_be_visible()
    expect(page.get_by_label("Cores per host")).to_have_value("4")
    page.get_by_label("Host speed").fill("40Gf")
    drop(page, ring_edges=RING)
    expect(page.get_by_text("ring.edges: 4 hosts, 0 switches, 4 cables.")).to_be_visible()
    machine = page.get_by_role("region", name="Machine")
    expect(machine.get_by_text("4 cores per host · 40 Gf a core")).to_be_visible()
    drop(page, host_xml=HOST.replace(b"<object type='Core'/>", b"", 1))
    expect(page.get_by_text("host.xml: 3 cores per host. It is stored as ring")).to_be_visible()
    expect(machine.get_by_text("4 hosts · 4 cables · 3 cores per host · 40 Gf")).to_be_visible()
    form.expected = ("422",)  # 16 ranks do not fit on it


def test_an_archive_that_is_dropped_wants_to_be_told_how_it_is_built(
    service: Service, form: Window
) -> None:
    page = form.page
    drop(page, solver_tgz=sources())
    expect(page.get_by_text("solver.tgz is taken for the sources of a program.")).to_be_visible()
    for label, said in {
        "Command that builds it": "make",
        "Program and arguments": "./solver",
        "Ranks of the run": "4",
    }.items():
        page.get_by_label(label).fill(said)
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_text("with 4 ranks is chosen.")).to_be_visible()
    chosen = service.get(f"/applications/{as_job_file(page)['application']['id']}")
    assert (chosen["kind"], chosen["ranks"]) == ("source", 4)
    form.expected = ("422",)  # until it is uploaded, no program is chosen


def test_a_file_that_is_of_no_use_is_told_in_one_line(form: Window) -> None:
    page = form.page
    drop(page, holiday_jpg=b"\xff\xd8\xff\x00", ring_edges=b"0 1\n2 3\n", job_yaml=b"budget: [")
    lines = page.locator(".notice.bad .problem")
    expect(lines).to_have_count(3)
    expect(lines.first).to_have_text(
        re.compile("^holiday.jpg cannot be used here. You can drop a job file")
    )
    expect(lines.nth(1)).to_contain_text("job.yaml: not acceptable YAML")
    expect(lines.last).to_contain_text("the network is not connected")
    assert violations(page) == []
    page.get_by_role("button", name="Close").click()
    expect(lines).to_have_count(0)
    expect(page.get_by_label("Job name")).to_have_value("my-job")
    form.expected = ("400", "422")


def test_a_file_beyond_the_limit_is_not_even_sent(service: Service, form: Window) -> None:
    page = form.page
    limit = service.get("/catalogue")["limits"]["job_file"]
    drop(page, job_yaml=b"budget: {}\n" + b"#" * limit)
    line = "job.yaml has 1.0 MiB; the service takes at most 1.0 MiB."
    expect(page.get_by_text(line)).to_be_visible()


def test_files_are_opened_without_a_mouse(form: Window, tmp_path: Path) -> None:
    page = form.page
    (tmp_path / "job.yaml").write_bytes(JOB)
    page.on("filechooser", lambda _: None)  # in time: the browser is told beside what is done next
    page.get_by_label("Open files").focus()
    expect(page.get_by_label("Open files")).to_be_focused()
    with page.expect_file_chooser(timeout=PATIENCE) as chooser:
        page.keyboard.press("Enter")
    chooser.value.set_files(tmp_path / "job.yaml")
    expect(page.get_by_label("Job name")).to_have_value("dropped")
    radio = page.get_by_role("radio", name="All options")
    radio.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("radio", name="Find the best algorithms")).to_be_checked()
    form.expected = ("422",)  # there may be no program yet


def test_in_yaml_the_author_is_told_what_to_write(form: Window) -> None:
    page = form.page
    page.locator(".choice label", has_text="YAML").click()
    before = typed(page)
    drop(page, onto=".cm-content", ring_edges=RING)
    expect(page.get_by_text(re.compile(r"In the job file write machine: \{id: \w+\}\."))
           ).to_be_visible()  # fmt: skip
    assert typed(page) == before
    drop(page, onto=".cm-content", host_xml=HOST)
    expect(page.get_by_text("In the job file write cores_per_host: 4 under machine.")
           ).to_be_visible()  # fmt: skip
    drop(page, onto=".cm-content", solver_tgz=sources())
    expect(page.get_by_text("edit the job as a form, and drop the archive there")).to_be_visible()
    # The form is still that of the job file.
    assert as_job_file(page) == yaml.safe_load(before)


def test_how_much_of_a_large_file_has_gone_is_shown_and_it_can_be_stopped(
    service: Service, form: Window
) -> None:
    page = form.page
    page.route("**/api/v1/machines/files", lambda route: None)  # never goes on
    drop(page, ring_edges=RING)
    expect(page.get_by_role("progressbar", name="Sending ring.edges")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("ring.edges: The upload was stopped.")).to_be_visible()
    answer = httpx.get(f"{service.url}/healthz", timeout=SECONDS)
    assert answer.is_success


def test_an_archive_is_forgotten_with_all_else(form: Window) -> None:
    page = form.page
    source = page.get_by_role("combobox", name="Application", exact=True)
    drop(page, solver_tgz=sources())
    expect(page.locator("#upload-chosen")).to_contain_text("solver.tgz")
    page.get_by_role("button", name="Start over").click()
    expect(source).to_have_value("builtin")
    source.select_option("stored")
    expect(page.locator("#upload-chosen")).to_have_text("")
    form.expected = ("422",)  # no program is chosen


def test_a_valid_job_file_is_shown_for_each_purpose(form: Window) -> None:
    page = form.page
    search = {
        "topology": [{"family": "random", "instances": 2}, "torus-2d"],
        "ordering": ["original"],
        "mapping": ["by-order", "auto"],
    }
    same = {**SPEC, "search": search, "budget": {"trials": 7, "patience": 9}}
    drop(page, job_yaml=yaml.safe_dump(same).encode())
    preview = page.get_by_role("complementary", name="Preview of the job")
    expect(preview.get_by_text("6 configurations")).to_be_visible()
    purpose(page, "Design a network")
    expect(preview.get_by_text("6 configurations")).to_be_visible()
    assert as_job_file(page) == same


def test_a_machine_that_is_dropped_takes_a_refusal_away(form: Window) -> None:
    page = form.page
    page.get_by_label("Ranks", exact=True).fill("4")
    page.get_by_role("combobox", name="Machine", exact=True).select_option("stored")
    page.get_by_role("button", name="Create the job").click()
    expect(page.locator("#job-problems")).to_contain_text("choose one")
    expect(page.get_by_role("button", name="Create the job")).to_be_enabled()
    drop(page, ring_edges=RING)
    expect(page.get_by_text("ring.edges: 4 hosts")).to_be_visible()
    expect(page.locator("#job-problems .bad")).to_have_count(0)
    form.expected = ("422",)


def test_what_is_typed_while_a_machine_is_fetched_stays(form: Window) -> None:
    page = form.page
    drop(page, ring_edges=RING)
    button = page.get_by_role("button", name="Change its numbers here")
    expect(button).to_be_visible()
    held: list[Route] = []
    page.route(re.compile(r"/api/v1/machines/\w+$"), lambda route: held.append(route))
    with page.expect_request(re.compile(r"/api/v1/machines/\w+$")):
        button.click()
    page.get_by_label("Job name").fill("typed meanwhile")
    held[0].continue_()
    expect(page.get_by_label("Hosts", exact=True)).to_have_value("4")
    expect(page.get_by_label("Job name")).to_have_value("typed meanwhile")
    # A stored machine that is chosen now has nothing of the network that was described.
    page.get_by_role("combobox", name="Machine", exact=True).select_option("stored")
    assert set(as_job_file(page)["machine"]) == {"id"}
    form.expected = ("422",)  # 16 ranks do not fit on it


def test_a_job_file_on_a_machine_with_a_network_asks_for_no_other(
    service: Service, form: Window
) -> None:
    page = form.page
    ring = {"edges": [[0, 1], [1, 2], [2, 3], [3, 0]]}
    described = {"nodes": 4, "host_speed": 1e9, "link_bandwidth": 1e9, "topology": ring}
    machine = service.post("/machines", {"name": "ring of four", "machine": described})
    page.reload()
    document = {**SPEC, "machine": {"id": machine["id"]}, "search": {"mpi": ["ompi"]}}
    drop(page, job_yaml=yaml.safe_dump(document).encode())
    expect(page.get_by_label("Stored").locator("option:checked")).to_have_text("ring of four")
    for gone in ("Network topologies", "Objective", "Degree (links per host)"):
        expect(page.get_by_text(gone)).to_have_count(0)
    form.expected = ("422",)  # 16 ranks do not fit on it


def test_who_leaves_while_a_file_is_sent_stops_it(form: Window) -> None:
    page = form.page
    page.route("**/api/v1/machines/files", lambda route: None)  # never goes on
    drop(page, ring_edges=RING)
    expect(page.get_by_role("progressbar", name="Sending ring.edges")).to_be_visible()
    with page.expect_event("requestfailed", lambda one: one.url.endswith("/machines/files")):
        page.get_by_role("link", name="Jobs", exact=True).click()
    page.get_by_role("link", name="New job").first.click()
    expect(page.get_by_role("combobox", name="Machine", exact=True)).to_have_value("described")


def test_an_answer_that_is_none_of_the_service_is_told(form: Window) -> None:
    page = form.page
    page.route("**/api/v1/machines/files", lambda route: route.fulfill(body="<html>Log in"))
    drop(page, ring_edges=RING)
    expect(page.get_by_text("ring.edges: The answer is not one of Hamtune.")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_have_count(0)


def test_a_program_that_is_uploaded_is_measured_first_and_can_be_stopped(
    form: Window, pair: bytes
) -> None:
    page = form.page

    def smaller(route: Route) -> None:
        answer = route.fetch()
        catalogue = answer.json()
        catalogue["limits"]["program"] = len(pair)
        route.fulfill(response=answer, json=catalogue)

    page.route("**/api/v1/catalogue", smaller)
    page.route("**/api/v1/applications", lambda route: None)  # never goes on
    page.reload()
    page.get_by_role("combobox", name="Application", exact=True).select_option("stored")
    page.get_by_text("Upload another").click()
    field = page.locator("#upload-file")
    upload = page.get_by_role("button", name="Upload", exact=True)
    field.set_input_files({"name": "a.ht", "mimeType": "", "buffer": pair + b"x"})
    upload.click()
    expect(page.get_by_text("; the service takes at most")).to_be_visible()
    field.set_input_files({"name": "a.ht", "mimeType": "", "buffer": pair})
    upload.click()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("The upload was stopped.")).to_be_visible()
    form.expected = ("422",)  # no program is chosen
