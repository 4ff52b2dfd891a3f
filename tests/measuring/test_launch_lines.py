"""What is refused before a launcher starts, and how long one is waited for."""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path

import pytest

from measuring.clusters import Launch, RunFailed
from measuring.launch_lines import directory_for_runs, library_version, line_of, patience
from searchspace.errors import InvalidInput
from service.exports.manifest import MANIFEST

WEEK = 7 * 24 * 3600


@pytest.mark.parametrize(
    ("asked", "waited"), [(1.5, 1.5), (1e300, WEEK), (math.inf, WEEK), (math.nan, WEEK)]
)
def test_no_run_is_waited_for_longer_than_a_week(asked: float, waited: float) -> None:
    assert patience(Launch(command=["true"], ranks=1, seconds=asked)) == waited


@pytest.mark.parametrize("name", ["of mine", "at:noon", "a\ttab"])
def test_a_library_whose_path_would_be_cut_is_not_preloaded(name: str, tmp_path: Path) -> None:
    launch = Launch(command=["true"], ranks=1, preloaded=[tmp_path / name / "whole.so"])
    with pytest.raises(RunFailed, match=r"nothing can be preloaded .* blanks and colons"):
        line_of(launch, ["mpirun"], ["localhost"], 1, tmp_path, {})


def test_what_a_launcher_says_of_itself_need_not_be_text(tmp_path: Path) -> None:
    launcher = tmp_path / "launcher"
    launcher.write_text("#!/bin/sh\nprintf '\\377 (Open MPI) 4.1.4\\n'\n")
    launcher.chmod(0o755)
    assert library_version("openmpi", [str(launcher)]) == "Open MPI 4.1.4"
    assert library_version("mpich", [str(launcher)]) is None


def test_parameters_that_open_mpi_would_pass_over_are_refused(tmp_path: Path) -> None:
    export = tmp_path / "one,two"
    export.mkdir()
    manifest = {
        "format": "openmpi",
        "ranks": 1,
        "launcher_variable": "MPIRUN",
        "exported": {"command": ["./mpirun.sh"]},
    }
    (export / MANIFEST).write_text(json.dumps(manifest))
    launch = Launch(command=["true"], ranks=1, export=export)
    line_of(launch, ["mpirun"], ["localhost"], 1, tmp_path, {})
    (export / "mca-params.conf").write_text("coll_tuned_use_dynamic_rules = 1\n")
    with pytest.raises(RunFailed, match="cuts such paths at commas"):
        line_of(launch, ["mpirun"], ["localhost"], 1, tmp_path, {})


@pytest.mark.parametrize("name", ["of mine", "at:noon"])
def test_files_of_runs_lie_where_libraries_can_be_preloaded_from(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert directory_for_runs(emulated=False) == directory_for_runs(emulated=True) == tmp_path
    monkeypatch.chdir(name)
    assert directory_for_runs(emulated=True) == tmp_path
    with pytest.raises(InvalidInput, match=r"blanks and colons; measure from a directory without"):
        directory_for_runs(emulated=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / name))
    with pytest.raises(InvalidInput, match="set TMPDIR to a directory without"):
        directory_for_runs(emulated=True)
