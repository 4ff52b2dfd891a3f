from pathlib import Path

from measuring.calibration.log import Log, Row

UNDER = {"machine": "a ring", "hosts": ["h0", "h1"]}


def row(part: str, *doubts: str) -> Row:
    return Row(part=part, date="2026-01-02", seconds={"ping-pong": [1.0, 2.0]}, doubts=doubts)


def test_who_is_interrupted_goes_on(tmp_path: Path) -> None:
    log = Log(tmp_path / "log", UNDER)
    log.add(row("round 0"))
    with (tmp_path / "log").open("a") as file:
        file.write('{"part": "cut o')
    again = Log(tmp_path / "log", UNDER)
    assert again.seconds() == log.seconds()
    again.add(row("round 1"))
    assert Log(tmp_path / "log", UNDER).seconds() == {"ping-pong": [1.0, 2.0, 1.0, 2.0]}


def test_runs_in_doubt_do_not_count(tmp_path: Path) -> None:
    log = Log(tmp_path / "log", UNDER)
    log.add(row("round 0", "segments were sent again"))
    assert [run.doubts for run in log.of("round 0", ["ping-pong"])] == [log.rows[0].doubts]
    assert log.seconds() == {}


def test_a_part_that_is_made_of_other_experiments_now_has_no_run(tmp_path: Path) -> None:
    log = Log(tmp_path / "log", UNDER)
    log.add(row("round 0"))
    assert log.of("round 0", ["ping-pong"]) == log.rows
    assert log.of("round 0", ["ping-pong", "stream"]) == []
    assert log.of("round 1", ["ping-pong"]) == []


def test_what_was_measured_under_something_else_is_not_used(tmp_path: Path) -> None:
    Log(tmp_path / "log", UNDER).add(row("round 0"))
    assert Log(tmp_path / "log", {**UNDER, "hosts": ["h0", "h2"]}).rows == []


def test_a_file_that_is_no_log_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("no log\nat all")
    assert Log(tmp_path / "log", UNDER).rows == []
