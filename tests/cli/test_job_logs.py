"""What programs printed, on the terminal of whoever looks."""

from __future__ import annotations

import sys

import pytest

from cli.job_logs import _shown

HOSTILE = "caf\u00e9\t1\r\n\x1b]52;c;cm0=\x07 \x9b2J\x7f\rover\n"


def test_a_log_does_not_command_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert _shown(HOSTILE) == ("caf\u00e9\t1\r\n\\x1b]52;c;cm0=\\x07 \\x9b2J\\x7f\\rover\n")


def test_a_log_that_no_terminal_shows_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    assert _shown(HOSTILE) == HOSTILE
