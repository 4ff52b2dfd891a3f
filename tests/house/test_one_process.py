"""Tests of a file run in one process, so that what they share is made once."""

from __future__ import annotations

from pathlib import Path

import pytest

_ran: list[str] = []


@pytest.mark.parametrize("number", range(6))
def test_all_tests_of_this_file_run_in_this_process(
    number: int, request: pytest.FixtureRequest
) -> None:
    _ran.append(request.node.name)
    here = [item.name for item in request.session.items if item.path == Path(__file__)]
    assert _ran == here[: len(_ran)]
