"""Tables of the documentation are written as Markdown, each in its own place."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import tables_in_docs
from benchmarks.tables_in_docs import markdown, missed_unless, table_of, write_tables


def test_a_table_has_a_line_for_each_row() -> None:
    assert markdown(["a", "b"], [["1", "2"], ["3", "---"]]) == (
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | --- |\n"
    )


def test_a_figure_says_that_it_misses_its_bar() -> None:
    assert (missed_unless(True), missed_unless(False)) == ("", " (missed)")


def test_tables_are_written_between_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables_in_docs, "DOCS", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- a -->\nold\n<!-- end of a -->\n<!-- b -->\n<!-- end of b -->\n")
    write_tables("page.md", {"a": "new\n", "b": "other\n"})
    assert table_of("page.md", "a") == "new\n"
    assert table_of("page.md", "b") == "other\n"
    assert page.read_text().startswith("before\n<!-- a -->\n")
