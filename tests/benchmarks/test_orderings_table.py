"""What the documentation says of orderings is what was measured."""

from __future__ import annotations

from benchmarks.orderings import PAGE, orderings_tables
from benchmarks.tables_in_docs import table_of


def test_the_tables_are_those_of_the_results() -> None:
    tables = orderings_tables()
    assert tables
    for name, table in tables.items():
        assert table_of(PAGE, name) == table
