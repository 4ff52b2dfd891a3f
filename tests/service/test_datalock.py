import os
import subprocess
import sys
from pathlib import Path

import pytest

from service.datalock import DataDirectoryInUse, DataLock

ROOT = Path(__file__).parents[2]


def test_a_second_holder_is_refused_by_the_pid_of_the_first(tmp_path: Path) -> None:
    with (
        DataLock(tmp_path),
        pytest.raises(DataDirectoryInUse, match=f"process {os.getpid()} already runs on"),
    ):
        DataLock(tmp_path).acquire()


def test_a_released_lock_can_be_taken_again(tmp_path: Path) -> None:
    with DataLock(tmp_path):
        pass
    with DataLock(tmp_path):
        pass


def test_the_lock_of_a_killed_process_is_taken_over(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, time; from pathlib import Path; from service.datalock import DataLock\n"
            "DataLock(Path(sys.argv[1])).acquire(); print('held', flush=True); time.sleep(600)",
            str(tmp_path),
        ],
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(DataDirectoryInUse, match=str(holder.pid)):
            DataLock(tmp_path).acquire()
    finally:
        holder.kill()
        holder.communicate()
    with DataLock(tmp_path):
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"


def test_the_holder_of_a_lock_can_be_asked_for_until_it_is_gone(tmp_path: Path) -> None:
    lock = DataLock(tmp_path)
    assert lock.holder() is None
    with lock:
        assert DataLock(tmp_path).holder() == os.getpid()
    assert lock.holder() is None
    ended = subprocess.Popen(["true"])
    ended.wait()
    (tmp_path / "lock").write_text(f"{ended.pid}\n")
    assert lock.holder() is None


def test_a_child_process_does_not_keep_the_lock(tmp_path: Path) -> None:
    lock = DataLock(tmp_path)
    lock.acquire()
    child = subprocess.Popen(["sleep", "600"])
    try:
        lock.release()
        with DataLock(tmp_path):
            pass
    finally:
        child.kill()
        child.wait()
