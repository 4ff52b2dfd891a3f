"""Completion of the command line by a real shell."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from cli.client import connect
from service.settings import Settings
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
    assert completed(hamtune, tmp_path, words) == found


def completed(hamtune: Hamtune, tmp_path: Path, words: str) -> set[str]:
    """What bash offers for the last of some words."""
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
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("hamtune show s", {"spring", "summer"}),
        ("hamtune delete su", {"summer"}),
        ("hamtune archive s", {"spring"}),
        ("hamtune archive --undo s", {"summer"}),
        ("hamtune cancel s", {"spring"}),
        ("hamtune run --resume sp", {"spring"}),
        ("hamtune best x", set()),
    ],
)
def test_jobs_are_completed_archived_ones_where_they_are_taken(
    seasons: Hamtune, tmp_path: Path, words: str, found: set[str]
) -> None:
    assert completed(seasons, tmp_path, words) == found


def test_jobs_are_completed_by_id_where_the_name_is_no_word_or_not_the_only_one(
    hamtune: Hamtune, tmp_path: Path, job: dict[str, Any]
) -> None:
    with connect(None, Settings.under(hamtune.data)) as client:
        for name in ("twice", "twice", "$(touch x)"):
            client.create_job({**job, "name": name})
        ids = {one["id"] for one in client.get("/jobs")["items"]}
    assert completed(hamtune, tmp_path, "hamtune show ") == ids


def test_nothing_is_made_by_asking(hamtune: Hamtune, tmp_path: Path) -> None:
    assert completed(hamtune, tmp_path, "hamtune show ") == set()
    assert not hamtune.data.exists()


@pytest.fixture
def seasons(hamtune: Hamtune, job: dict[str, Any]) -> Hamtune:
    """Two jobs, of which `summer` is archived."""
    with connect(None, Settings.under(hamtune.data)) as client:
        for name in ("spring", "summer"):
            created = client.create_job({**job, "name": name})
        client.post(f"/jobs/{created['id']}/cancel")
        client.patch(f"/jobs/{created['id']}", {"archived": True})
    return hamtune


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
