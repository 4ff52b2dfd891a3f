"""Measurements of an earlier run of the study."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from measuring.trust.cases import Case
from measuring.trust.known import Time, read_known
from searchspace.errors import InvalidInput

SHORT = Case("torus", "openmpi", "allreduce", 1024, "rab")
LONG = Case("torus", "openmpi", "allreduce", 262144, "rab")


FAILED = Case("torus64", "openmpi", "allreduce", 1024, "rab")


def written(path: Path, **changes: Any) -> Path:
    rows = [{**asdict(case), "calls": case.calls, "measured": 0.5} for case in (SHORT, LONG)]
    rows[0] |= changes
    without = [{**asdict(FAILED), "calls": changes.get("calls", FAILED.calls)}]
    path.write_text(json.dumps({"date": "2026-01-31", "cases": rows, "without": without}))
    return path


def test_a_case_has_its_time_and_the_day_it_was_measured(tmp_path: Path) -> None:
    known = read_known(written(tmp_path / "cases.json", date="2026-01-01"))

    assert known.without == {FAILED}
    assert known.times == {SHORT: Time(0.5, "2026-01-01"), LONG: Time(0.5, "2026-01-31")}


@pytest.mark.parametrize("calls", [None, 20])
def test_the_time_of_another_number_of_calls_is_not_known(
    calls: int | None, tmp_path: Path
) -> None:
    known = read_known(written(tmp_path / "cases.json", calls=calls))

    assert set(known.times) == {LONG}
    assert not known.without


def test_what_is_no_such_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "cases.json").write_text("[]")

    with pytest.raises(InvalidInput, match=r"cases\.json is no file of measured cases"):
        read_known(tmp_path / "cases.json")
