"""Extrapolation in a process of its own gives what it gives here, and ends when it is told to."""

from __future__ import annotations

import json
import sys
import threading
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from benchmarks.packets.traces import allreduce, alltoall, stencil
from searchspace.errors import InvalidInput
from searchspace.extrapolation import extrapolate
from workers.capture_sandbox import Interrupted, LimitMet
from workers.extrapolating import LIMITS, extrapolate_within


def place(directory: Path, ranks: int) -> Path:
    """Of a capture: captures of one program bear its name."""
    folder = directory / str(ranks)
    folder.mkdir()
    return folder / "program.ht"


@pytest.fixture
def captures(tmp_path: Path) -> list[Path]:
    return [stencil(place(tmp_path, ranks), ranks, 64, 1) for ranks in (64, 128, 256)]


def test_it_is_as_without_limits(captures: list[Path], tmp_path: Path) -> None:
    made = extrapolate_within(captures, 512, tmp_path / "within.ht")
    expected = asdict(extrapolate(captures, 512, tmp_path / "without.ht"))
    assert made == json.loads(json.dumps(expected))
    assert made["grid"] == "a 3-D grid, longest axis first: 8 x 8 x 8"
    assert (tmp_path / "within.ht").read_bytes() == (tmp_path / "without.ht").read_bytes()


def test_warnings_are_no_part_of_the_answer(
    captures: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noisy = tmp_path / "noisy"
    noisy.write_text(f'#!/bin/sh\necho warning >&2\nexec {sys.executable} "$@"\n')
    noisy.chmod(0o755)
    monkeypatch.setattr("workers.extrapolating.sys.executable", str(noisy))
    assert extrapolate_within(captures, 512, tmp_path / "within.ht")["ranks"] == 512


def test_captures_of_no_pattern_are_refused_in_the_same_words(tmp_path: Path) -> None:
    captures = [alltoall(place(tmp_path, 8), 8, 1024), allreduce(place(tmp_path, 16), 16, 1024)]
    with pytest.raises(InvalidInput, match="differ by more than how often") as expected:
        extrapolate(captures, 64, tmp_path / "without.ht")
    with pytest.raises(InvalidInput) as refused:
        extrapolate_within(captures, 64, tmp_path / "within.ht")
    assert refused.value.message == expected.value.message


def test_it_is_ended_at_its_limits(captures: list[Path], tmp_path: Path) -> None:
    # Python alone takes longer to start than it takes to look for the first time.
    limits = replace(LIMITS, wall_seconds=0.0)
    with pytest.raises(LimitMet, match="the extrapolation did not end within 0 seconds"):
        extrapolate_within(captures, 512, tmp_path / "within.ht", limits=limits)
    assert not (tmp_path / "within.ht").exists()


def test_it_ends_when_it_is_stopped(captures: list[Path], tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Interrupted):
        extrapolate_within(captures, 512, tmp_path / "within.ht", stop=stop)
