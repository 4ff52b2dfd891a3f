"""The views of a job that has ended: charts, keys, mouse, phone and files."""

from __future__ import annotations

import re
import time
import zipfile
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.service.page.conftest import PATIENCE, SECONDS, SPEC, Service, Window, violations

expect.set_options(timeout=PATIENCE)


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


def test_the_best_of_a_long_job_is_compared_with_every_baseline(
    service: Service, ended: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    columns = service.get(f"/jobs/{ended['id']}/table")["columns"]
    kinds = [columns["kind"]["values"][code] for code in columns["kind"]["codes"]]
    completed = columns["state"]["values"].index("completed")
    baselines = {
        str(number): value
        for number, value, kind, state in zip(
            columns["number"], columns["value"], kinds, columns["state"]["codes"], strict=True
        )
        if kind == "baseline" and state == completed
    }
    assert len(baselines) > 2

    page = open_page("about:blank").page
    # The job has few trials, so a smaller sample makes it a long one.
    page.route(
        "**/table?*points=*",
        lambda route: route.continue_(url=re.sub(r"points=\d+", "points=2", route.request.url)),
    )
    page.goto(f"{service.url}/#/jobs/{ended['id']}/best")
    rivals = page.get_by_label("Compare with")
    expect(rivals).to_have_value(min(baselines, key=lambda number: baselines[number]))
    numbers = rivals.locator("option").evaluate_all("(all) => all.map((one) => one.value)")
    assert sorted(numbers) == sorted(baselines)


def test_time_is_shown_over_cost_power_and_energy(
    service: Service, ended: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/jobs/{ended['id']}/best").page
    rows = page.get_by_role("region", name="Trials that no other one beats").locator("tbody tr")
    for by, title in _TITLES.items():
        front = service.get(f"/jobs/{ended['id']}/front?by={by}")
        page.get_by_label("Time against").select_option(by)
        expect(page.get_by_role("heading", name=title)).to_be_visible()
        expect(rows).to_have_count(len(front["points"]))
        numbers = [str(one["trial"]) for one in front["points"]]
        assert rows.get_by_role("rowheader").all_inner_texts() == numbers
        expect(page.get_by_role("img", name=f"Simulated time over {_WEIGHED[by]}")).to_be_visible()
    assert violations(page) == []
    rows.first.get_by_role("link").click()
    expect(page.get_by_role("complementary", name=f"Trial {numbers[0]}")).to_be_visible()


_TITLES = {"cost": "Time and cost", "power": "Time and power", "energy": "Time and energy"}
_WEIGHED = {"cost": "cost", "power": "watts", "energy": "joules"}


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

    slow = page.get_by_text("the order can agree but the times cannot")
    expect(slow).to_have_count(0)
    for number in range(3):
        slower = {"seconds": 20 * best["value"], "doubts": []}
        place = {"label": f"emulated {number}", "cluster": "bluebird", "outcomes": [slower]}
        service.post(f"/jobs/{ended['id']}/measured", place | {"simulated": best["value"]})
    page.reload()
    expect(slow).to_have_text(re.compile("Simulated times are 0.050 of the measured ones"))


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
    expect(drawer.get_by_text("The same result again")).to_be_visible()
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
    # What is dragged out of the chart ends in no click; the next one is one on a trial.
    box = page.locator(".chart .u-over").bounding_box()
    assert box is not None
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] - 60, steps=3)
    page.mouse.up()
    page.keyboard.up("Shift")
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
        page.get_by_role("button", name="csv", exact=True).click()
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
    page.get_by_label("the nearest choice").check()
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


def test_an_export_tells_of_what_a_library_does_not_run(
    service: Service, ended: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    exports = f"/jobs/{ended['id']}/exports"
    manifest = next(
        found
        for library in ("openmpi", "mpich", "mvapich2", "intelmpi")
        if (found := service.get(f"{exports}/{library}?name=export.json"))["unlike"]
    )
    for width in (1200, 360):
        window = open_page(
            f"{service.url}/#/jobs/{ended['id']}/best", viewport={"width": width, "height": 800}
        )
        page = window.page
        region = page.get_by_role("region", name="Export")
        button = region.get_by_role("button", name=manifest["format"], exact=True)
        with page.expect_download():
            button.click()
        warning = region.get_by_role("status").filter(has_text="does not run all that was simulat")
        expect(warning).to_contain_text("Choose a target MPI library")

        page.get_by_label("Target MPI library").select_option(manifest["target"])
        button.click()
        refused = region.get_by_role("alert")
        expect(refused).to_contain_text("ask for it with the checkbox “the nearest choice")
        expect(refused).not_to_contain_text("nearest=true")
        expect(warning).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth") <= width

        page.get_by_label("Names of the hosts").fill("-".join(["host"] * 200))
        button.click()
        expect(refused).to_contain_text("hosts")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert violations(page) == []
        window.expected = ("409", "422")

    best = ended["progress"]["best"]["trial"]
    page = open_page(f"{service.url}/#/jobs/{ended['id']}/convergence?trial={best}").page
    drawer = page.get_by_role("complementary", name=f"Trial {best}")
    drawer.get_by_label("Format").select_option(manifest["format"])
    with page.expect_download():
        drawer.get_by_role("button", name="Export this trial").click()
    expect(drawer.get_by_role("status").filter(has_text="does not run all")).to_be_visible()


@pytest.mark.parametrize("is_phone", [True, False])
def test_charts_say_how_they_are_moved_by_what_there_is(
    service: Service, ended: dict[str, Any], open_page: Callable[..., Window], is_phone: bool
) -> None:
    phone = {"has_touch": True, "is_mobile": True} if is_phone else {}
    page = open_page(f"{service.url}/#/jobs/{ended['id']}/convergence", **phone).page
    said, unsaid = page.get_by_text("Two fingers zoom"), page.get_by_text("Drag to zoom")
    expect(said if is_phone else unsaid).to_be_visible()
    expect(unsaid if is_phone else said).to_be_hidden()


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
