"""Rules for a program of mixed sizes: no slower than the library or one algorithm for all sizes."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from searchspace.collectives.decision_table import chosen
from searchspace.collectives.equivalents import TARGETS
from searchspace.collectives.equivalents.decisions import decided
from searchspace.configuration import Configuration
from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.machine import parse_machine
from searchspace.platform import resolve
from workers.decision_tables import Decided, decide_collectives
from workers.program_rules import Program, ProgramRules, rules_for
from workers.simulator_client import Simulator

RANKS = 8
RING = Configuration({"topology": "ring"})
MACHINE = parse_machine(
    {"nodes": RANKS, "degree": 2, "host_speed": "10Gf", "link_bandwidth": "10Gbps"}
).simulated_by("packets")
OPENMPI = TARGETS["openmpi-4.1"]
SIZES = {"allreduce": {RANKS: (8, 1 << 20)}, "bcast": {RANKS: (64, 1 << 20)}}
CLUSTER = resolve(RING, MACHINE, RANKS)


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three rounds of many small and one large call of each."""
    calls = [
        encode(name, count=size // 4, size=4) * (1 if size > 1000 else 300)
        for name, of in SIZES.items()
        for size in of[RANKS]
    ]
    path = tmp_path_factory.mktemp("mixed") / "mixed.ht"
    operations = b"".join(calls) * 3 + encode("finalize")
    write_trace(path, TraceHeader(ranks=RANKS, program="mixed"), [operations] * RANKS)
    return path


@pytest.fixture(scope="module")
def alone() -> Decided:
    return decide_collectives(CLUSTER, OPENMPI, SIZES, non_commutative=())


def found(trace: Path, alone: Decided, most: int = 200) -> ProgramRules:
    with Simulator([trace]) as simulator:
        program = Program(simulator, CLUSTER.simulator_request(), OPENMPI, most)
        return rules_for(program, OPENMPI, SIZES, alone.table, non_commutative=())


def test_rules_are_faster_than_the_library_and_than_one_algorithm(
    trace: Path, alone: Decided
) -> None:
    rules = found(trace, alone)
    assert rules.seconds < 0.95 * rules.default
    assert rules.seconds < 0.999 * rules.single
    small, large = (chosen(rules.table["allreduce"], RANKS, size) for size in (8, 1 << 20))
    assert small != large


def test_the_program_takes_so_long_under_the_table(trace: Path, alone: Decided) -> None:
    rules = found(trace, alone)
    own = {name: decided(rows, name, OPENMPI.selector) for name, rows in rules.table.items()}
    with Simulator([trace]) as simulator:
        program = Program(simulator, CLUSTER.simulator_request(), OPENMPI, 1)
        assert program.seconds({f"smpi/{name}": text for name, text in own.items()}) == (
            rules.seconds
        )


def test_the_answer_is_the_same_again(trace: Path, alone: Decided) -> None:
    assert found(trace, alone) == found(trace, alone)


@pytest.mark.parametrize("most", [1, 3, 12])
def test_few_simulations_give_what_was_found_by_then(
    most: int, trace: Path, alone: Decided
) -> None:
    rules = found(trace, alone, most=most)
    assert rules.evaluations == most
    assert rules.seconds <= min(rules.default, rules.single)


def test_what_was_given_up_is_simulated_again_where_it_may_take_longer(trace: Path) -> None:
    with Simulator([trace]) as simulator:
        program = Program(simulator, CLUSTER.simulator_request(), OPENMPI, 10)
        whole = Program(simulator, CLUSTER.simulator_request(), OPENMPI, 10).seconds({})
        assert math.isinf(program.seconds({}, whole / 2))
        assert math.isinf(program.seconds({}, whole / 4))
        assert program.evaluations == 1
        assert program.seconds({}, 2 * whole) == whole == program.seconds({})
        assert program.evaluations == 2
