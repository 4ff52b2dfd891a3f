"""Notebooks as they lie in the repository: without output, told on a page, and part of the site."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_four_are_told_on_their_page() -> None:
    linked = re.findall(r"\]\(([\w-]+\.ipynb)\)", (FOLDER / "README.md").read_text())
    assert sorted(linked) == [path.name for path in NOTEBOOKS]
    assert len(linked) == 4


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_are_valid_and_hold_no_output(path: Path) -> None:
    notebook = json.loads(path.read_text())
    nbformat.validate(notebook)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert code
    assert [cell for cell in code if cell["outputs"] or cell["execution_count"] is not None] == []
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_begin_with_a_title_and_say_how_to_begin(path: Path) -> None:
    first = json.loads(path.read_text())["cells"][0]
    text = "".join(first["source"])
    assert text.startswith("# ")
    assert "`./hamtune up`" in text
