"""The log on stderr, in a process of its own, for logging belongs to a process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cli.logs import blotted
from tests.cli.conftest import ROOT

PROGRAM = """
import logging, sys
from cli.logs import blotted, log_to_stderr
from storage.log_context import about

logging.getLogger().addHandler(logging.NullHandler())  # as libraries do
ours = logging.getLogger("hamtune.workers")
ours.addHandler(logging.NullHandler())
log_to_stderr(sys.argv[1])
with about(job="j1", trial="j1-3"):
    ours.info("in\\nlines")
    try:
        raise ValueError("odd")
    except ValueError:
        ours.exception("it failed")
ours.warning("of no job")
logging.getLogger("library").info("chatter")
"""


def logged(level: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, level], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
    return [line.partition(" ")[2] for line in done.stderr.splitlines()]


def test_secrets_are_blotted_out() -> None:
    key = f"ht_{'0' * 16}_{'s-_A' * 10}xyz"
    told = blotted(f"{key} postgresql+psycopg://me:secret@db/x redis://:pw@h:1 http://h:80/a@b")
    assert told == (
        f"ht_{'0' * 16}_*** postgresql+psycopg://me:***@db/x redis://:***@h:1 http://h:80/a@b"
    )


def test_a_message_is_one_line_with_level_job_and_trial() -> None:
    lines, failed, of_none = logged("info")
    assert lines == "INFO hamtune.workers job=j1 trial=j1-3: in | lines"
    assert failed.startswith("ERROR hamtune.workers job=j1 trial=j1-3: it failed | Traceback")
    assert failed.endswith(" | ValueError: odd")
    assert of_none == "WARNING hamtune.workers: of no job"


@pytest.mark.parametrize(("level", "count"), [("debug", 3), ("warning", 2), ("error", 1)])
def test_what_is_below_the_level_is_not_logged(level: str, count: int) -> None:
    assert len(logged(level)) == count
