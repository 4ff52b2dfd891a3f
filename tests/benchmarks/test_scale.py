"""What the documentation says of large machines is what was measured."""

from __future__ import annotations

from benchmarks.scale.table import PAGE, RESULTS, TABLE, scale_table
from benchmarks.tables_in_docs import table_of


def test_the_table_is_that_of_the_results() -> None:
    assert list(RESULTS.glob("*.json"))
    assert table_of(PAGE, TABLE) == scale_table()
