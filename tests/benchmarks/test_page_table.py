"""What the documentation says of how fast the page is, is what was measured."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.page.table import PAGE, RESULTS, TABLE, page_table, printed, row
from benchmarks.page.views import TABS
from benchmarks.tables_in_docs import table_of


def test_the_table_is_that_of_the_results() -> None:
    assert table_of(PAGE, TABLE) == page_table()


def test_every_tab_was_measured() -> None:
    measured = {one["what"] for one in json.loads(RESULTS.read_text())["rows"]}
    for what in ("first view", "switch of tab"):
        assert {f"{what}, 10,000 trials: {tab}" for tab in TABS} <= measured


def test_a_bar_is_met_by_the_worst_figure_and_by_none_that_is_missing() -> None:
    assert row("x", "s", [0.1, 0.3, 0.2], 0.3) == {
        "what": "x",
        "unit": "s",
        "count": 3,
        "median": 0.2,
        "worst": 0.3,
        "bar": 0.3,
        "met": False,
    }
    assert row("x", "s", [0.1], 0.3)["met"]
    assert not row("x", "s", [], 0.3)["met"]


def test_what_was_not_measured_is_a_dash(tmp_path: Path) -> None:
    missing = row("x", "s", [], 0.3)
    results = tmp_path / "results.json"
    results.write_text(json.dumps({**json.loads(RESULTS.read_text()), "rows": [missing]}))

    assert printed(missing).split() == ["x,", "s", "0", "-", "-", "0.3", "MISSED"]
    assert "| x | 0 | - | - | 0.3 s | **missed** |\n" in page_table(results)
