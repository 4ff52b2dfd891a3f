"""Secrets are read by containers, and on this machine by who made them alone."""

from __future__ import annotations

import stat
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_folder_that_was_open_to_all_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    folder.mkdir()
    folder.chmod(0o755)
    made: dict[str, str] = {}
    for _ in range(2):
        subprocess.run([ROOT / "deploy" / "make_secrets.sh", folder], check=True)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        before, made = made, {path.name: path.read_text() for path in folder.iterdir()}
        assert before in ({}, made)  # what is there stays
    assert len(made) == 4
