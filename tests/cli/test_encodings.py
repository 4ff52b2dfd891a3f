"""Files are UTF-8 and results are printed, whatever characters the locale has."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.__main__ import main
from cli.client import connect
from service.settings import Settings
from tests.cli.conftest import ROOT, SECONDS, Hamtune

ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
NAME = "café 网络"


@pytest.mark.parametrize("printed", ["ascii", "latin-1"])
def test_a_job_ends_with_its_result_in_any_locale(
    hamtune: Hamtune, job: dict[str, Any], printed: str
) -> None:
    hamtune.environment = ASCII | {"PYTHONIOENCODING": printed}
    text = yaml.safe_dump({**job, "name": NAME, "budget": {"trials": 3}}, allow_unicode=True)
    (hamtune.directory / "job.yaml").write_text(text, encoding="utf-8-sig")
    process = hamtune.start("run", "job.yaml", encoding="latin-1")
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, err
    assert "\nbest  " in out
    with connect(None, Settings.under(hamtune.data)) as client:
        assert client.find_job(NAME)["state"] == "completed"


def test_a_job_file_is_written_in_utf_8_in_any_locale(tmp_path: Path) -> None:
    # Not by the command: in this locale no argument can hold the name.
    code = f"from pathlib import Path; from cli.init import _write; _write(Path('j'), {NAME!a})"
    command = [sys.executable, "-c", code]
    environment = os.environ | ASCII | {"PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=SECONDS)
    assert (tmp_path / "j").read_text(encoding="utf-8") == NAME


def test_a_job_file_is_printed_in_utf_8_in_any_locale(hamtune: Hamtune) -> None:
    hamtune.environment = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C.UTF-8"}
    answers = ("--application", "is.S.32", "--cluster", "32", "--degree", "4", "--target", "any")
    words = ("init", *answers, "--trials", "9", "--name", NAME, "-o", "-")
    process = hamtune.start(*words, encoding="utf-8")
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, err
    assert yaml.safe_load(out)["name"] == NAME


@pytest.mark.parametrize(
    ("encoding", "errors", "then"),
    [
        ("latin-1", "strict", "replace"),
        ("ascii", "surrogateescape", "replace"),
        ("utf-8", "strict", "replace"),
        ("utf-8", "surrogateescape", "surrogateescape"),  # prints names of files as they are
    ],
)
def test_no_character_ends_a_command(
    monkeypatch: pytest.MonkeyPatch, encoding: str, errors: str, then: str
) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors=errors)
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(["--help"]) == 0
    assert stream.errors == then
