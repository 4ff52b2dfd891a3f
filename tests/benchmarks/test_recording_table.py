"""What the documentation says of recordings is what was measured."""

from __future__ import annotations

from benchmarks.recording import PAGE, TABLE, recording_table
from benchmarks.tables_in_docs import table_of


def test_the_table_is_that_of_the_results() -> None:
    assert table_of(PAGE, TABLE) == recording_table()
