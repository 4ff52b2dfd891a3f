"""How fast the page is, in Debian's Chromium on a real service.

    .venv/bin/python -m benchmarks.page [--loads 5] [--output FILE.json]
    .venv/bin/python -m benchmarks.page table

Fills a data directory with completed jobs of 1,000 and 10,000 trials, starts `hamtune up` on it at
a free port of 127.0.0.1, and measures in the browser

- the time from the start of the navigation until the page of the job of 1,000 trials shows its
  curve and its trials and answers: until the last long task has ended (nothing in the cache);
- the size of all files of the page as they are sent;
- the time from the moment when a trial of a running job was stored as finished until its row
  stands in the document;
- of the job of 10,000 trials, for each tab: the time until it is shown and answers when the page
  begins with it, and when it is clicked in a page that shows another;
- the time between two frames while the page of that job is scrolled, its curve walked over, its
  list paged and its parallel coordinates brushed, and while each chart that can be zoomed is
  zoomed and panned, those of networks and hosts also with 1,024 hosts.

The exit status tells whether the bars are met. It takes about three minutes on an idle machine.
With `table` the figures that are kept are put into docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, sync_playwright

from benchmarks.browser import launched, require
from benchmarks.page.frames import smooth, zooms
from benchmarks.page.made import SPEC, lengthen, seed, service
from benchmarks.page.short import bundle, interactive, live
from benchmarks.page.table import printed, row, write_page_table
from benchmarks.page.views import TABS, first_view, switches
from benchmarks.provenance import measured_now
from service.page.site import BUILT
from service.settings import Settings

INTERACTIVE_BAR = 1.0
"""Seconds until the page of a job of 1,000 trials answers."""
BUNDLE_BAR = 500.0
"""Kilobytes of the whole page, compressed."""
LIVE_BAR = 1.0
"""Seconds from the end of a trial to its row."""
FRAME_BAR = 100.0
"""Milliseconds between two frames."""
FIRST_BAR = 1.5
"""Seconds until a tab of a job of 10,000 trials answers, nothing cached."""
SWITCH_BAR = 0.3
"""Seconds from a click to another tab of it."""
ZOOM_BAR = 50.0
"""Milliseconds between two frames while something is zoomed."""

LONG = 10_000
WIDE: dict[str, Any] = {
    **SPEC,
    "name": "1,024 hosts",
    "machine": {**SPEC["machine"], "nodes": 1024},
    "search": {"topology": [{"family": "random", "instances": 3}], "mpi": ["mpich"]},
    "budget": {"trials": 3},
}


def prepared(data: Path) -> tuple[str, str, str]:
    """Jobs of 1,000 trials, of 10,000, and on a large network; their ids."""
    settings = Settings.under(data)
    short = seed(settings, "1,000 trials", 1_000)
    with service(data) as url:
        long, wide = (_run(url, file) for file in ({**SPEC, "name": "10,000 trials"}, WIDE))
    lengthen(settings, long, LONG)
    return short, long, wide


def _run(url: str, document: dict[str, Any]) -> str:
    answer = httpx.post(f"{url}/api/v1/jobs", json=document, timeout=60.0)
    answer.raise_for_status()
    job = str(answer.json()["id"])
    httpx.get(f"{url}/api/v1/jobs/{job}/events", timeout=600.0)  # which ends with the job
    return job


def measured(browser: Browser, url: str, jobs: tuple[str, str, str], loads: int) -> list[Any]:
    """All figures beside their bars."""
    short, long, wide = jobs
    address = f"{url}/#/jobs/{long}"

    def again(measure: Callable[[], float]) -> list[float]:
        measure()  # the service loads what it needs
        return [measure() for _ in range(loads)]

    begun = again(lambda: interactive(browser, f"{url}/#/jobs/{short}"))
    rows = [
        row("interactive with 1,000 trials", "s", begun, INTERACTIVE_BAR),
        row("compressed files", "kB", [bundle() / 1000], BUNDLE_BAR),
        row("live update", "s", live(browser, url), LIVE_BAR),
    ]
    for tab in TABS:
        views = again(lambda tab=tab: first_view(browser, address, tab))  # type: ignore[misc]
        rows.append(row(f"first view, 10,000 trials: {tab}", "s", views, FIRST_BAR))
    changes = [switches(browser, address) for _ in range(loads)]
    for tab in TABS:
        taken = [one[tab] for one in changes]
        rows.append(row(f"switch of tab, 10,000 trials: {tab}", "s", taken, SWITCH_BAR))
    rows += [
        row(f"frame, 10,000 trials: {name}", "ms", gaps, FRAME_BAR)
        for name, gaps in smooth(browser, address).items()
    ]
    rows += [
        row(f"frame, zoomed: {name}", "ms", gaps, ZOOM_BAR)
        for name, gaps in zooms(browser, url, long, wide).items()
    ]
    return rows


def measure(loads: int) -> dict[str, Any]:
    """The figures, and where and when they were measured."""
    require()
    if not (BUILT / "index.html").exists():
        sys.exit("the page is missing; run ./setup.sh --test")
    with tempfile.TemporaryDirectory(prefix="hamtune-benchmark-") as scratch:
        data = Path(scratch) / "data"
        jobs = prepared(data)
        with service(data) as url, sync_playwright() as playwright:
            browser = launched(playwright)
            before = os.getloadavg()[0]
            rows = measured(browser, url, jobs, loads)
            return {
                **measured_now(),
                "chromium": browser.version,
                "load": [round(before, 1), round(os.getloadavg()[0], 1)],
                "rows": rows,
            }


def main() -> int:
    """Measure, print the figures beside their bars, and tell whether all are met."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=["measure", "table"], default="measure")
    parser.add_argument("--loads", type=int, default=5)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    if options.what == "table":
        write_page_table()
        return 0
    report = measure(options.loads)
    if options.output:
        options.output.write_text(json.dumps(report, indent=1) + "\n")
    print(f"{'':46}{'count':>7}{'median':>9}{'worst':>9}{'bar':>7}")
    for one in report["rows"]:
        print(printed(one))
    return 0 if all(one["met"] for one in report["rows"]) else 1


if __name__ == "__main__":
    sys.exit(main())
