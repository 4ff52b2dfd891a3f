"""Zooming and panning in networks and heat maps; configurations under the mouse and the keys."""

from __future__ import annotations

import csv
import re
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.service.page.conftest import PATIENCE, SECONDS, SPEC, Service, Window, violations
from tests.service.page.test_charts import saved

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def drawn(service: Service) -> dict[str, Any]:
    """A job that has completed."""
    job = service.post("/jobs", {**SPEC, "name": "zoomed into", "seed": 6})
    httpx.get(f"{service.url}/api/v1/jobs/{job['id']}/events", timeout=SECONDS).raise_for_status()
    return dict(service.get(f"/jobs/{job['id']}"))


def shown(picture: Locator) -> list[float]:
    """Corner and size of the part of a drawing that is shown, in parts of the whole."""
    box = picture.locator("canvas").get_attribute("data-view")
    assert box is not None
    return [float(number) for number in box.split()]


def until_shown(page: Page, picture: Locator, wanted: Callable[[list[float]], bool]) -> list[float]:
    """The part of a drawing once it is what is wanted: it is painted with the next frame."""
    end = time.monotonic() + PATIENCE / 1000
    box = shown(picture)
    while not wanted(box):
        assert time.monotonic() < end, f"the drawing stays at {box}"
        page.evaluate("() => new Promise(requestAnimationFrame)")
        box = shown(picture)
    return box


def rows(page: Page, name: str) -> list[dict[str, str]]:
    """The table that a picture saves."""
    _, table = saved(page, page.get_by_role("group", name=name), "CSV")
    return list(csv.DictReader(table.decode().splitlines()))


def drag(
    page: Page, picture: Locator, start: tuple[float, float], end: tuple[float, float]
) -> None:
    """Drag over a picture, between places told in parts of it."""
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    assert box is not None
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (start, end)]
    page.mouse.move(*places[0])
    page.mouse.down()
    page.mouse.move(*places[1], steps=4)
    page.mouse.up()


def test_a_network_is_zoomed_and_panned_by_mouse_and_what_is_shown_is_saved(
    service: Service, drawn: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/jobs/{drawn['id']}/best").page
    network = page.get_by_role("application", name=re.compile("^Best: trial"))
    group = f"Save {drawn['id']}-network-Best"
    whole, every = shown(network), rows(page, group)
    assert page.get_by_role("button", name="Show all: Best").is_disabled()
    drag(page, network, (0.1, 0.1), (0.4, 0.4))
    near = until_shown(page, network, lambda box: box[2] < whole[2])
    assert near[2] == pytest.approx(0.3 * whole[2], rel=0.05)
    assert 0 < len(rows(page, group)) < len(every)
    page.keyboard.down("Shift")
    drag(page, network, (0.8, 0.5), (0.2, 0.5))
    page.keyboard.up("Shift")
    panned = until_shown(page, network, lambda box: box[0] > near[0])
    assert panned[2] == pytest.approx(near[2])
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    nearer = until_shown(page, network, lambda box: box[2] < panned[2])
    page.get_by_role("button", name="Zoom out: Best").click()
    until_shown(page, network, lambda box: box[2] > nearer[2])
    page.get_by_role("button", name="Show all: Best").click()
    assert until_shown(page, network, lambda box: box[2] == whole[2]) == whole
    assert len(rows(page, group)) == len(every)


def test_keys_zoom_pan_and_show_all(
    service: Service, drawn: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/jobs/{drawn['id']}/best").page
    network = page.get_by_role("application", name=re.compile("^Best: trial"))
    whole = shown(network)
    network.focus()
    page.keyboard.press("+")
    page.keyboard.press("+")
    near = until_shown(page, network, lambda box: box[2] < whole[2] / 1.5)
    page.keyboard.press("ArrowLeft")
    until_shown(page, network, lambda box: box[0] < near[0])
    page.keyboard.press("0")
    until_shown(page, network, lambda box: box == whole)
    # Two clicks before the next frame zoom twice.
    page.get_by_role("button", name=re.compile("^Zoom in: Best")).evaluate(
        "button => { button.click(); button.click(); }"
    )
    until_shown(page, network, lambda box: box[2] < whole[2] / 1.5)
    network.focus()
    page.keyboard.press("0")
    until_shown(page, network, lambda box: box == whole)
    # Cells of a heat map are told under the mouse, and only those in view are saved.
    heat = page.get_by_role("application", name=re.compile("^Before: "))
    group = f"Save {drawn['id']}-traffic-Before"
    every = rows(page, group)
    heat.focus()
    for _ in range(4):
        page.keyboard.press("+")
    for _ in range(12):
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowUp")
    expect(page.get_by_role("button", name="Show all: Before")).to_be_enabled()
    heat.get_by_role("img").hover(position={"x": 3, "y": 3})
    expect(page.get_by_text(re.compile("^hosts? 0( to [0-9]+)? to hosts? 0"))).to_be_visible()
    few = rows(page, group)
    assert 0 < len(few) < len(every)
    assert max(int(row["from"]) for row in few) < max(int(row["from"]) for row in every)
    assert violations(page) == []


class Fingers:
    """Fingers on the screen, as Chromium's own protocol tells them."""

    def __init__(self, page: Page) -> None:
        self.session = page.context.new_cdp_session(page)

    def tell(self, kind: str, *places: tuple[float, float]) -> None:
        """Where they are now."""
        points = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(places)]
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def test_two_fingers_zoom_and_one_pans_on_a_phone(
    service: Service, drawn: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    page = open_page(f"{service.url}/#/jobs/{drawn['id']}/best", **phone).page
    page.wait_for_load_state("networkidle")  # what comes late moves what is below it
    network = page.get_by_role("application", name=re.compile("^Best: trial"))
    network.evaluate("picture => picture.scrollIntoView({ block: 'center' })")
    network.tap(trial=True)  # waits until it moves no more and nothing lies over it
    box = network.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    whole = shown(network)
    fingers = Fingers(page)
    fingers.tell("touchStart", (x - 30, y), (x + 30, y))
    fingers.tell("touchMove", (x - 60, y), (x + 60, y))
    near = until_shown(page, network, lambda shown: shown[2] < 0.6 * whole[2])
    assert near[2] == pytest.approx(whole[2] / 2, rel=0.02)
    fingers.tell("touchEnd")
    fingers.tell("touchStart", (x, y))
    fingers.tell("touchMove", (x - 50, y))
    panned = until_shown(page, network, lambda shown: shown[0] > near[0])
    assert panned[2] == pytest.approx(near[2])
    fingers.tell("touchEnd")
    assert page.evaluate("visualViewport.scale") == 1  # the page itself has not moved


def test_a_convergence_is_zoomed_by_fingers_and_buttons(
    service: Service, drawn: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    page = open_page(f"{service.url}/#/jobs/{drawn['id']}", **phone).page
    over = page.locator(".chart .u-over")
    over.evaluate("chart => chart.scrollIntoView({ block: 'center' })")
    box = over.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    group = f"Save {drawn['id']}-convergence"
    every = rows(page, group)
    all_of_it = page.get_by_role("button", name="Show all: the convergence")
    expect(all_of_it).to_be_disabled()
    fingers = Fingers(page)
    fingers.tell("touchStart", (x - 30, y), (x + 30, y))
    fingers.tell("touchMove", (x - 60, y), (x + 60, y))
    fingers.tell("touchEnd")
    expect(all_of_it).to_be_enabled()
    assert 0 < len(rows(page, group)) < len(every)
    all_of_it.click()
    expect(all_of_it).to_be_disabled()
    assert len(rows(page, group)) == len(every)
    page.get_by_role("button", name="Zoom in: the convergence").click()
    expect(all_of_it).to_be_enabled()


def test_the_comparison_tells_configurations_under_the_keys_and_the_mouse(
    service: Service, drawn: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    other = service.post("/jobs", {**SPEC, "name": "beside it", "seed": 7})
    httpx.get(f"{service.url}/api/v1/jobs/{other['id']}/events", timeout=SECONDS)
    [first, second] = service.get(f"/curves?job={drawn['id']}&job={other['id']}")["items"]
    page = open_page(f"{service.url}/#/compare?jobs={drawn['id']},{other['id']}").page
    chart = page.get_by_role("application")
    expect(chart.locator(".u-over")).to_be_visible()
    chart.focus()
    page.keyboard.press("Home")
    tip = page.locator(".tip")
    expect(tip).to_contain_text(f"Trial {first['trial'][0]} ")
    expect(tip).to_contain_text(re.compile("alltoall [a-z]"))
    expect(page.get_by_role("status")).to_contain_text("zoomed into, Trial")
    expect(page.get_by_role("status")).to_contain_text(re.compile("; .*mpi [a-z]"))
    assert violations(page) == []
    page.keyboard.press("ArrowDown")
    expect(tip).to_contain_text("beside it")
    page.keyboard.press("Home")
    expect(tip).to_contain_text(f"Trial {second['trial'][0]} ")
    mark = page.locator(".ring-mark").bounding_box()
    assert mark is not None
    page.keyboard.press("Escape")
    expect(tip).to_have_count(0)
    # The first trial lies on the edge of the chart.
    page.mouse.move(mark["x"] + mark["width"] / 2 + 3, mark["y"] + mark["height"] / 2)
    expect(tip).to_contain_text(re.compile("mpi [a-z]"))
    page.mouse.down()
    page.mouse.up()
    expect(page.locator(".drawer")).to_be_visible()


def test_parallel_coordinates_tell_configurations_under_the_keys_and_the_mouse(
    service: Service, drawn: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/jobs/{drawn['id']}/space").page
    chart = page.get_by_role("application", name=re.compile("^Parallel coordinates"))
    expect(chart).to_be_visible()
    expect(chart.get_by_title("simulated time")).to_have_count(1)  # in whole, if it is cut
    chart.focus()
    page.keyboard.press("ArrowUp")
    tip = page.locator(".tip")
    best = service.get(f"/jobs/{drawn['id']}")["progress"]["best"]
    heard = page.get_by_role("status").filter(has_text=re.compile("^Trial"))
    expect(heard).to_have_count(1)
    [fastest] = re.findall(r"Trial (\d+)", heard.inner_text())
    trial = service.get(f"/jobs/{drawn['id']}/trials/{fastest}")
    assert trial["value"] == best["value"]
    expect(tip).to_contain_text(f"mpi {trial['configuration']['mpi']}")
    assert violations(page) == []
    page.keyboard.press("ArrowDown")
    expect(tip).not_to_contain_text(f"Trial {fastest} ")
    page.keyboard.press("Escape")
    expect(tip).to_have_count(0)
    area = page.locator(".layers .brushed")
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    assert box is not None
    for share in range(40):  # between the first two axes some line crosses
        page.mouse.move(box["x"] + 115, box["y"] + 34 + 292 * share / 40)
        page.evaluate("() => new Promise(requestAnimationFrame)")
        if tip.count():
            break
    expect(tip).to_contain_text(re.compile("Trial [0-9]+ completed"))
    page.mouse.down()
    page.mouse.up()
    expect(page.locator(".drawer")).to_be_visible()
