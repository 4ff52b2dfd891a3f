"""What was measured is kept run by run."""

from __future__ import annotations

from pathlib import Path

from measuring.trust.cases import Case
from measuring.trust.log import Log, Row, medians

UNDER = {"date": "2026-01-01"}
ROW = Row("torus", "openmpi", "allreduce", "rab", 0, {1024: [1.0, 3.0, 2.0]})
DOUBTED = Row("torus", "openmpi", "allreduce", "rab", 1, {1024: [9.0]}, ("sent again",))


def test_who_is_interrupted_goes_on(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl", UNDER)
    log.add(ROW)
    log.add(DOUBTED)

    again = Log(tmp_path / "log.jsonl", UNDER)

    assert again.rows == [ROW, DOUBTED]
    assert again.done == {ROW.key}, "what does not count is taken again"


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    Log(path, UNDER).add(ROW)
    with path.open("a") as file:
        file.write('{"network": "tor')

    assert Log(path, UNDER).rows == [ROW]
    assert Log(path, UNDER).rows == [ROW], "and does not come back"


def test_rows_taken_under_something_else_are_not_used(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    Log(path, UNDER).add(ROW)

    assert Log(path, {"date": "2026-01-02"}).rows == []


def test_the_median_of_all_repetitions_that_count_is_the_time_of_a_case() -> None:
    later = Row("torus", "openmpi", "allreduce", "rab", 2, {1024: [4.0, 5.0]})

    found = medians([ROW, DOUBTED, later])

    assert found == {Case("torus", "openmpi", "allreduce", 1024, "rab"): 3.0}
