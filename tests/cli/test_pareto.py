"""`hamtune topology pareto` from outside: what it writes, and that it goes on."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest

from cli.__main__ import main
from searchspace.formats.edge_list import read_edge_list
from searchspace.topology.layout import line_length
from searchspace.topology.metrics import measure

ARGUMENTS = ("--nodes", "24", "--degree", "3", "--layout", "line", "--seed", "2")


def front(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    assert main(["topology", "pareto", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_files_hold_what_the_table_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = front(capsys, *ARGUMENTS, "--iterations", 30_000, "-o", tmp_path)
    goals = [(p["aspl"], -p["bisection_width"], p["cable_length"]) for p in found["points"]]
    assert len(goals) > 3
    for one in goals:
        others = [other for other in goals if other is not one]
        assert not any(all(a <= b for a, b in zip(o, one, strict=True)) for o in others)
    with (tmp_path / "pareto.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    for row, point in zip(rows, found["points"], strict=True):
        graph = read_edge_list((tmp_path / row["file"]).read_text())
        assert [list(edge) for edge in graph.edges] == point["edges"]
        assert float(row["aspl"]) == point["aspl"] == pytest.approx(measure(graph).aspl)
        assert float(row["cable_length"]) == line_length(graph)
    assert b"<svg" in (tmp_path / "pareto.svg").read_bytes()


def test_a_search_taken_up_again_ends_as_if_it_had_gone_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    half, rest, whole = tmp_path / "half", tmp_path / "rest", tmp_path / "whole"
    first = front(capsys, *ARGUMENTS, "--iterations", 1, "-o", half)
    more = front(capsys, "--resume", half / "state.json", "--iterations", 10_000, "-o", rest)
    # Limits are looked at between steps, so the whole search is told where the parts ended.
    front(capsys, *ARGUMENTS, "--iterations", more["moves"], "-o", whole)
    assert first["moves"] < more["moves"]
    assert (rest / "pareto.csv").read_text() == (whole / "pareto.csv").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--nodes", "9", "--degree", "3"), "must be even"),
        (("--nodes", "2000", "--degree", "4"), "at most 1024 nodes"),
        (("--degree", "3"), "--nodes and --degree are needed"),
        (("--nodes", "9", "--degree", "4", "--seconds", "nan"), "above 0"),
    ],
)
def test_wrong_use_is_one_plain_line(
    tmp_path: Path,
    arguments: tuple[str, ...],
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["topology", "pareto", *arguments, "-o", str(tmp_path / "front")]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert len(error.splitlines()) == 1


def test_a_file_that_is_no_state_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "state.json"
    state.write_text('{"format": 1, "arguments": {}}')
    assert main(["topology", "pareto", "--resume", str(state), "-o", str(tmp_path)]) == 2
    assert "not the state of a search for compromises" in capsys.readouterr().err


def test_a_directory_that_cannot_be_made_is_refused_before_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def searched(*_arguments: object) -> bool:
        raise AssertionError("it was searched")

    monkeypatch.setattr("cli.pareto._drive", searched)
    (tmp_path / "file").touch()
    output = tmp_path / "file/front"
    assert main(["topology", "pareto", *ARGUMENTS, "-o", str(output)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"--output {output}: cannot be made: Not a directory" in line

    monkeypatch.setattr("os.access", lambda _path, mode: not mode & os.W_OK)
    output = tmp_path / "front"
    assert main(["topology", "pareto", *ARGUMENTS, "-o", str(output)]) == 2
    assert f"no file can be made in {output}" in capsys.readouterr().err


def test_the_state_is_kept_where_the_networks_cannot_be_written_any_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pareto.csv").mkdir()
    arguments = [*ARGUMENTS, "--iterations", "1", "-o", str(tmp_path)]
    assert main(["topology", "pareto", *arguments]) == 1
    assert "pareto.csv: Is a directory" in capsys.readouterr().err
    state, rest = tmp_path / "state.json", tmp_path / "rest"
    assert front(capsys, "--resume", state, "--iterations", 1, "-o", rest)["points"]
