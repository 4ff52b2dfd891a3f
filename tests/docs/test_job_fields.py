"""The page of all fields of job files is what their schema says."""

from __future__ import annotations

import re

from deploy.job_fields import SAMPLE, main, page
from searchspace.documents import read_document
from searchspace.formats.pattern_names import PATTERN_NAMES
from searchspace.job import load_new_job
from searchspace.schema import file_schema


def test_the_page_is_that_of_the_schema() -> None:
    assert main(["--check"]) == 0, "run python -m deploy.job_fields"


def test_the_sample_is_a_valid_job() -> None:
    assert load_new_job(read_document(SAMPLE)).name == "cg-64"


def test_every_section_has_the_fields_of_its_model() -> None:
    whole = file_schema("job")
    models = [whole, *whole["$defs"].values()]
    _, *sections = re.split(r"^## ", page(), flags=re.MULTILINE)
    rows = [tuple(re.findall(r"^\| `(\w+)` \|", one, re.MULTILINE)) for one in sections]
    assert sorted(rows) == sorted(tuple(model.get("properties", {})) for model in models)


def test_what_is_not_required_has_a_default() -> None:
    section = page().partition("## `search`\n")[2].partition("\n## ")[0]
    row = r"^\| `(\w+)` \|(?:[^|]|\\\|)+\| ([^|]*) \|"
    defaults = dict(re.findall(row, section, re.MULTILINE))
    assert defaults["ordering"] == "`[original]`"
    assert "" not in defaults.values()
    assert re.search(r"^\| `objective` .* \| `\[time\]` \| ", page(), re.MULTILINE)


def test_the_patterns_are_named() -> None:
    (row,) = re.findall(r"^\| `pattern` \| text .*$", page(), re.MULTILINE)
    assert all(f"`{name}`" in row for name in PATTERN_NAMES)


def test_links_lead_to_sections() -> None:
    text = page()
    headings = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    anchors = {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings}
    assert len(anchors) == len(headings)
    assert set(re.findall(r"\(#([^)]+)\)", text)) <= anchors
