"""Files that the form of a new job cannot take as they are, or not yet."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import yaml
from playwright.sync_api import Route, expect

from tests.service.page.conftest import PATIENCE, Service, Window
from tests.service.page.test_form import JOB, RING, drop

expect.set_options(timeout=PATIENCE)


@pytest.fixture
def form(service: Service, open_page: Callable[..., Window]) -> Window:
    """The form as somebody sees it who has never been here."""
    window = open_page(f"{service.url}/#/new")
    expect(window.page.get_by_text("32 cables")).to_be_visible()
    return window


def test_an_empty_file_is_called_empty(form: Window) -> None:
    drop(form.page, nothing_yaml=b"")
    expect(form.page.locator(".notice.bad .problem")).to_have_text("nothing.yaml is empty.")


def test_a_job_file_that_names_files_is_told_to_have_them_dropped(form: Window) -> None:
    page = form.page
    machine = {"topology": {"file": "ring.edges"}, "host_speed": "40Gf", "link_bandwidth": "1Gbps"}
    source = {"source": "solver", "build": "make", "run": "solver", "ranks": 4}
    job = {"name": "a", "application": source, "machine": machine, "budget": {"trials": 3}}
    drop(page, job_yaml=yaml.safe_dump({**job, "search": {"mapping": ["by-order"]}}).encode())
    problems = page.locator("#job-problems li")
    expect(problems).to_have_count(1)
    expect(problems).to_contain_text("machine.topology.file: is a file of yours")
    drop(page, ring_edges=RING)
    expect(problems).to_contain_text("application.source: is a folder of yours")
    expect(page.get_by_text("40 Gf a core")).to_be_visible()
    form.expected = ("422",)


def test_a_file_that_comes_before_the_form_waits_for_it(form: Window) -> None:
    page = form.page
    held: list[Route] = []
    page.route("**/api/v1/catalogue", lambda route: held.append(route))
    page.reload()
    drop(page, job_yaml=JOB)
    expect(
        page.get_by_text("job.yaml: opened as soon as the service has answered.")
    ).to_be_visible()
    held[0].continue_()
    expect(page.get_by_label("Job name")).to_have_value("dropped")
