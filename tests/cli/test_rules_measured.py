"""`hamtune rules` with a launcher refuses at once what could not be measured in the end."""

from __future__ import annotations

import shlex
from pathlib import Path

from tests.cli.conftest import Hamtune

MACHINE = (
    "{nodes: 4, host_speed: 1Gf, link_bandwidth: 1Gbps,"
    " topology: {edges: [[0, 1], [1, 2], [2, 3], [0, 3]]}}"
)
LAUNCHER = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"]


def test_a_directory_that_nothing_can_be_preloaded_from(tmp_path: Path) -> None:
    hamtune = Hamtune(tmp_path / "of mine", {"HAMTUNE_DATA": str(tmp_path / "data")})
    hamtune.directory.mkdir()
    (tmp_path / "hosts").write_text("a\nb\nc\nd\n")
    line = hamtune.refused(
        *("rules", MACHINE, "--application", "is.S.4", "-o", "rules"),
        *("--mpirun", shlex.join(LAUNCHER), "--hosts", tmp_path / "hosts", "--program", "./is"),
    )
    assert "nothing can be preloaded into programs from" in line
    assert "measure from a directory without them" in line
