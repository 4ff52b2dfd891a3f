"""What the documentation says of learning from finished jobs is what was measured."""

from __future__ import annotations

import json

from benchmarks.search.spaces import SPACES, TRANSFER
from benchmarks.search.transfer import PAGE, PAIRS, RESULTS, SPACES_OF_PAIRS, TABLE, table
from benchmarks.tables_in_docs import table_of


def test_the_table_is_that_of_the_results() -> None:
    assert table_of(PAGE, TABLE) == table(json.loads(RESULTS.read_text()))


def test_every_pair_was_run_with_twenty_seeds_or_more() -> None:
    found = json.loads(RESULTS.read_text())["pairs"]
    assert [(one["source"], one["target"]) for one in found] == [
        (pair.source, pair.target) for pair in PAIRS
    ]
    assert all(len(one["with"]) == len(one["without"]) >= 20 for one in found)


def test_pairs_are_of_spaces_that_no_constant_was_chosen_on() -> None:
    assert set(SPACES_OF_PAIRS) == TRANSFER.keys()
    assert not SPACES.keys() & TRANSFER.keys()
