"""That an algorithm is the same in Open MPI as in SMPI: the same ranks exchange the same bytes."""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from searchspace.collectives import COLLECTIVES, DECIDED_BY_ANOTHER
from searchspace.collectives.equivalents import TARGETS
from searchspace.collectives.equivalents.openmpi import ALGORITHM_IDS, algorithm_parameter
from tests.service.exports.traffic import Bytes, equal, monitored, simulated

TARGET = TARGETS["openmpi-4.1"]


def rounds(ranks: int) -> list[dict[str, str]]:
    """All algorithms that are the same, one of each collective at a time."""
    columns: list[list[tuple[str, str] | None]] = []
    for collective in TARGET.entries:
        if collective != "barrier":  # moves no bytes
            algorithms = COLLECTIVES[collective].algorithms
            columns.append(
                [
                    (collective, name)
                    for name in TARGET.expressible(collective, (ranks,))
                    if algorithms[name].invalid(ranks, range(ranks)) is None
                ]
            )
    # SMPI runs these by the algorithm of another, which is not called in the same round.
    for collective, decider in DECIDED_BY_ANOTHER.items():
        later = len(TARGET.expressible(decider, (ranks,)))
        names = TARGET.expressible(collective, (ranks,))
        columns.append([None] * later + [(collective, name) for name in names])
    return [
        dict(pair for pair in row if pair is not None) for row in itertools.zip_longest(*columns)
    ]


def library(
    algorithms: Mapping[str, str], ranks: int, program: Path, folder: Path, **forced: str
) -> Bytes:
    """What Open MPI moves when these are forced."""
    settings = dict(TARGET.always)
    for collective, name in algorithms.items():
        settings |= TARGET.equivalent(collective, name, (ranks,)).settings or {}
    ran, found = monitored(
        ["mpirun.openmpi", "--oversubscribe", "-np", str(ranks), program, *algorithms],
        ranks,
        folder,
        **{f"OMPI_MCA_{name}": value for name, value in {**settings, **forced}.items()},
    )
    assert ran.right, ran.errors
    return found


@pytest.mark.parametrize("ranks", [6, 8])
def test_what_is_called_the_same_moves_the_same_bytes(
    ranks: int, compiled: Callable[[str], Path], tmp_path: Path
) -> None:
    program = compiled("mpicc.openmpi")
    for number, algorithms in enumerate(rounds(ranks)):
        real = library(algorithms, ranks, program, tmp_path / f"real-{number}")
        assert equal(real, simulated(algorithms, ranks, tmp_path / "simulated")), algorithms


def test_another_algorithm_moves_other_bytes(
    compiled: Callable[[str], Path], tmp_path: Path
) -> None:
    algorithms = {"bcast": "flattree", "allgather": "NTSLR"}
    meant = simulated(algorithms, 6, tmp_path / "simulated")
    program = compiled("mpicc.openmpi")

    other = {algorithm_parameter("bcast"): "binomial"}
    wrong = library(algorithms, 6, program, tmp_path / "wrong", **other)
    ignored = library(
        algorithms, 6, program, tmp_path / "off", **{"coll_tuned_use_dynamic_rules": "0"}
    )

    assert not equal(wrong, meant)
    assert not equal(ignored, meant)


def test_the_ids_are_those_of_the_library() -> None:
    command = ["ompi_info", "--param", "coll", "tuned", "--level", "9", "--parsable"]
    known = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "HOME": "/nowhere"}
    ).stdout.splitlines()

    for collective, names in ALGORITHM_IDS.items():
        prefix = f"mca:coll:tuned:param:{algorithm_parameter(collective)}:enumerator:value:"
        listed = [line.removeprefix(prefix) for line in known if line.startswith(prefix)]
        assert listed == [f"{number}:{name}" for number, name in enumerate(names)]
