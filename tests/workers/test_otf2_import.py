"""OTF2 archives through the sandbox: the same traffic and time as the run that they tell of."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from searchspace.errors import InvalidInput
from searchspace.kernels import trace_summary, traffic_matrix
from tests.searchspace.formats.otf2_archives import archive, archive_of
from tests.workers.simulator.runs import answer_of, on_a_line
from workers.capture import capture_builtin
from workers.otf2_import import find_anchor, import_otf2


def test_a_program_takes_the_time_of_its_capture(tmp_path: Path) -> None:
    capture, imported = tmp_path / "capture.ht", tmp_path / "imported.ht"
    capture_builtin("mg", "S", 4, {}, capture)
    anchor = archive_of(capture, tmp_path / "mg", 1e9, 10**12)

    header = import_otf2(anchor, imported, host_speed=1e9).header

    assert (header.program, header.host_speed) == ("run", 1e9)
    assert trace_summary(imported)["calls"] == trace_summary(capture)["calls"]
    assert np.array_equal(traffic_matrix(imported), traffic_matrix(capture))
    request = on_a_line(0, 1, 2, 3)
    expected = answer_of(capture, request)["simulated_time"]
    assert expected > 1e-3
    assert answer_of(imported, request)["simulated_time"] == pytest.approx(expected, rel=1e-9)


def test_an_irregular_exchange_keeps_its_bytes_but_for_rounding(tmp_path: Path) -> None:
    capture, imported = tmp_path / "capture.ht", tmp_path / "imported.ht"
    capture_builtin("is", "S", 4, {}, capture)
    import_otf2(archive_of(capture, tmp_path / "is", 1e9, 10**9), imported, host_speed=1e9)

    assert trace_summary(imported)["calls"] == trace_summary(capture)["calls"]
    assert traffic_matrix(imported).sum() == pytest.approx(traffic_matrix(capture).sum(), rel=1e-3)


def test_the_library_sees_nothing_but_the_archive(tmp_path: Path) -> None:
    with archive(tmp_path / "elsewhere", 2):
        pass
    (tmp_path / "archive").mkdir()
    for name in ("run.otf2", "run.def"):
        shutil.copy(tmp_path / "elsewhere" / name, tmp_path / "archive")
    (tmp_path / "archive/run").symlink_to(tmp_path / "elsewhere/run")
    with pytest.raises(InvalidInput, match="damaged"):
        import_otf2(tmp_path / "archive/run.otf2", tmp_path / "t.ht", host_speed=1e9)
    assert not (tmp_path / "t.ht").exists()


def test_a_reader_that_leaves_nothing_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with archive(tmp_path / "archive", 2):
        pass
    monkeypatch.setattr("workers.otf2_import._MODULE", "this")
    with pytest.raises(InvalidInput, match="left no result"):
        import_otf2(tmp_path / "archive/run.otf2", tmp_path / "t.ht", host_speed=1e9)


def test_an_archive_is_found_by_its_directory(tmp_path: Path) -> None:
    with archive(tmp_path / "archive", 2):
        pass
    anchor = tmp_path / "archive/run.otf2"
    assert find_anchor(tmp_path / "archive") == find_anchor(anchor) == anchor
    assert find_anchor(tmp_path) is None
    shutil.copy(anchor, anchor.with_name("other.otf2"))
    with pytest.raises(InvalidInput, match="several archives"):
        find_anchor(tmp_path / "archive")
