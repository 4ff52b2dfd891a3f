"""What the documentation says of other systems is what was found there."""

from __future__ import annotations

from benchmarks.systems import PAGE, TABLE, systems_table
from benchmarks.tables_in_docs import table_of


def test_the_table_is_that_of_the_results() -> None:
    assert table_of(PAGE, TABLE) == systems_table()
