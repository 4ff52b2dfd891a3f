"""Scripts of users, run as they are: what they are given, and what is made of what they print."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from measuring.user_script import Measured, NoSeconds, measure
from searchspace.errors import InvalidInput

CONFIGURATION = {"mpi": "ompi", "topology": "torus-2d"}


@pytest.fixture
def stop() -> threading.Event:
    """Nobody stops it."""
    return threading.Event()


def shell(line: str, stop: threading.Event, **more: float) -> Measured | None:
    return measure(["sh", "-c", line], CONFIGURATION, {"HAMTUNE_TRIAL": "17"}, stop, **more)


def test_the_last_line_is_the_time(stop: threading.Event) -> None:
    assert shell("echo starting; echo ' 1.25 '; echo", stop) == Measured(1.25)
    assert shell("echo 3e-2; echo noise >&2", stop) == Measured(0.03)


def test_it_is_given_the_configuration_twice(stop: threading.Event) -> None:
    line = """
    read given
    test "$given" = '{"mpi": "ompi", "topology": "torus-2d"}' || exit 3
    test "$(cat "$HAMTUNE_CONFIGURATION")" = "$given" || exit 4
    echo $HAMTUNE_TRIAL
    """
    assert shell(line, stop) == Measured(17.0)


def test_it_need_not_read_it(stop: threading.Event) -> None:
    large = {"order": list(range(100_000))}
    assert measure(["sh", "-c", "echo 1"], large, {}, stop) == Measured(1.0)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("echo 1; exit 3", "exit status 3"),
        ("echo no mpirun >&2; exit 127", "exit status 127: no mpirun"),
        ("kill -9 $$", "ended by signal 9"),
        (r"printf 'a\000b' >&2; exit 1", "exit status 1: ab"),
    ],
)
def test_another_status_is_a_failure(line: str, reason: str, stop: threading.Event) -> None:
    assert shell(line, stop) == Measured(None, reason)


def test_of_much_output_the_end_counts(stop: threading.Event) -> None:
    told = shell("yes noise | head -c 3000000; yes why | head -c 3000000 >&2; exit 1", stop)
    assert told is not None
    assert len(told.reason or "") < 3_000
    assert shell("yes noise | head -c 3000000; echo; echo 2", stop) == Measured(2.0)


@pytest.mark.parametrize("line", ["true", "echo done", "echo nan", "echo inf", "echo -1", "echo 0"])
def test_a_script_that_tells_no_time_is_none(line: str, stop: threading.Event) -> None:
    with pytest.raises(NoSeconds, match=r"ended with 0, and its last line is .*must print"):
        shell(line, stop)


def test_what_cannot_be_started_is_said(tmp_path: Path, stop: threading.Event) -> None:
    with pytest.raises(InvalidInput, match="cannot be run: "):
        measure([str(tmp_path / "none")], {}, {}, stop)


def test_it_is_ended_after_its_time(stop: threading.Event) -> None:
    told = shell("sleep 1000", stop, most_seconds=0.2)
    assert told == Measured(None, "no end within 0.2 s")


def test_it_is_stopped_with_what_it_has_started(tmp_path: Path) -> None:
    stop, file = threading.Event(), tmp_path / "child"
    line = f"sleep 1000 & echo $! > {file}.new; mv {file}.new {file}; wait"
    found: list[Measured | None] = []
    thread = threading.Thread(target=lambda: found.append(shell(line, stop)))
    thread.start()
    while not file.exists():
        time.sleep(0.02)
    stop.set()
    thread.join()
    assert found == [None]
    while is_alive(int(file.read_text())):
        time.sleep(0.02)


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
