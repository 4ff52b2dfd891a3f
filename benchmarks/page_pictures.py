"""The pictures of the page in `docs/page`, of a real service in Debian's Chromium.

    .venv/bin/python -m benchmarks.page_pictures [--output docs/page] [NAME]...

Runs two jobs in a data directory of its own and takes a picture of each view, of some while other
jobs are at work and wait, in dark colours, or on a phone. It takes about three minutes.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.browser import launched, require
from benchmarks.page.made import SPEC, service

DOCS = Path(__file__).resolve().parent.parent / "docs/page"
DESK = {"width": 1200, "height": 900}
PHONE = {"width": 375, "height": 1000}
CROWD = 10
"""Jobs at once, two more than a service drives."""
COLOURS = 256
"""Of a picture: enough for flat surfaces and text, and a third of the bytes."""

SEARCH: dict[str, Any] = {
    "topology": [{"family": "random", "instances": 4}, "torus-2d", "circulant"],
    "ordering": ["original", "hamorder"],
    "mapping": ["by-order", "treematch", "greedy"],
    "mpi": ["mpich", "ompi"],
    "collectives": {"alltoall": "all", "allreduce": "all", "alltoallv": "all"},
}


@dataclass(frozen=True)
class Picture:
    """A view, what shows that it is there, and what is done with it before.

    Attributes:
        view: Its address, with `{first}`, `{second}` and `{running}` for jobs.
        sign: A text that is visible when it is complete.
        act: What is done then.
        whole: Whether all of the page is shown, not only what fits the window.
        others: How many jobs are at work or wait meanwhile.
        kept: Whether it stands in the documentation; others are taken when they are named.
    """

    view: str
    sign: str
    size: Mapping[str, int] | None = None
    scheme: str = "light"
    act: Callable[[Page], None] | None = None
    whole: bool = True
    others: int = 0
    kept: bool = True


def _replayed(page: Page) -> None:
    page.get_by_role("button", name="Simulate again").click()
    page.get_by_text("The same result again").wait_for()
    page.get_by_role("button", name="Simulate again").scroll_into_view_if_needed()
    page.locator(".drawer").evaluate("drawer => drawer.scrollBy(0, 260)")


def _brushed(page: Page) -> None:
    page.get_by_label("mpi", exact=True).select_option("ompi")


def _busy(page: Page) -> None:
    rows = "document.querySelectorAll('table.trials tbody tr').length"
    page.wait_for_function(f"() => {rows} >= 20", timeout=120_000)


def _refused(page: Page) -> None:
    page.get_by_label("Ranks", exact=True).fill("17")
    page.get_by_text("not 17").first.wait_for()


PICTURES = {
    "jobs": Picture("jobs", "ahead of it", others=CROWD),
    "new": Picture("new", "32 cables"),
    "new-refused": Picture("new", "32 cables", act=_refused, whole=False, kept=False),
    "convergence": Picture("jobs/{first}/convergence", "csv", whole=False),
    "running": Picture(
        "jobs/{running}/convergence", "done by about", act=_busy, whole=False, others=1
    ),
    "trial": Picture("jobs/{first}/convergence?trial=19", "Simulate", act=_replayed, whole=False),
    "best": Picture("jobs/{first}/best", "Hops and"),
    "parameters": Picture("jobs/{first}/space", "R² on", act=_brushed),
    "workers": Picture("jobs/{first}/workers", "Longest", whole=False),
    "job": Picture("jobs/{first}/about", "Identity", kept=False),
    "compare": Picture("compare?jobs={first},{second}", "Remove", whole=False),
    "empty": Picture("jobs?state=failed", "No jobs match", whole=False, kept=False),
    "convergence-dark": Picture("jobs/{first}/convergence", "csv", scheme="dark", whole=False),
    "best-dark": Picture("jobs/{first}/best", "Hops and", scheme="dark"),
    "parameters-dark": Picture(
        "jobs/{first}/space", "R² on", scheme="dark", act=_brushed, kept=False
    ),
    "jobs-phone": Picture("jobs", "ahead of it", PHONE, others=CROWD, whole=False),
    "convergence-phone": Picture("jobs/{first}/convergence", "csv", PHONE, whole=False),
    "best-phone": Picture("jobs/{first}/best", "Hops and", PHONE, whole=False, kept=False),
    "new-phone": Picture("new", "32 cables", PHONE, whole=False),
}


def _submit(url: str, **changes: Any) -> str:
    answer = httpx.post(f"{url}/api/v1/jobs", json={**SPEC, "search": SEARCH, **changes})
    answer.raise_for_status()
    return str(answer.json()["id"])


def finished(url: str) -> dict[str, str]:
    """Two jobs that have ended."""
    ended = {
        "first": _submit(url, name="is-16 on random networks", seed=1, budget={"trials": 60}),
        "second": _submit(url, name="is-16, another seed", seed=2, budget={"trials": 25}),
    }
    for job in ended.values():
        # The stream of its events ends with the job.
        httpx.get(f"{url}/api/v1/jobs/{job}/events", timeout=600.0)
    return ended


@contextmanager
def at_work(url: str, count: int) -> Iterator[str]:
    """So many jobs that do not end: more than are driven at once wait; yields the first of them."""
    cg = {"builtin": "cg", "class": "S", "ranks": 16}
    made = []
    try:
        for number in range(count):
            priority = ("normal", "high", "low")[number % 3]
            name = f"cg-16 in the wave {number + 1}"
            budget = {"trials": 2_000}
            long = {"application": cg, "budget": budget, "seed": number, "cutoff_factor": None}
            made.append(_submit(url, name=name, priority=priority, **long))
        yield made[0]
    finally:
        for job in made:
            httpx.post(f"{url}/api/v1/jobs/{job}/cancel", timeout=60.0)


def take(browser: Browser, url: str, picture: Picture, known: Mapping[str, str]) -> bytes:
    """The picture as PNG."""
    context = browser.new_context(
        viewport=dict(picture.size or DESK),  # type: ignore[arg-type]
        color_scheme=picture.scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    try:
        page = context.new_page()
        page.goto(f"{url}/#/{picture.view.format(**known)}")
        page.get_by_text(picture.sign).first.wait_for(timeout=60_000)
        page.wait_for_timeout(1500)
        if picture.act is not None:
            picture.act(page)
            page.wait_for_timeout(800)
        taken = Image.open(io.BytesIO(page.screenshot(full_page=picture.whole)))
    finally:
        context.close()
    packed = io.BytesIO()
    taken.convert("RGB").quantize(COLOURS, Image.Quantize.FASTOCTREE).save(
        packed, "PNG", optimize=True
    )
    return packed.getvalue()


def main() -> int:
    """Take all pictures, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PICTURES))
    parser.add_argument("--output", type=Path, default=DOCS)
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in PICTURES]
    if unknown:
        parser.error(f"no picture {unknown[0]!r}; there are: {', '.join(PICTURES)}")
    require()
    options.output.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="hamtune-pictures-") as scratch,
        service(Path(scratch) / "data") as url,
        sync_playwright() as playwright,
    ):
        known = finished(url)
        browser = launched(playwright)
        for name in options.names or [name for name, one in PICTURES.items() if one.kept]:
            picture = PICTURES[name]
            with at_work(url, picture.others) if picture.others else nullcontext("") as running:
                content = take(browser, url, picture, {**known, "running": running})
            (options.output / f"{name}.png").write_bytes(content)
            print(f"{name}.png  {len(content) / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
