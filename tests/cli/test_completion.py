"""Completion of the command line by a real shell."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Hamtune


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_script(hamtune: Hamtune, shell: str) -> None:
    assert "_HAMTUNE_COMPLETE" in hamtune("completion", shell).stdout


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("hamtune eval", {"evaluate"}),
        ("hamtune schema ", {"job", "machine"}),
        ("hamtune export quick --tar", {"--target"}),
    ],
)
def test_bash_completes(hamtune: Hamtune, tmp_path: Path, words: str, found: set[str]) -> None:
    script = tmp_path / "hamtune.bash"
    script.write_text(hamtune("completion", "bash").stdout)
    typed = words.split(" ")
    listed = " ".join(f"'{word}'" for word in typed)
    done = subprocess.run(
        [
            "bash",
            "-c",
            f"source {script}; COMP_WORDS=({listed}); COMP_CWORD={len(typed) - 1}; "
            '_hamtune_completion hamtune; printf "%s\\n" "${COMPREPLY[@]}"',
        ],
        env={**hamtune.whole_environment(), "PATH": f"{ROOT}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stdout.split()) == found


def test_a_request_for_completion_succeeds(hamtune: Hamtune) -> None:
    asked = {"_HAMTUNE_COMPLETE": "bash_complete", "COMP_WORDS": "hamtune eval", "COMP_CWORD": "1"}
    done = subprocess.run(
        [ROOT / "hamtune"],
        env=hamtune.whole_environment() | asked,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "plain,evaluate\n")
