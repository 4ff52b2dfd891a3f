"""The form that was started over comes back, and files that are read are stopped."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
import yaml
from playwright.sync_api import Page, expect

from tests.service.conftest import SPEC
from tests.service.page.conftest import (
    PATIENCE,
    Service,
    Window,
    editor,
    expect_typed,
    retype,
    violations,
)
from tests.service.page.test_form import drop, purpose, sources

expect.set_options(timeout=PATIENCE)

MACHINE = json.dumps(SPEC["machine"]).encode()
JOB = yaml.safe_dump({**SPEC, "name": "dropped"}).encode()


@pytest.fixture
def form(service: Service, open_page: Callable[..., Window]) -> Window:
    """The form as somebody sees it who has never been here."""
    window = open_page(f"{service.url}/#/new")
    expect(window.page.get_by_text("32 cables")).to_be_visible()
    expect(window.page.get_by_text("How many hosts there are.")).to_be_visible()
    return window


def start_over(page: Page) -> None:
    page.get_by_role("button", name="Start over").click()
    expect(page.get_by_text("Started over.")).to_be_in_viewport()


def test_a_form_that_was_started_over_comes_back(form: Window) -> None:
    page = form.page
    name = page.get_by_label("Job name")
    undo = page.get_by_role("button", name="Undo")
    purpose(page, "Design a network")
    name.fill("hours of work")
    drop(page, solver_tgz=sources())
    expect(page.locator("#upload-chosen")).to_contain_text("solver.tgz")
    start_over(page)
    expect(name).to_have_value("my-job")
    expect(page.get_by_role("radio", name="All options")).to_be_checked()
    assert violations(page) == []
    name.fill("typed after that")
    undo.click()
    expect(name).to_have_value("hours of work")
    expect(page.get_by_role("radio", name="Design a network")).to_be_checked()
    expect(page.locator("#upload-chosen")).to_contain_text("solver.tgz")
    # What was typed meanwhile is not lost either.
    page.get_by_role("button", name="Redo").click()
    expect(name).to_have_value("typed after that")
    undo.click()
    page.get_by_role("button", name="Dismiss").click()
    expect(undo).to_have_count(0)
    page.reload()
    expect(name).to_have_value("hours of work")
    form.expected = ("422",)  # no program is chosen


def test_a_form_that_nobody_touched_has_nothing_to_come_back(form: Window) -> None:
    page = form.page
    page.get_by_role("button", name="Start over").click()
    page.get_by_label("Job name").fill("x")
    start_over(page)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("Job name")).to_have_value("x")
    # Behind it is the untouched form, which "Start over" gives at any time.
    expect(page.get_by_role("button", name="Redo")).to_have_count(0)


def test_a_job_file_that_was_started_over_comes_back(form: Window) -> None:
    page = form.page
    page.locator(".choice label", has_text="YAML").click()
    text = "# mine\n" + JOB.decode()
    editor(page)
    retype(page, text)
    expect_typed(page, text)
    start_over(page)
    expect(page.get_by_label("Job name")).to_have_value("my-job")
    page.get_by_role("button", name="Undo").click()
    expect_typed(page, text)


@pytest.mark.parametrize("path", ["jobs/read", "machines"])
def test_a_machine_file_that_is_read_is_stopped(form: Window, path: str) -> None:
    page = form.page
    page.route(f"**/api/v1/{path}", lambda route: None)  # never goes on
    drop(page, rack_json=MACHINE)
    expect(page.get_by_role("progressbar", name="Sending rack.json")).to_be_visible()
    with page.expect_event("requestfailed", lambda one: one.url.endswith(f"/api/v1/{path}")):
        page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("rack.json: The upload was stopped.")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_have_count(0)
    expect(page.get_by_role("combobox", name="Machine", exact=True)).to_have_value("described")


def test_a_job_file_that_is_read_is_stopped(form: Window) -> None:
    page = form.page
    page.route("**/api/v1/jobs/read", lambda route: None)
    drop(page, job_yaml=JOB)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text(re.compile("job.yaml: The upload was stopped."))).to_be_visible()
    expect(page.get_by_label("Job name")).to_have_value("my-job")
    # The next file is taken as ever.
    page.unroute("**/api/v1/jobs/read")
    drop(page, job_yaml=JOB)
    expect(page.get_by_label("Job name")).to_have_value("dropped")
