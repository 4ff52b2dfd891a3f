"""What the documentation says of searches of networks is what was measured."""

from __future__ import annotations

from benchmarks.networks import PAGE, TABLE, networks_table
from benchmarks.tables_in_docs import table_of


def test_the_table_is_that_of_the_results() -> None:
    assert table_of(PAGE, TABLE) == networks_table()
