"""What the documentation says of many hosts is what was measured."""

from __future__ import annotations

from benchmarks.service.table import PAGE, RESULTS, TABLE, bars_table
from benchmarks.tables_in_docs import table_of


def test_the_table_is_that_of_the_results() -> None:
    assert list(RESULTS.glob("*.json"))
    assert table_of(PAGE, TABLE) == bars_table()
