"""What the documentation says of packets' cost is what was measured."""

from __future__ import annotations

from benchmarks.packets.table import PAGE, packets_tables
from benchmarks.tables_in_docs import table_of


def test_the_tables_are_those_of_the_results() -> None:
    for name, table in packets_tables().items():
        assert table_of(PAGE, name) == table
