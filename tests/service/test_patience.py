"""A process that starts while the database is started again, too."""

from __future__ import annotations

import pytest

from service.patience import patiently
from storage.errors import Unavailable


def test_what_a_broken_connection_stopped_is_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.patience._PAUSE_SECONDS", 0.0)
    left = ["the connection was closed", "it starts"]

    def act() -> str:
        if left:
            raise Unavailable(left.pop())
        return "done"

    assert patiently(act) == "done"


def test_a_database_that_stays_away_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.patience._PAUSE_SECONDS", 0.0)

    def act() -> None:
        raise Unavailable("the database cannot be used now: it is away")

    with pytest.raises(Unavailable, match="it is away"):
        patiently(act)
