"""What the documentation says of decision files is what was measured."""

from __future__ import annotations

from benchmarks.rules import PAGE, TABLE, rules_table
from benchmarks.tables_in_docs import table_of


def test_the_table_is_that_of_the_results() -> None:
    assert table_of(PAGE, TABLE) == rules_table()
