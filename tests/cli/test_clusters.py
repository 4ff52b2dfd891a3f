"""The hosts that a launcher starts programs on."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.clusters import launcher, open_cluster
from searchspace.errors import InvalidInput


def test_a_name_stands_on_a_line_for_each_core_and_comments_are_passed_over(
    tmp_path: Path,
) -> None:
    (tmp_path / "hosts").write_text("# ours\nn1\n  # the second\nn1\nn2 # slow\n\nn2\n")
    assert launcher("mpirun -v", tmp_path / "hosts") == (["mpirun", "-v"], ["n1", "n1", "n2", "n2"])


def test_a_mark_of_an_editor_is_no_part_of_a_name(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("n1\nn1\n", encoding="utf-8-sig")
    assert launcher("mpirun", tmp_path / "hosts")[1] == ["n1", "n1"]


@pytest.mark.parametrize("line", ["n2 slots=4", "n2:4", "n2 n3"])
def test_the_files_of_launchers_are_refused_with_what_to_write(line: str, tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text(f"n1\n{line}\n")
    with pytest.raises(InvalidInput, match=f"line 2: '{line}' is more than a name; write the name"):
        launcher("mpirun", tmp_path / "hosts")


def test_hosts_of_different_cores_are_refused(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("n1\nn1\nn2\n")
    with pytest.raises(InvalidInput, match="n1 stands there 2 times and n2 1"):
        open_cluster(None, "mpirun", tmp_path / "hosts", "openmpi")
