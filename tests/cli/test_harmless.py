"""What programs made an error say, on the terminal of whoever is told of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from cli import __main__ as command_line
from cli import measure, run
from cli.follow import say_failure
from cli.harmless import harmless
from cli.job_words import failures_text
from cli.trial_words import why_failed
from measuring.user_script import Measured

HOSTILE = "caf\u00e9\t1\r\n\x1b]52;c;cm0=\x07 \x9b2J\x7f\rover"
SHOWN = "caf\u00e9\t1\r\n\\x1b]52;c;cm0=\\x07 \\x9b2J\\x7f\\rover"
FAILED: dict[str, Any] = {
    "id": "j",
    "name": "job",
    "state": "failed",
    "error": HOSTILE,
    "progress": {"best": None},
}


def test_no_control_character_is_left_but_tabs_and_ends_of_lines() -> None:
    assert harmless(HOSTILE) == SHOWN
    every = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)]))
    assert harmless(every).replace("\t", "").replace("\n", "").isprintable()


def test_why_a_job_failed_does_not_command_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    say_failure(FAILED)
    assert capsys.readouterr().err.endswith(f"failed: {SHOWN}\n")

    measure._report(FAILED, as_json=False, interrupted=False)
    assert capsys.readouterr().err.endswith(f"failed: {SHOWN}\n")

    def failing(**_: object) -> int:
        return run._report(SimpleNamespace(), FAILED, as_json=False)  # type: ignore[arg-type]

    monkeypatch.setattr(command_line, "cli", SimpleNamespace(main=failing))
    assert command_line.main([]) == command_line.FAILED
    said = capsys.readouterr().err
    assert "\\x1b]52;c;cm0=\\x07" in said
    assert said.replace("\n", "").isprintable()


def test_why_a_script_failed_does_not_command_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    client: Any = SimpleNamespace(post=lambda *_, **__: None)
    end: Any = SimpleNamespace(number=None)
    measuring = measure._Measuring(client, "j", ("true",), end, None, 1.0)
    told = Measured(None, "exit status 1: \x1b[2J")
    measuring._tell("/here", {"trial": 3, "label": None, "attempt": "a"}, told)
    assert capsys.readouterr().err == "trial 3: failed: exit status 1: \\x1b[2J\n"


def test_why_trials_failed_does_not_command_the_terminal() -> None:
    reason = {"kind": "crash", "message": "\x1b[2Jended"}
    assert failures_text({"failures": [{**reason, "trials": 2}]}) == "2 failed: \\x1b[2Jended"
    assert why_failed({}, {"reason": reason, "kind": "search"}) == "\\x1b[2Jended"
