"""Charts: saved as vectors, pixels and tables; zoomed, panned and looked at with the mouse."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.service.page.conftest import PATIENCE, SECONDS, SPEC, Service, Window, violations

expect.set_options(timeout=PATIENCE)

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def drawn(service: Service) -> dict[str, Any]:
    """A job that has completed, whose name must not be read as markup."""
    job = service.post("/jobs", {**SPEC, "name": 'drawn <b> & "co"', "seed": 5})
    httpx.get(f"{service.url}/api/v1/jobs/{job['id']}/events", timeout=SECONDS).raise_for_status()
    return dict(service.get(f"/jobs/{job['id']}"))


def saved(page: Page, group: Locator, kind: str) -> tuple[str, bytes]:
    """Name and content of what a button of a chart saves."""
    with page.expect_download() as download:
        group.get_by_role("button", name=f"Save {kind}").click()
    return download.value.suggested_filename, download.value.path().read_bytes()


def texts(drawing: bytes) -> list[str]:
    """What an SVG says, which has to be XML for that."""
    return [one.text or "" for one in ElementTree.fromstring(drawing).iter(f"{SVG}text")]


def numbers(page: Page, group: Locator) -> list[int]:
    """Of the trials that the table of a convergence has: those in view."""
    _, table = saved(page, group, "CSV")
    return [int(row["trial"]) for row in csv.DictReader(table.decode().splitlines())]


def test_a_convergence_is_saved_as_vectors_in_light_whatever_the_page_is(
    service: Service, drawn: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/jobs/{drawn['id']}", color_scheme="dark").page
    page.locator("label").filter(has_text=re.compile("^log$")).click()
    group = page.get_by_role("group", name=f"Save {drawn['id']}-convergence")
    name, drawing = saved(page, group, "SVG")
    assert name == f"{drawn['id']}-convergence.svg"
    said = texts(drawing)
    assert said[0] == 'drawn <b> & "co": simulated time by trial'
    assert {"trial", "simulated time", "best so far", "baseline", "Surrogate"} <= set(said)
    baselines = service.get(f"/jobs/{drawn['id']}/convergence")["baselines"]
    fastest = min(baselines, key=baselines.__getitem__)
    assert any(text.startswith(f"{fastest} ") for text in said)
    root = ElementTree.fromstring(drawing)
    assert root.find(f"{SVG}image") is None  # vectors, no pixels
    ground = root.find(f"{SVG}g")
    assert ground is not None
    assert ground.attrib["fill"] == "#ffffff"
    _, picture = saved(page, group, "PNG")
    assert picture.startswith(b"\x89PNG")
    assert page.evaluate("document.documentElement.dataset.theme") in (None, "dark")


def test_what_is_zoomed_is_what_is_saved(
    service: Service, drawn: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/jobs/{drawn['id']}").page
    group = page.get_by_role("group", name=f"Save {drawn['id']}-convergence")
    every = numbers(page, group)
    whole = len(saved(page, group, "SVG")[1])
    box = page.locator(".chart .u-over").bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.5, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.8, middle, steps=4)
    page.mouse.up()
    zoomed = numbers(page, group)
    assert 0 < len(zoomed) < len(every)
    assert len(saved(page, group, "SVG")[1]) < whole
    # Shift and dragging to the right shows what comes before.
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + box["width"] * 0.2, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.7, middle, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    panned = numbers(page, group)
    assert panned[0] < zoomed[0]
    assert abs(len(panned) - len(zoomed)) <= 1
    expect(page.locator(".drawer")).to_have_count(0)  # it was no click on a trial
    page.mouse.dblclick(box["x"] + box["width"] / 2, middle)
    assert numbers(page, group) == every


def test_a_click_opens_a_trial_and_a_double_click_shows_all(
    service: Service, drawn: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/jobs/{drawn['id']}").page
    group = page.get_by_role("group", name=f"Save {drawn['id']}-convergence")
    every = numbers(page, group)
    page.locator(".chart").first.focus()
    page.keyboard.press("+")
    assert len(numbers(page, group)) < len(every)

    page.mouse.dblclick(*last_mark(page))
    assert numbers(page, group) == every
    page.wait_for_timeout(500)  # longer than a first click waits for a second
    expect(page.locator(".drawer")).to_have_count(0)

    page.mouse.click(*last_mark(page))
    expect(page.locator(".drawer")).to_have_count(1)


def last_mark(page: Page) -> tuple[float, float]:
    """Where a mark at the right edge of the chart lies: the mouse is told of a trial there."""
    over = page.locator(".chart .u-over").first
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    assert box is not None
    right = box["x"] + box["width"] - 2
    for down in range(0, int(box["height"]), 16):
        page.mouse.move(right, box["y"] + down)
        page.wait_for_timeout(50)  # it is looked for once in a frame
        if page.locator(".tip").first.is_visible():
            return right, box["y"] + down
    raise AssertionError("no mark at the right edge")


def test_keys_and_the_wheel_zoom_as_well(
    service: Service, drawn: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/jobs/{drawn['id']}").page
    group = page.get_by_role("group", name=f"Save {drawn['id']}-convergence")
    every = numbers(page, group)
    page.locator(".chart").focus()
    page.keyboard.press("+")
    page.keyboard.press("+")
    assert len(numbers(page, group)) < len(every)
    page.locator(".chart").focus()
    page.keyboard.press("0")
    assert numbers(page, group) == every
    page.locator(".chart .u-over").hover()
    page.keyboard.down("Control")
    for _ in range(4):
        page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    expect(page.locator("html")).to_have_count(1)
    assert len(numbers(page, group)) < len(every)


def test_what_is_zoomed_stays_while_trials_come(
    service: Service, drawn: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    passes = 6
    service.valve.shut(passes)
    machine = {**SPEC["machine"], "link_bandwidth": "41Gbps"}  # which no cache knows
    job = service.post("/jobs", {**SPEC, "name": "zoomed", "machine": machine})
    page = open_page(f"{service.url}/#/jobs/{job['id']}").page
    # All that pass are there, so that nothing moves what is clicked.
    expect(page.locator("table.trials tbody tr")).to_have_count(passes)
    group = page.get_by_role("group", name=f"Save {job['id']}-convergence")
    page.locator(".chart").focus()
    page.keyboard.press("+")
    page.keyboard.press("+")
    zoomed = numbers(page, group)
    service.valve.open()
    expect(page.locator(".job-title .state-completed")).to_be_visible()
    shown = numbers(page, group)
    assert set(zoomed) <= set(shown)
    assert max(shown) < service.get(f"/jobs/{job['id']}")["progress"]["finished"] / 2


def test_the_configuration_is_told_where_the_mouse_is(
    service: Service, drawn: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/jobs/{drawn['id']}/space").page
    figure = page.locator("figure").filter(has=page.get_by_text("topology", exact=True))
    canvas = figure.get_by_role("img")
    # What comes above the picture moves it.
    expect(page.get_by_text("R² on trials left out")).to_be_visible()
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box is not None
    tip = figure.locator(".tip")
    for step in range(60 * 12):  # somewhere in the picture lies a trial
        across, down = step % 60, step // 60
        page.mouse.move(
            box["x"] + 58 + (box["width"] - 60) * across / 60, box["y"] + 136 * (down + 0.5) / 12
        )
        page.evaluate("new Promise(requestAnimationFrame)")  # it is painted in the next frame
        if tip.count():
            break
    expect(tip).to_contain_text("Trial")
    expect(tip).to_contain_text(re.compile("topology (random|torus-2d)"))
    expect(tip).to_contain_text(re.compile("alltoall [a-z]"))


def test_the_tip_stays_at_its_trial_when_the_chart_is_zoomed(
    service: Service, drawn: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/jobs/{drawn['id']}/convergence").page
    chart = page.get_by_role("application", name=re.compile("Convergence"))
    ring = chart.locator(".ring-mark")

    def place() -> float:
        page.evaluate("new Promise((seen) => requestAnimationFrame(() => setTimeout(seen)))")
        box = ring.bounding_box()
        assert box is not None
        return box["x"]

    chart.focus()
    for key in ("Home", "+", "+", "+", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(ring).to_be_visible()
    near = place()
    page.keyboard.press("0")
    expect(page.get_by_role("button", name="Show all: the convergence")).to_be_disabled()
    far = place()
    assert far < near
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert place() == pytest.approx(far, abs=0.5)


@pytest.mark.parametrize(
    ("tab", "whats"),
    [
        ("convergence", ["convergence"]),
        ("space", ["parameters", "importance"]),
        (
            "best",
            ["network-Best", "traffic-Before", "traffic-After", "Host of each rank", "rank-times"],
        ),
        ("workers", ["workers"]),
    ],
)
def test_every_chart_is_saved(
    service: Service,
    drawn: dict[str, Any],
    open_page: Callable[..., Window],
    tab: str,
    whats: list[str],
) -> None:
    page = open_page(f"{service.url}/#/jobs/{drawn['id']}/{tab}").page
    for what in whats:
        group = page.get_by_role("group", name=f"Save {drawn['id']}-{what}").first
        _, drawing = saved(page, group, "SVG")
        root = ElementTree.fromstring(drawing)
        assert len(list(root.iter())) > 10, what
        # The browser drops what comes after ten downloads in a row.
        _, table = saved(page, group, "CSV")
        assert len(list(csv.reader(table.decode().splitlines()))) > 1, what
    assert violations(page) == []


def test_single_parameters_hops_and_comparisons_are_saved(
    service: Service, drawn: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/jobs/{drawn['id']}/space").page
    figure = page.locator("figure").filter(has=page.get_by_text("topology", exact=True))
    figure.get_by_text("Fastest of each value").click()
    name, drawing = saved(page, figure.get_by_role("group"), "SVG")
    assert name == f"{drawn['id']}-topology.svg"
    assert {"random", "torus-2d"} <= set(texts(drawing))
    page = open_page(f"{service.url}/#/jobs/{drawn['id']}/best").page
    _, table = saved(page, page.get_by_role("group", name=f"{drawn['id']}-hops"), "CSV")
    assert table.startswith(b"configuration,hops,pairs,bytes\r\nbest,")
    page = open_page(f"{service.url}/#/compare?jobs={drawn['id']}").page
    group = page.get_by_role("group", name="Save comparison")
    _, drawing = saved(page, group, "SVG")
    assert drawn["name"] in texts(drawing)
    every = numbers(page, group)
    times = page.locator(".u-over").element_handle()
    page.locator("label").filter(has_text="gain over its best baseline").click()
    page.wait_for_function("chart => !chart.isConnected", arg=times)  # another takes its place
    expect(page.locator(".u-over")).to_be_visible()
    box = page.locator(".u-over").bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.4, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.9, middle, steps=4)
    page.mouse.up()
    assert set(numbers(page, group)) < set(every)
    _, table = saved(page, group, "CSV")
    rows = list(csv.DictReader(table.decode().splitlines()))
    assert "best_seconds" not in rows[0]
    [curve] = service.get(f"/curves?job={drawn['id']}")["items"]
    best = dict(zip(curve["trial"], curve["best"], strict=True))
    for row in rows:
        gain = (curve["baseline"] / best[int(row["trial"])] - 1) * 100
        assert float(row["gain_percent"]) == pytest.approx(gain)


def test_the_front_and_the_proximity_are_saved(
    service: Service, drawn: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/jobs/{drawn['id']}/best").page
    group = page.get_by_role("group", name=f"Save {drawn['id']}-front")
    _, drawing = saved(page, group, "SVG")
    assert {"trials that no other trial beats in both", "simulated"} <= set(texts(drawing))
    _, table = saved(page, group, "CSV")
    rows = list(csv.DictReader(table.decode().splitlines()))
    front = service.get(f"/jobs/{drawn['id']}/front")
    found = [(int(row["trial"]), float(row["cost"])) for row in rows if row["kind"] == "front"]
    assert found == [(point["trial"], point["cost"]) for point in front["points"]]
    page = open_page(f"{service.url}/#/jobs/{drawn['id']}").page
    page.get_by_text("Proximity C(n)").click()
    group = page.get_by_role("group", name=f"Save {drawn['id']}-proximity")
    _, drawing = saved(page, group, "SVG")
    assert "proximity C(n)" in texts(drawing)
    _, table = saved(page, group, "CSV")
    rows = list(csv.DictReader(table.decode().splitlines()))
    assert float(rows[-1]["proximity"]) == 1.0


def test_of_networks_that_cost_the_same_the_fastest_is_drawn(
    service: Service, drawn: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    address = f"/jobs/{drawn['id']}/front"
    front = service.get(address)
    best = min(front["points"], key=lambda one: one["value"])
    dear = {**best, "cost": 2 * max(one["cost"] for one in front["points"])}
    slower = [{**dear, "trial": 100 + n, "value": (2 + n) * dear["value"]} for n in range(3)]
    cheap = {**dear, "trial": 200, "cost": best["cost"], "value": 9 * dear["value"]}
    told = {**front, "points": [dear], "others": slower, "baselines": [cheap]}
    window = open_page(f"{service.url}/#/jobs")
    window.page.route(f"**/api/v1{address}*", lambda route: route.fulfill(json=told))
    window.page.goto(f"{service.url}/#/jobs/{drawn['id']}/best")
    expect(window.page.get_by_text("Large point: the trial that no other")).to_be_visible()
    group = window.page.get_by_role("group", name=f"Save {drawn['id']}-front")
    _, drawing = saved(window.page, group, "SVG")
    dots = re.findall(r"A(\d) \1 0 0 1 [\d.]+ [\d.]+A", drawing.decode())
    # Each is a circle, filled and stroked: the large one of the front, those of others, a baseline.
    assert {size: dots.count(size) for size in "423"} == {"4": 2, "2": 6, "3": 2}


def test_what_more_trials_would_bring_stands_below_the_convergence(
    service: Service, drawn: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/jobs/{drawn['id']}").page
    outlook = service.get(f"/jobs/{drawn['id']}/outlook")
    if outlook["last"] is None:
        expect(page.get_by_text(f"not known: {outlook['unknown']}")).to_be_visible()
    job = service.post("/jobs", {**SPEC, "name": "outlook", "budget": {"trials": 60}})
    httpx.get(f"{service.url}/api/v1/jobs/{job['id']}/events", timeout=SECONDS).raise_for_status()
    last = service.get(f"/jobs/{job['id']}/outlook")["last"]
    assert service.get(f"/jobs/{job['id']}")["progress"]["outlook"] == last
    page = open_page(f"{service.url}/#/jobs/{job['id']}").page
    expect(
        page.get_by_text(f"This is what the search expected at trial {last['trial']}.")
    ).to_be_visible()
    page.get_by_text("Outlook by trial").click()
    group = page.get_by_role("group", name=f"Save {job['id']}-outlook")
    _, drawing = saved(page, group, "SVG")
    assert "outlook: what more trials would bring" in texts(drawing)
    _, table = saved(page, group, "CSV")
    rows = list(csv.DictReader(table.decode().splitlines()))
    assert int(rows[-1]["trial"]) == last["trial"]
    assert violations(page) == []
