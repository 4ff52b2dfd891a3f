"""What the documentation says of truncated traces is what was measured."""

from __future__ import annotations

import pytest

from benchmarks.fidelity import CASES, PAGE, Case, fidelity_tables, iterations_of
from benchmarks.tables_in_docs import table_of


def test_the_tables_are_those_of_the_results() -> None:
    for name, table in fidelity_tables().items():
        assert table_of(PAGE, name) == table


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_case_has_iterations_that_its_specification_counts(case: Case) -> None:
    assert iterations_of(case.program) >= 1
