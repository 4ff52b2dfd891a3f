"""The simulator gives the times of the programs themselves under smpirun, and of stock replay.

Both run on the platform and with the options that an export would hand to plain smpirun.
"""

from __future__ import annotations

import functools
import itertools
import random
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.machines import designed
from searchspace.collectives import COLLECTIVES, DEFAULT, called_collectives
from searchspace.collectives.tables import OF_SMPI
from searchspace.configuration import Configuration
from searchspace.formats.operations import Value, decode, encode
from searchspace.formats.time_independent import time_independent
from searchspace.formats.trace import TraceHeader, read_operations, write_trace
from searchspace.kernels import trace_summary
from searchspace.machine import parse_machine
from searchspace.platform import Infeasible, Resolved, resolve
from service.exports.simgrid_export import REPLAY
from tests.workers.simulator import smpirun
from workers.capture import capture_builtin
from workers.simulator_client import Simulator

CONFIGURATIONS = 5
MOST_TRIED = 60

PROGRAMS: dict[str, tuple[str | None, dict[str, object], int]] = {
    "bt": ("S", {"iterations": 2}, 4),
    "cg": ("S", {}, 8),
    "ft": ("S", {}, 8),
    "is": ("S", {}, 8),
    "lu": ("S", {"iterations": 2}, 8),
    "mg": ("S", {}, 8),
    "mm": (None, {"order": 96}, 4),
    "sp": ("S", {"iterations": 2}, 4),
}


def configurations(seed: str, ranks: int, summary: Mapping[str, Any]) -> Iterator[Resolved]:
    """Random machines and configurations on which the program can run, for ever."""
    rng = random.Random(seed)
    called = called_collectives(summary)
    used = sorted(called)
    while True:
        machine = parse_machine(
            {
                "nodes": 8,
                "degree": 3,
                "host_speed": "10Gf",
                "cores_per_host": rng.choice([1, 2]),
                "link_bandwidth": "10Gbps",
                "link_latency": "100ns",
                "switch_latency": "60ns",
                "switch_bandwidth": rng.choice([None, "30Gbps"]),
                "loopback_latency": "200ns",
                "interface_bandwidth": rng.choice([None, "12Gbps"]),
                "memory_bandwidth": rng.choice([None, "100Gbps"]),
                "host_speeds": rng.choice([None, ["10Gf", "7Gf"] * 4]),
                "model": rng.choice(["smpi-default", "plain"]),
            }
        )
        configuration = Configuration.from_json(
            {
                "topology": rng.choice(["random", "mesh-2d", "torus-2d", "torus-3d"]),
                "topology_seed": rng.randrange(100),
                "ordering": rng.choice(["original", "hamorder"]),
                "mapping": rng.choice(["by-order", "packed", "round-robin"]),
                "mpi": rng.choice([DEFAULT, *OF_SMPI]),
                "collectives": {
                    name: rng.choice(
                        [DEFAULT, *(a.name for a in COLLECTIVES[name].offered if not a.own)]
                    )
                    for name in used
                },
            }
        )
        try:
            yield resolve(configuration, machine, ranks, collectives=called)
        except Infeasible:
            continue


@dataclass(frozen=True)
class Built:
    """A built-in program, its trace, and random configurations for it."""

    program: Path
    arguments: list[str]
    ranks: int
    trace: Path

    def configurations(self) -> Iterator[Resolved]:
        """The same ones whenever asked."""
        return configurations(self.program.name, self.ranks, trace_summary(self.trace))


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Built]:
    """Compiles and captures each program once."""

    @functools.cache
    def built(name: str) -> Built:
        class_, parameters, ranks = PROGRAMS[name]
        directory = tmp_path_factory.mktemp(name)
        capture_builtin(name, class_, ranks, parameters, directory / "captured.ht")
        arguments = [class_] if class_ else []
        arguments += [str(value) for value in parameters.values()]
        program = smpirun.compile_builtin(name, directory)
        return Built(program, arguments, ranks, directory / "captured.ht")

    return built


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_replay_takes_as_long_as_the_program_under_smpirun(
    name: str, build: Callable[[str], Built]
) -> None:
    built = build(name)
    compared = 0
    with Simulator([built.trace]) as simulator:
        for resolved in itertools.islice(built.configurations(), MOST_TRIED):
            answer = simulator.evaluate(resolved.simulator_request())
            live = smpirun.live(built.program, built.arguments, resolved)
            if live is None:  # SMPI gives up on some algorithms for some communicators
                assert answer["reason"]["kind"] in ("crash", "deadlock"), resolved.options
                continue
            assert answer["status"] == "completed", (resolved.options, answer["reason"])
            assert answer["simulated_time"] == pytest.approx(live, rel=1e-6), resolved.options
            compared += 1
            if compared == CONFIGURATIONS:
                break
    assert compared == CONFIGURATIONS


def test_a_replay_is_exact_at_the_size_of_published_studies(tmp_path: Path) -> None:
    # The setting of Hu (2023). Thousands of computations end at the instant of a message here, and
    # a replay that treats such ties in another way than SMPI is off by a thousandth.
    machine = parse_machine(designed(64, 6, switch_bandwidth="10Pbps"))
    resolved = resolve(
        Configuration.from_json({"topology": "random", "topology_seed": 1}), machine, 64
    )
    capture_builtin("cg", "A", 64, {}, tmp_path / "cg.ht")
    program = smpirun.compile_builtin("cg", tmp_path)

    with Simulator([tmp_path / "cg.ht"]) as simulator:
        replayed = simulator.evaluate(resolved.simulator_request())["simulated_time"]

    assert replayed == pytest.approx(smpirun.live(program, ["A"], resolved), rel=1e-9)


def parts_of_24_bytes(rank: int, ranks: int) -> bytes:
    """Collectives of elements that SMPI's time-independent traces have no datatype for."""
    sending: dict[str, Value] = {"send_count": 300, "send_size": 24}
    receiving: dict[str, Value] = {"recv_count": 300, "recv_size": 24}
    counts = [100 * (other + 1) for other in range(ranks)]
    root = rank == 0
    return b"".join(
        [
            encode("alltoall", **sending, **receiving),
            encode("allgather", **sending, **receiving),
            encode("scatter", **receiving, **(sending if root else {})),
            encode(
                "alltoallv",
                send_size=24,
                recv_size=24,
                send_counts=[counts[rank]] * ranks,
                recv_counts=counts,
            ),
            encode(
                "gatherv",
                send_count=counts[rank],
                send_size=24,
                recv_size=24,
                recv_counts=counts if root else (),
            ),
            encode(
                "scatterv",
                recv_count=counts[rank],
                recv_size=24,
                send_size=24,
                send_counts=counts if root else (),
            ),
            encode("scan", count=500, size=24),
            encode("exscan", count=500, size=24),
            encode("finalize"),
        ]
    )


def test_an_exported_trace_takes_as_long_where_bytes_stand_for_its_datatypes(
    tmp_path: Path,
) -> None:
    ranks = 6
    trace = tmp_path / "parts.ht"
    header = TraceHeader(ranks=ranks, program="parts")
    write_trace(trace, header, [parts_of_24_bytes(rank, ranks) for rank in range(ranks)])
    (tmp_path / "trace").mkdir()
    for rank in range(ranks):
        lines = time_independent(rank, ranks, decode(read_operations(trace, rank)))
        (tmp_path / "trace" / f"rank-{rank}.txt").write_text("".join(lines))
    player = tmp_path / "replay"
    subprocess.run(["smpicc", "-O2", str(REPLAY), "-o", str(player)], check=True)
    compared = 0
    with Simulator([trace]) as simulator:
        for resolved in itertools.islice(
            configurations("parts", ranks, trace_summary(trace)), MOST_TRIED
        ):
            live = smpirun.live(player, ["trace"], resolved)
            answer = simulator.evaluate(resolved.simulator_request())
            if live is None:
                assert answer["reason"]["kind"] in ("crash", "deadlock"), resolved.options
                continue
            assert answer["simulated_time"] == pytest.approx(live, rel=1e-6), resolved.options
            compared += 1
            if compared == CONFIGURATIONS:
                break
    assert compared == CONFIGURATIONS


# FT and MM call collectives on parts of the world, which stock replay takes for the whole.
@pytest.mark.parametrize("name", ["cg", "is", "mg"])
def test_a_replay_takes_as_long_as_the_stock_replay_where_that_is_right(
    name: str, build: Callable[[str], Built]
) -> None:
    built = build(name)
    drawn = built.configurations()
    stock_trace = smpirun.record_stock_trace(built.program, built.arguments, next(drawn))
    compared = 0
    with Simulator([built.trace]) as simulator:
        for drawn_one in itertools.islice(drawn, MOST_TRIED):
            # Stock traces leave out the time that MPI_Wtime takes.
            resolved = replace(drawn_one, options={**drawn_one.options, "smpi/wtime": "0"})
            stock = smpirun.replay_stock_trace(stock_trace, resolved)
            if stock is None:  # it crashes on many algorithms
                continue
            answer = simulator.evaluate(resolved.simulator_request())
            assert answer["simulated_time"] == pytest.approx(stock, rel=1e-9), resolved.options
            compared += 1
            if compared == CONFIGURATIONS:
                break
    assert compared == CONFIGURATIONS
