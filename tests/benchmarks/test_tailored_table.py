"""What the documentation says of tailored networks is what was measured."""

from __future__ import annotations

from benchmarks.tables_in_docs import table_of
from benchmarks.tailored import PAGE, TABLE, tailored_table


def test_the_table_is_that_of_the_results() -> None:
    assert table_of(PAGE, TABLE) == tailored_table()
