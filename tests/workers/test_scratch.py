"""What a killed process leaves is removed by the next one."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from workers.scratch import scratch

LIVING = """
import tempfile, time
from workers.scratch import scratch
with scratch():
    tempfile.mkdtemp()
    print("ready", flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_temporary_files_lie_in_a_directory_that_goes(base: Path) -> None:
    with scratch() as own:
        assert Path(tempfile.mkdtemp()).parent == own
        assert own.parent == base
    assert list(base.iterdir()) == []
    assert tempfile.gettempdir() == str(base)


def test_files_of_the_living_stay_and_those_of_the_dead_go(base: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", LIVING], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"ready\n"
        (theirs,) = base.iterdir()
        with scratch():
            assert theirs.exists()
        other.send_signal(signal.SIGKILL)
    assert theirs.exists()
    with scratch():
        assert not theirs.exists()
