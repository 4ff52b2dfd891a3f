"""How smoothly the page of a long job moves: milliseconds between two frames."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Browser, Locator, Page

from benchmarks.page.made import window

__all__ = ["smooth", "zooms"]

LEFT, RIGHT = 46, 72  # of the parallel coordinates, beside the first and the last axis, pixels

FRAMES = """
() => {
  window.frame_gaps = [];
  let last = 0;
  const next = (now) => {
    if (last) window.frame_gaps.push(now - last);
    last = now;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}
"""


def scrolled(page: Page) -> None:
    """Scroll to the end of the page and back."""
    page.mouse.move(640, 450)
    for step in range(60):
        page.mouse.wheel(0, 160 if step < 30 else -160)
        page.wait_for_timeout(16)


def walked(page: Page) -> None:
    """Move over the curve, zoom into it and out again."""
    box = page.locator(".chart .u-over").bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    for step in range(60):
        page.mouse.move(box["x"] + box["width"] * step / 60, middle + 60 * (step % 2))
    page.mouse.move(box["x"] + box["width"] * 0.3, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, middle, steps=10)
    page.mouse.up()
    page.wait_for_timeout(200)
    page.mouse.dblclick(box["x"] + box["width"] * 0.5, middle)
    page.wait_for_timeout(200)
    page.keyboard.press("Escape")


def brushed(page: Page) -> None:
    """Drag along three axes of the parallel coordinates, and take the brushes away."""
    area = page.locator(".layers .brushed")
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    assert box is not None
    last = page.locator(".axis-filters select").count()  # the time has an axis and no field
    for axis in (0, last // 2, last):
        x = box["x"] + LEFT + (box["width"] - LEFT - RIGHT) * axis / last
        page.mouse.move(x, box["y"] + 40)
        page.mouse.down()
        for step in range(40):
            page.mouse.move(x, box["y"] + 45 + 6 * step)
        page.mouse.up()
        page.wait_for_timeout(150)
    page.get_by_role("button", name="Choose all").click()
    page.wait_for_timeout(300)


def paged(page: Page) -> None:
    """Turn the pages of the list of trials, and sort it."""
    for _ in range(5):
        page.get_by_role("button", name="Next").click()
        page.wait_for_timeout(60)
    page.get_by_label("Order").select_option("fastest")
    page.wait_for_timeout(100)


def frames(page: Page, act: Callable[[Page], None]) -> list[float]:
    """Milliseconds between the frames while something is done."""
    page.evaluate("window.frame_gaps.length = 0")
    act(page)
    gaps: list[float] = page.evaluate("window.frame_gaps")
    return gaps


def smooth(browser: Browser, address: str) -> dict[str, list[float]]:
    """Milliseconds between frames, by what is done with the page of a long job."""
    found: dict[str, list[float]] = {}
    with window(browser) as page:
        page.add_init_script(f"({FRAMES})()")
        page.goto(address)
        page.locator("table.trials tbody tr").first.wait_for()
        page.wait_for_timeout(1000)
        for act in (scrolled, walked, paged):
            found[act.__name__] = frames(page, act)
        page.get_by_role("link", name="Parameters").click()
        page.locator(".axis-filters select").first.wait_for()
        page.get_by_text("R² on trials left out").wait_for()
        page.wait_for_timeout(500)
        found["parameters scrolled"] = frames(page, scrolled)
        found["brushed"] = frames(page, brushed)
    return found


def zoomed(page: Page, chart: Locator) -> None:
    """Zoom into a chart with the wheel, drag what is shown to and fro, and zoom out again."""
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.5
    page.mouse.move(x, y)
    page.keyboard.down("Control")
    for _ in range(15):
        page.mouse.wheel(0, -100)
        page.wait_for_timeout(16)
    page.keyboard.up("Control")
    page.keyboard.down("Shift")
    page.mouse.down()
    for step in range(40):
        page.mouse.move(x + 100 * (1 if step % 20 < 10 else -1) * (step % 10) / 10, y + step)
        page.wait_for_timeout(16)
    page.mouse.up()
    page.keyboard.up("Shift")
    page.keyboard.down("Control")
    for _ in range(15):
        page.mouse.wheel(0, 100)
        page.wait_for_timeout(16)
    page.keyboard.up("Control")
    page.mouse.dblclick(x, y)
    page.wait_for_timeout(100)


NETWORK, TRAFFIC, RANKS = (
    re.compile(f"^{name}") for name in ("Best: trial", "Before: ", "Host of each rank, best")
)


def zooms(browser: Browser, url: str, long: str, wide: str) -> dict[str, list[float]]:
    """Milliseconds between frames while what can be zoomed is, by what it is.

    Args:
        browser: Where.
        url: Of the service.
        long: A job of many trials.
        wide: A job on a large network.
    """
    found: dict[str, list[float]] = {}

    def measure(name: str, page: Page, chart: Locator) -> None:
        chart.wait_for()
        page.wait_for_timeout(1000)  # what is done when there is time
        found[name] = frames(page, lambda page: zoomed(page, chart))

    with window(browser) as page:
        page.add_init_script(f"({FRAMES})()")
        page.goto(f"{url}/#/jobs/{long}")
        page.locator("table.trials tbody tr").first.wait_for()
        measure("convergence", page, page.locator(".chart .u-over"))
        page.goto(f"{url}/#/compare?jobs={long},{wide}")
        measure("comparison", page, page.locator(".chart .u-over"))
        for job, where in ((long, ""), (wide, " of 1,024 hosts")):
            page.goto(f"{url}/#/jobs/{job}/best")
            for name, picture in (("network", NETWORK), ("traffic", TRAFFIC), ("ranks", RANKS)):
                measure(f"{name}{where}", page, page.get_by_role("application", name=picture))
    return found
