"""The table of techniques in the documentation is what was measured."""

from __future__ import annotations

import json

from benchmarks.tables_in_docs import table_of
from benchmarks.techniques import PAGE, RESULTS, TABLE, TECHNIQUES, techniques_table


def test_the_documentation_says_what_was_measured() -> None:
    found = json.loads(RESULTS.read_text())
    assert set(found["rows"]) == set(TECHNIQUES)
    assert table_of(PAGE, TABLE) == techniques_table(found)
