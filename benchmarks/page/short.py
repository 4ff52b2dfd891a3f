"""What a user of a short job waits for: the page, its files, a trial that has ended."""

from __future__ import annotations

import time

import httpx
from playwright.sync_api import Browser

from benchmarks.page.made import SPEC, window
from service.page.site import BUILT

__all__ = ["bundle", "interactive", "live"]

READY = """
() => {
  const seen = { shown: 0, last: 0 };
  window.seen = seen;
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) {
      seen.last = Math.max(seen.last, task.startTime + task.duration);
    }
  }).observe({ type: "longtask", buffered: true });
  const look = () => {
    const chart = document.querySelector(".chart .u-over");
    const row = document.querySelector("table.trials tbody tr");
    // A frame later what was found has been painted.
    if (chart && row) requestAnimationFrame(() => { seen.shown = performance.now(); });
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}
"""
ARRIVALS = """
() => {
  window.arrivals = {};
  const look = () => {
    for (const button of document.querySelectorAll("table.trials tbody button")) {
      const number = button.textContent;
      if (!(number in window.arrivals)) window.arrivals[number] = Date.now() / 1000;
    }
  };
  const all = { childList: true, subtree: true, characterData: true };
  new MutationObserver(look).observe(document, all);
}
"""


def interactive(browser: Browser, address: str) -> float:
    """Seconds from the start of a navigation to a page that answers."""
    with window(browser) as page:
        page.add_init_script(f"({READY})()")
        page.goto(address)
        while not page.evaluate("window.seen.shown"):
            page.wait_for_timeout(50)
        page.wait_for_timeout(700)  # a long task after what is shown would keep it from answering
        found = page.evaluate("window.seen")
        page.get_by_role("application").focus()
        page.keyboard.press("End")
        page.get_by_role("status").filter(has_text="Trial").wait_for(state="attached")
        return float(max(found["shown"], found["last"])) / 1000


def live(browser: Browser, url: str) -> list[float]:
    """Seconds from the end of each trial of a running job to its row in the document."""
    with window(browser) as page:
        page.add_init_script(f"({ARRIVALS})()")
        answer = httpx.post(f"{url}/api/v1/jobs", json=SPEC, timeout=30.0)
        answer.raise_for_status()
        job = answer.json()["id"]
        page.goto(f"{url}/#/jobs/{job}")
        began = time.time() + 1.0  # what ended before was there when the page came
        page.locator(".job-title .state-completed").wait_for()
        arrivals = {int(number): at for number, at in page.evaluate("arrivals").items()}
        trials = httpx.get(f"{url}/api/v1/jobs/{job}/trials?limit=500", timeout=30.0).json()[
            "items"
        ]
        ended = {one["number"]: one["finished_at"] for one in trials}
        return [
            arrivals[number] - ended[number]
            for number in arrivals
            if ended[number] is not None and ended[number] > began
        ]


def bundle() -> int:
    """Bytes of the whole page as they are sent."""
    packed = sum(path.stat().st_size for path in BUILT.glob("*.gz"))
    return packed + (BUILT / "index.html").stat().st_size
