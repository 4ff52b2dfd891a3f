"""What the documentation says of the filters of system calls is what was measured."""

from __future__ import annotations

from benchmarks.system_calls import PAGE, TABLE, system_calls_table
from benchmarks.tables_in_docs import table_of


def test_the_table_is_that_of_the_results() -> None:
    assert table_of(PAGE, TABLE) == system_calls_table()
