"""What a user of a long job waits for: the first view, and another tab."""

from __future__ import annotations

from playwright.sync_api import Browser, Page

from benchmarks.page.made import window

__all__ = ["TABS", "first_view", "switches"]

TABS = {
    "convergence": ".chart .u-over & table.trials tbody tr",
    "best": ".grid-2 figure:nth-of-type(2) canvas.drawing & canvas.matrix",
    "space": ".layers canvas & .axis-filters select",
    "workers": "section[aria-label='Timeline by worker'] canvas & [aria-label=Workers] tbody tr",
    "about": "pre[aria-label='Job file']",
}
"""The tabs of a job, and what is there once one is shown: selectors, all of which are needed."""

WATCH = """
() => {
  window.last_task = 0;
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) {
      window.last_task = Math.max(window.last_task, task.startTime + task.duration);
    }
  }).observe({ type: "longtask", buffered: true });
}
"""
SHOWN = """
([signs, tab]) => new Promise((done) => {
  const began = tab === null ? 0 : performance.now();
  if (tab !== null) document.querySelector(`nav.tabs a[href$="/${tab}"]`).click();
  const look = () => {
    if (!signs.every((sign) => document.querySelector(sign))) return requestAnimationFrame(look);
    // A frame later what was found has been painted.
    requestAnimationFrame(() => {
      const shown = performance.now();
      setTimeout(() => done((Math.max(shown, window.last_task) - began) / 1000), 700);
    });
  };
  requestAnimationFrame(look);
})
"""


def _signs(tab: str) -> list[str]:
    return TABS[tab].split(" & ")


def first_view(browser: Browser, address: str, tab: str) -> float:
    """Seconds from the start of a navigation until a tab is shown and answers, nothing cached."""
    with window(browser) as page:
        page.add_init_script(f"({WATCH})()")
        page.goto(f"{address}/{tab}")
        return float(page.evaluate(SHOWN, [_signs(tab), None]))


def switches(browser: Browser, address: str) -> dict[str, float]:
    """Seconds from a click on each tab until it is shown and answers, in a window that is new."""
    with window(browser) as page:
        page.add_init_script(f"({WATCH})()")
        page.goto(f"{address}/convergence")
        page.evaluate(SHOWN, [_signs("convergence"), None])
        _rest(page)
        return {
            tab: float(page.evaluate(SHOWN, [_signs(tab), tab]))
            for tab in [*list(TABS)[1:], "convergence"]
        }


def _rest(page: Page) -> None:
    """What a user does before the first click: look."""
    page.wait_for_timeout(2000)
