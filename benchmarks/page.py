"""How fast the page is, in Debian's Chromium on a real service.

    .venv/bin/python -m benchmarks.page [--loads 5] [--output FILE.json]

Fills a data directory with completed jobs of 1,000 and 10,000 trials, starts `hamtune up` on it at
a free port of 127.0.0.1, and measures in the browser

- the time from the start of the navigation until the page of the job of 1,000 trials shows its
  curve and its trials and answers: until the last long task has ended (nothing in the cache);
- the size of all files of the page as they are sent;
- the time from the moment when a trial of a running job was stored as finished until its row
  stands in the document;
- the time between two frames while the page of the job of 10,000 trials is scrolled, its curve
  walked over and zoomed, and its parallel coordinates brushed.

The exit status tells whether the bars are met. It takes about a minute on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, sync_playwright
from sqlalchemy import create_engine, insert, update

from searchspace.configuration import Configuration
from searchspace.job import load_job
from service.page.site import BUILT
from service.runtime import Runtime
from service.settings import Settings
from storage.models import JobRow, TrialRow
from storage.records import JobState

ROOT = Path(__file__).resolve().parent.parent

INTERACTIVE_BAR = 1.0
"""Seconds until the page of a job of 1,000 trials answers."""
BUNDLE_BAR = 500_000
"""Bytes of the whole page, compressed."""
LIVE_BAR = 1.0
"""Seconds from the end of a trial to its row."""
FRAME_BAR = 100.0
"""Milliseconds between two frames."""

PATIENCE = 120_000  # milliseconds
MARGIN = 70  # of the parallel coordinates, beside the first and the last axis, pixels

SPEC: dict[str, Any] = {
    "name": "live",
    "application": {"builtin": "is", "class": "S", "ranks": 16},
    "machine": {
        "nodes": 16,
        "degree": 4,
        "host_speed": "100Gf",
        "link_bandwidth": "40Gbps",
        "switch_latency": "60ns",
        "network": "fluid",
    },
    "search": {
        "topology": [{"family": "random", "instances": 50}, "torus-2d"],
        "ordering": ["original", "hamorder"],
        "mpi": ["mpich", "ompi"],
        "collectives": {"alltoall": "all", "allreduce": "all"},
    },
    "budget": {"trials": 60},
    "seed": 1,
}

CHOICES: dict[str, Sequence[str]] = {
    "topology": ("random", "torus-2d", "torus-3d", "circulant", "hypercube"),
    "ordering": ("original", "hamorder", "rcm", "spectral", "gorder"),
    "mapping": ("by-order", "treematch", "greedy", "recursive-bipartition"),
    "mpi": ("default", "mpich", "ompi", "mvapich2", "impi"),
    **{
        f"collectives.{name}": tuple(f"algorithm-{letter}" for letter in "abcdefghij")
        for name in ("allreduce", "alltoall", "bcast", "allgather", "reduce", "barrier")
    },
}
STATES: tuple[JobState, ...] = ("preparing", "running", "completed")
TECHNIQUES = ("UniformGreedyMutation", "NormalGreedyMutation", "RandomNelderMead", "PureRandom")

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


def seed(
    settings: Settings,
    name: str,
    trials: int,
    *,
    document: Mapping[str, Any] = MappingProxyType(SPEC),
    choices: Mapping[str, Sequence[str]] = MappingProxyType(CHOICES),
    result: Mapping[str, Any] | None = None,
) -> str:
    """Store a completed job whose trials are made up; returns its id.

    Args:
        settings: Where to.
        name: Of the job.
        trials: How many.
        document: The job.
        choices: What trials draw from, by parameter.
        result: What the simulator measured beside the time, of all of them.
    """
    draw = random.Random(trials)
    weight = {
        choice: draw.uniform(0.7, 1.4)
        for choice in ((name, value) for name, values in choices.items() for value in values)
    }
    spec = load_job({**document, "name": name, "budget": {"trials": trials}}).canonical()
    with Runtime(settings, run=False) as runtime:
        job = runtime.storage.create_job(name=name, spec=spec, seed=1)
        for state in STATES:
            runtime.storage.transition(job.id, state)
    rows = [
        {**_row(draw, choices, weight, job.id, number), "result": result}
        for number in range(1, trials + 1)
    ]
    best = min((row for row in rows if row["state"] == "completed"), key=lambda row: row["value"])
    # In one transaction: one for each trial, as in a job that runs, would take minutes.
    with create_engine(settings.database_url).begin() as connection:
        connection.execute(insert(TrialRow), rows)
        connection.execute(
            update(JobRow)
            .where(JobRow.id == job.id)
            .values(best_trial=best["number"], best_value=best["value"], evaluations=trials)
        )
    return job.id


def _row(
    draw: random.Random,
    choices: Mapping[str, Sequence[str]],
    weight: dict[tuple[str, str], float],
    job_id: str,
    number: int,
) -> dict[str, Any]:
    baseline = number <= 3
    values = {parameter: draw.choice(options) for parameter, options in choices.items()}
    configuration = Configuration({**values, "topology_seed": number})
    at = time.time() + number
    return {
        "job_id": job_id,
        "number": number,
        "kind": "baseline" if baseline else "search",
        "label": f"torus-{number}d" if baseline else None,
        "inside": True,
        "configuration": configuration.to_dict(),
        "configuration_sha256": configuration.sha256,
        "technique": None if baseline else draw.choice(TECHNIQUES),
        "state": "completed" if baseline or draw.random() < 0.8 else "censored",
        "value": 0.02 * math.prod(weight[choice] for choice in values.items()),
        "cached": not baseline and draw.random() < 0.1,
        "cpu_seconds": 0.1,
        "wall_seconds": 0.1,
        "worker": f"worker-{number % 4}",
        "created_at": at,
        "started_at": at,
        "finished_at": at + 0.9,
    }


@contextmanager
def service(data: Path) -> Iterator[str]:
    """`hamtune up` over a data directory; yields its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    process = subprocess.Popen(
        [sys.executable, "-m", "cli", "up", "--port", str(port), "--data", str(data)],
        cwd=ROOT,
        env={**os.environ, "HAMTUNE_CONCURRENCY": "1"},
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 60.0
        while True:
            try:
                httpx.get(f"{url}/healthz", timeout=5.0).raise_for_status()
                break
            except httpx.HTTPError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def window(browser: Browser) -> Iterator[Page]:
    """A page with an empty cache."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE)
    try:
        yield context.new_page()
    finally:
        context.close()


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
        x = box["x"] + MARGIN + (box["width"] - 2 * MARGIN) * axis / last
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


def bundle() -> int:
    """Bytes of the whole page as they are sent."""
    packed = sum(path.stat().st_size for path in BUILT.glob("*.gz"))
    return packed + (BUILT / "index.html").stat().st_size


def measure(loads: int) -> dict[str, Any]:
    """All figures."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None or not (BUILT / "index.html").exists():
        sys.exit("chromium or the page is missing; run ./setup.sh --test")
    with tempfile.TemporaryDirectory(prefix="hamtune-benchmark-") as scratch:
        data = Path(scratch) / "data"
        settings = Settings.under(data)
        short, long = seed(settings, "1,000 trials", 1_000), seed(settings, "10,000 trials", 10_000)
        with service(data) as url, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"]
            )
            interactive(browser, f"{url}/#/jobs/{short}")  # the service loads what it needs
            return {
                "interactive": [
                    interactive(browser, f"{url}/#/jobs/{short}") for _ in range(loads)
                ],
                "bundle": bundle(),
                "frames": smooth(browser, f"{url}/#/jobs/{long}"),
                "live": live(browser, url),
            }


def main() -> int:
    """Measure, print the figures beside their bars, and tell whether all are met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--loads", type=int, default=5)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    report = measure(options.loads)
    if options.output:
        options.output.write_text(json.dumps(report, indent=2) + "\n")
    loads, arrivals = report["interactive"], report["live"]
    rows = [
        ("interactive with 1,000 trials, s", loads, INTERACTIVE_BAR),
        ("compressed bundle, kB", [report["bundle"] / 1000], BUNDLE_BAR / 1000),
        ("live update, s", arrivals, LIVE_BAR),
        *(
            (f"frame with 10,000 trials, ms: {name}", gaps, FRAME_BAR)
            for name, gaps in report["frames"].items()
        ),
    ]
    print(f"{'':44}{'count':>7}{'median':>9}{'worst':>9}{'bar':>7}")
    missed = 0
    for name, values, bar in rows:
        met = bool(values) and max(values) < bar
        missed += not met
        figures = (statistics.median(values), max(values)) if values else (math.nan, math.nan)
        print(
            f"{name:<44}{len(values):7}{figures[0]:9.2f}{figures[1]:9.2f}{bar:7g}"
            f"  {'MET' if met else 'MISSED'}"
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
