"""What the study of trust measures."""

from __future__ import annotations

import pytest

from measuring.trust.cases import CALIBRATED_ON, NETWORKS, PROGRAMS, TARGET_OF, Case, plan

CASES = plan(quick=False).cases


def test_each_case_is_measured_once_and_none_where_the_machine_was_calibrated() -> None:
    assert len(set(CASES)) == len(CASES) >= 120
    assert CALIBRATED_ON not in {case.network for case in CASES}


def test_both_libraries_all_programs_a_large_and_an_indirect_network_are_there() -> None:
    assert {case.library for case in CASES} == {"openmpi", "mpich"}
    assert {case.choice for case in CASES if case.is_program} == set(PROGRAMS)
    networks = {case.network for case in CASES}
    assert {NETWORKS[name].hosts for name in networks} == {16, 64}
    assert any(NETWORKS[name].graph().switches for name in networks)
    assert len({case.operation for case in CASES if not case.is_program}) == 8


@pytest.mark.parametrize("case", sorted({(c.library, c.operation, c.choice) for c in CASES}))
def test_libraries_have_each_algorithm_as_it_is_simulated(case: tuple[str, str, str]) -> None:
    library, operation, choice = case
    if operation == "program" or choice == "default":
        return
    target = TARGET_OF[library]  # type: ignore[index]
    for hosts in {NETWORKS[c.network].hosts for c in CASES if c.choice == choice}:
        assert target.equivalent(operation, choice, (hosts,)).kind == "same"


def test_a_case_runs_under_its_own_algorithm() -> None:
    case = Case("torus", "openmpi", "allreduce", 1024, "rab")

    assert dict(case.configuration) == {"collectives.allreduce": "rab"}


def test_what_a_library_chooses_by_itself_is_simulated_by_its_own_table() -> None:
    case = Case("torus", "openmpi", "allreduce", 1 << 10, "default")
    assert dict(case.configuration) == {"collectives.allreduce": "openmpi-4.1"}


def test_a_quick_plan_is_part_of_the_whole_one() -> None:
    assert set(plan(quick=True).cases) < set(CASES)
