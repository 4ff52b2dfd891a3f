"""The page of a job of thousands of ranks, in Debian's Chromium on a real service."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Response, sync_playwright

from benchmarks.browser import launched
from benchmarks.packets.bars import Bars
from benchmarks.page.made import PATIENCE, seed, service, window
from benchmarks.page.short import interactive
from benchmarks.scale.job import describe
from searchspace.topology import generate
from service.settings import Settings

__all__ = ["show_page"]

VIEW_BAR = 2.0
"""Seconds until the first view of the job, and until that of a trial."""
ANSWER_BAR = 1_000_000
"""Bytes of an answer that the page asks for."""

TRIALS = 100
_CHOICES = {
    "topology": ("random", "torus-3d"),
    "ordering": ("original", "hamorder", "rcm"),
    "mapping": ("packed", "greedy"),
    "mpi": ("default",),
    "collectives.allreduce": ("rdb", "lr", "rab"),
}

# From the click until what the trial was is shown and no long task is left.
OPENED = """
() => new Promise((done) => {
  const began = performance.now();
  let last = began;
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) last = Math.max(last, task.startTime + task.duration);
  }).observe({ type: "longtask", buffered: false });
  document.querySelector("table.trials tbody button").click();
  const look = () => {
    if (!document.querySelector(".drawer dl.pairs")) return requestAnimationFrame(look);
    const shown = performance.now();
    setTimeout(() => done(Math.max(shown, last) - began), 700);
  };
  requestAnimationFrame(look);
})
"""


def show_page(ranks: int, bars: Bars) -> dict[str, Any]:
    """Fill a directory with a job, look at it, and print what that took; gives the figures."""
    print(f"page of a job of {ranks} ranks, {TRIALS} trials")
    draw = random.Random(ranks)
    cables = len(generate("random", ranks, degree=6, seed=1).edges)
    result = {
        "rank_finish_times": [[draw.uniform(0.9, 1.0) for _ in range(ranks)]],
        "link_loads": [[draw.randrange(1 << 30), draw.randrange(1 << 30)] for _ in range(cables)],
    }
    with tempfile.TemporaryDirectory(prefix="hamtune-benchmark-") as scratch:
        data = Path(scratch)
        document = describe(ranks, TRIALS, Path("stencil.ht"))
        job = seed(
            Settings.under(data),
            "large",
            TRIALS,
            document=document,
            choices=_CHOICES,
            result=result,
        )
        with service(data) as url, sync_playwright() as browsers:
            browser = launched(browsers)
            first = interactive(browser, f"{url}/#/jobs/{job}")
            with window(browser) as page:
                answers: list[Response] = []
                page.on("response", lambda answer: answers.append(answer))
                page.goto(f"{url}/#/jobs/{job}")
                page.locator("table.trials tbody button").first.wait_for(timeout=PATIENCE)
                trial = page.evaluate(OPENED) / 1000
                sizes = {
                    answer.url: len(answer.body())
                    for answer in answers
                    if "/api/" in answer.url and "/events" not in answer.url and answer.ok
                }
            browser.close()
            shown = httpx.get(f"{url}/api/v1/jobs/{job}/trials/4", timeout=60.0)
    bars.at_most("first view: s", first, VIEW_BAR)
    bars.at_most("view of a trial: s", trial, VIEW_BAR)
    bars.at_most("largest answer: bytes", max([*sizes.values(), len(shown.content)]), ANSWER_BAR)
    return {
        "ranks": ranks,
        "first_view_seconds": first,
        "trial_view_seconds": trial,
        "answers": {address.partition("/api/v1")[2]: size for address, size in sizes.items()},
    }
