"""What the documentation says of the recorder is what was measured."""

from __future__ import annotations

from benchmarks.recorder import PAGE, recorder_tables
from benchmarks.tables_in_docs import table_of


def test_the_tables_are_those_of_the_results() -> None:
    tables = recorder_tables()
    assert tables
    for name, table in tables.items():
        assert table_of(PAGE, name) == table
