"""The fields of the form for the price of networks: objective, limits and parts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import yaml
from playwright.sync_api import Page, expect

from tests.service.conftest import SPEC
from tests.service.page.conftest import PATIENCE, Service, Window, retype, typed, violations

expect.set_options(timeout=PATIENCE)

FAIR = Path(__file__).parents[3] / "examples/fair.yaml"
SECTION = "Cost and power of the network"


def as_yaml(page: Page) -> str:
    """The job file that the form stands for."""
    page.locator(".choice label", has_text="YAML").click()
    text = typed(page)
    page.locator(".choice label", has_text="form").click()
    return text


def test_what_is_weighed_against_time_and_what_parts_cost_is_typed_into_the_form(
    service: Service, open_page: Callable[..., Window]
) -> None:
    window = open_page(f"{service.url}/#/new")
    page = window.page
    section = page.get_by_role("region", name=SECTION)
    # Nothing asks for a price yet, so none is asked for.
    expect(section.get_by_label("Objective")).to_have_value("")
    expect(section.get_by_label("Prices and watts of parts")).to_have_count(0)
    expect(page.get_by_label("Until")).to_be_visible()
    section.get_by_label("Objective").select_option("cost")
    expect(page.get_by_label("Until")).to_have_count(0)  # a model of time tells nothing of a front
    section.get_by_label("Largest diameter").fill("8")
    expect(section.get_by_label("Ports of switch 1")).to_have_count(0)
    section.get_by_label("Prices and watts of parts").select_option("own")
    known = service.get("/catalogue")["parts"]["switches"]
    expect(section.get_by_role("row")).to_have_count(1 + len(known))
    for number in range(len(known), 1, -1):
        section.get_by_role("button", name=f"Remove switch {number}").click()
    section.get_by_label("Ports of switch 1").fill("48")
    section.get_by_label("Reach of copper").fill("3")
    document = yaml.safe_load(as_yaml(page))
    assert document["objective"] == ["time", "cost"]
    assert document["constraints"] == {"diameter": 8}
    assert document["machine"]["parts"] == {
        "switches": [{**known[0], "radix": 48}],
        "cables": {"reach": 3},
    }
    expect(page.locator("#job-problems .bad")).to_have_count(0)
    assert violations(page) == []
    # Where the search minimises time alone without limits, the parts stay: they were typed.
    section.get_by_label("Objective").select_option("")
    section.get_by_label("Largest diameter").fill("")
    expect(section.get_by_label("Ports of switch 1")).to_have_value("48")
    section.get_by_label("Prices and watts of parts").select_option("")
    expect(section.get_by_label("Prices and watts of parts")).to_have_count(0)
    assert "parts" not in as_yaml(page)


def test_what_is_wrong_with_a_price_stands_at_its_field(
    service: Service, open_page: Callable[..., Window]
) -> None:
    window = open_page(f"{service.url}/#/new")
    window.expected = ("422",)  # the browser notes each refusal on its console
    page = window.page
    section = page.get_by_role("region", name=SECTION)
    limit = section.get_by_label("Highest cost")
    limit.fill("cheap")
    beside = page.locator(".field", has=page.get_by_label("Highest cost"))
    expect(beside.get_by_text("must be a number, or a text like '<= 90000'")).to_be_visible()
    expect(limit).to_have_attribute("aria-invalid", "true")
    limit.fill("90,000")
    expect(limit).to_have_attribute("aria-invalid", "false")
    section.get_by_label("Prices and watts of parts").select_option("own")
    section.get_by_label("Price of switch 2").fill("dear")
    cell = section.locator("td", has=page.get_by_label("Price of switch 2"))
    expect(cell.get_by_text("must be a valid number, not 'dear'")).to_be_visible()
    section.get_by_label("Price of switch 2").fill("2000")
    section.get_by_label("Watts of an adapter").fill("-1")
    wrong = page.locator(".field", has=page.get_by_label("Watts of an adapter"))
    expect(wrong.get_by_text("must be greater than or equal to 0, not -1")).to_be_visible()
    assert violations(page) == []


def test_a_job_file_with_prices_fills_the_form_and_is_the_same_again(
    service: Service, open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{service.url}/#/new").page
    page.locator(".choice label", has_text="YAML").click()
    retype(page, FAIR.read_text())
    page.get_by_role("button", name="Edit as a form").click()
    section = page.get_by_role("region", name=SECTION)
    expect(section.get_by_label("Objective")).to_have_value("cost")
    expect(section.get_by_label("Highest cost")).to_have_value("<= 70000")
    expect(section.get_by_label("Price of switch 3")).to_have_value("5000")
    expect(section.get_by_label("Width of a rack")).to_have_value("0.6")
    section.get_by_label("Highest cost").fill("71000")
    expected = yaml.safe_load(FAIR.read_text())
    expected["constraints"]["cost"] = 71000
    assert yaml.safe_load(as_yaml(page)) == expected
    # Only families of networks with a degree each have no field.
    expect(
        page.get_by_text(re.compile("Kept from the job file as they are.*: search"))
    ).to_be_visible()


def test_a_stored_machine_has_its_own_prices(
    service: Service, open_page: Callable[..., Window]
) -> None:
    service.post("/machines", {"name": "priced", "machine": SPEC["machine"]})
    page = open_page(f"{service.url}/#/new").page
    page.get_by_label("Highest cost").fill("90000")
    page.get_by_role("combobox", name="Machine", exact=True).select_option("stored")
    expect(page.get_by_text("Prices and watts are those of the stored machine")).to_be_visible()
    expect(page.get_by_label("Prices and watts of parts")).to_have_count(0)
