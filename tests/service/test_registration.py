"""Processes say that they live, whatever becomes of single tries to say so."""

from __future__ import annotations

import threading

import pytest

from service.registration import registered
from storage.storage import Storage

SECONDS = 300.0
"""How long anything may take."""


def test_a_beat_that_fails_is_not_the_last_one(
    storage: Storage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("service.registration._BEAT_SECONDS", 0.01)
    beat, heard = storage.processes.beat, threading.Event()
    beats: list[str] = []

    def failing(name: str) -> None:
        beats.append(name)
        if len(beats) < 3:
            raise RuntimeError("nobody has thought of this")
        beat(name)
        heard.set()

    monkeypatch.setattr(storage.processes, "beat", failing)
    with registered(storage, "api", until=threading.Event()):
        (beating,) = (one for one in threading.enumerate() if one.name == "registration")
        while not heard.wait(0.01):
            assert beating.is_alive()
    assert "nobody has thought of this" in caplog.text
