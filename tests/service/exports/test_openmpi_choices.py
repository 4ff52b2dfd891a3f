"""What Open MPI chooses by itself: forced by name, the same ranks exchange the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from measuring.building import build_program
from searchspace.collectives.equivalents import TARGETS
from searchspace.collectives.equivalents.openmpi import algorithm_parameter
from searchspace.collectives.equivalents.openmpi_choices import chosen_algorithm
from searchspace.configuration import Configuration
from searchspace.formats.operations import Value, encode
from searchspace.formats.time_independent import NOT_COMMUTATIVE
from tests.service.exports.traffic import Bytes, monitored, replayed
from tests.workers.simulator.runs import write_program

RANKS = 8
BYTES = 48_000
OPERATIONS = ("allreduce", "bcast", "gather", "reduce_scatter")
AGREED = 64.0
"""Bytes by which the ranks agree when to begin, and what they took: by the same operations."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("choices") / "collectives"
    return build_program("collectives", "openmpi", output)


def moved(program: Path, operation: str, folder: Path, **settings: str) -> Bytes:
    command = ["mpirun.openmpi", "--oversubscribe", "-np", str(RANKS), str(program)]
    environment = {f"OMPI_MCA_{name}": value for name, value in settings.items()}
    ran, found = monitored([*command, operation, "0", f"{BYTES}x1x1"], RANKS, folder, **environment)
    assert ran.status == 0, ran.errors
    return found


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_library_does_as_the_table_says(operation: str, program: Path, tmp_path: Path) -> None:
    chosen = chosen_algorithm(operation, RANKS, BYTES)
    assert chosen is not None
    forced = {**dict(TARGETS["openmpi-4.1"].always), algorithm_parameter(operation): chosen}

    own = moved(program, operation, tmp_path / "own")
    meant = moved(program, operation, tmp_path / "forced", **forced)

    assert own.sum() >= BYTES
    assert np.allclose(own, meant, atol=AGREED)


@pytest.mark.parametrize("ranks", [5, 8])
@pytest.mark.parametrize("operation", ["allreduce", "reduce", "reduce_scatter"])
def test_operations_that_do_not_commute_go_as_simulated(
    operation: str, ranks: int, compiled: Callable[..., Path], tmp_path: Path
) -> None:
    """`ordered.c` composes maps, 8 bytes each; at last the ranks agree on what they found."""
    calls = b""
    for count in (1, 24, 3000):
        fields: dict[str, Value] = {"count": count * ranks}
        if operation == "reduce_scatter":
            fields = {"counts": [count] * ranks}
        calls += encode(operation, size=8, flags=NOT_COMMUTATIVE, **fields)
    calls += encode("allreduce", count=1, size=4)
    trace = write_program(tmp_path / "ordered.ht", [[calls]] * ranks)
    chosen = Configuration({"topology": "given", "mpi": "openmpi-4.1"})
    program = compiled("mpicc.openmpi", "ordered.c")
    command = ["mpirun.openmpi", "--oversubscribe", "-np", str(ranks), str(program), operation]

    ran, real = monitored(command, ranks, tmp_path)

    assert ran.right, ran.errors
    assert np.allclose(real, replayed(trace, ranks, chosen), atol=AGREED)


def test_tables_say_nothing_of_one_rank_or_other_calls() -> None:
    assert chosen_algorithm("allreduce", 1, 8) is None
    assert chosen_algorithm("scan", 8, 8) is None
    assert chosen_algorithm("allreduce", 16, 262_144) == "rabenseifner"
    assert chosen_algorithm("allreduce", 16, 1_024) == "recursive_doubling"
