"""What the documentation says of the service and of many hosts is what was measured."""

from __future__ import annotations

import pytest

from benchmarks.service.table import HOSTS, RESULTS, SERVICE, bars_table
from benchmarks.tables_in_docs import table_of


@pytest.mark.parametrize(("page", "name"), [HOSTS, SERVICE])
def test_the_tables_are_those_of_the_results(page: str, name: str) -> None:
    assert list(RESULTS.glob("*.json"))
    assert table_of(page, name) == bars_table(page, name)
