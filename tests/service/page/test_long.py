"""The page of a job of ten thousand trials: drawn of a sample, counted of all."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

from service.runtime import Runtime
from service.settings import Settings
from tests.service.conftest import SPEC
from tests.service.page.conftest import Service, Window
from tests.service.seeded import seed

TRIALS = 10_000


@pytest.fixture(scope="module")
def job(service: Service) -> str:
    """A long job, put into the database while nothing runs over it."""
    service.stop()
    settings = Settings.under(service.data)
    with Runtime(settings, run=False) as runtime:
        seeded = seed(settings.database_url, runtime.storage, SPEC | {"name": "long"}, TRIALS)
    service.start()
    return seeded


@pytest.fixture(scope="module")
def counted(service: Service, job: str) -> dict[str, Any]:
    """What the service counts."""
    return dict(service.get(f"/jobs/{job}/statistics"))


def test_trials_are_listed_sorted_and_filtered_out_of_all(
    service: Service, job: str, counted: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/jobs/{job}").page
    expect(page.get_by_text("10,000 trials in all", exact=True)).to_be_visible()
    order, show = (
        page.locator("label").filter(has_text=re.compile(f"^{name}")).locator("select")
        for name in ("Order", "Show")
    )
    show.select_option("infeasible")
    infeasible = f"{counted['states']['infeasible']:,}"
    expect(page.get_by_text(f"{infeasible} trials", exact=True)).to_be_visible()
    show.select_option("completed")
    order.select_option("fastest")
    page.get_by_role("button", name="Next").click()
    fastest = service.get(f"/jobs/{job}/rows?order=fastest&state=completed&skip=50&limit=1")
    number = fastest["columns"]["number"][0]
    expect(page.locator("table.trials tbody tr").first).to_contain_text(str(number))
    expect(page.get_by_text(f"51–100 of {counted['states']['completed']:,}")).to_be_visible()


def test_a_chart_is_saved_as_drawing_picture_and_data(
    service: Service, job: str, open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/jobs/{job}").page
    expect(page.get_by_role("note")).to_contain_text("of 10,000 trials, an even sample")
    with page.expect_download() as drawing:
        page.get_by_role("button", name="Save SVG").click()
    assert drawing.value.suggested_filename == f"{job}-convergence-sample.svg"
    said = [one.text for one in ElementTree.parse(drawing.value.path()).iter() if one.text]
    assert any("of 10,000 trials, an even sample with every improvement" in one for one in said)
    with page.expect_download() as picture:
        page.get_by_role("button", name="Save PNG").click()
    assert picture.value.suggested_filename == f"{job}-convergence-sample.png"
    assert picture.value.path().read_bytes().startswith(b"\x89PNG")
    with page.expect_download() as data:
        page.get_by_role("button", name="Save CSV").click()
    rows = list(csv.DictReader(data.value.path().read_text().splitlines()))
    assert (rows[0]["trial"], rows[0]["label"], rows[-1]["trial"]) == ("1", "mesh-2d", "10000")
    assert 2_000 < len(rows) < 3_000


def test_workers_are_counted_of_all_trials(
    service: Service, job: str, counted: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/jobs/{job}/workers").page
    expect(page.get_by_role("note")).to_contain_text("of 10,000 trials, an even sample")
    for one in counted["workers"]:
        name = one["worker"] or "no worker"
        row = page.get_by_role("row").filter(has_text=name)
        expect(row.get_by_role("cell").first).to_have_text(f"{one['trials']:,}")


def test_parameters_are_drawn_of_a_sample_and_counted_of_all(
    service: Service, job: str, counted: dict[str, Any], open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/jobs/{job}/space").page
    expect(page.get_by_role("note")).to_contain_text("an even sample with every improvement")
    expect(page.get_by_role("status").filter(has_text="of the sample chosen")).to_be_visible()
    expect(page.get_by_text("an even sample of")).to_contain_text(f"of the {counted['compared']:,}")
    topology = next(one for one in counted["parameters"] if one["name"] == "topology")
    figure = page.locator("figure").filter(has=page.get_by_text("topology", exact=True))
    figure.get_by_text("Fastest of each value").click()
    for one in topology["values"]:
        line = figure.get_by_role("listitem").filter(has_text=one["value"])
        expect(line).to_contain_text(f"of {one['trials']:,} trials")
    assert "mesh-2d" not in figure.inner_text()  # a baseline outside the space
