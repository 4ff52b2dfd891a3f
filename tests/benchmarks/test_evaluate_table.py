"""What the documentation says of one evaluation is what was measured."""

from __future__ import annotations

from benchmarks.evaluate import PAGE, TABLE, evaluate_table
from benchmarks.tables_in_docs import table_of


def test_the_table_is_that_of_the_results() -> None:
    assert table_of(PAGE, TABLE) == evaluate_table()
