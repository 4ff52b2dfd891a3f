"""Programs of the user get the environment that Hamtune was called in."""

from __future__ import annotations

import pytest

from measuring.callers_environment import callers_environment


def test_what_the_launcher_replaced_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/opt/hamtune")
    monkeypatch.setenv("HAMTUNE_CALLERS_PYTHONPATH", "/modules/mpi4py")
    monkeypatch.setenv("HAMTUNE_CALLERS_PYTHONHOME", "")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    found = callers_environment()
    assert found["PYTHONPATH"] == "/modules/mpi4py"
    assert "PYTHONHOME" not in found
    assert not any(name.startswith("HAMTUNE_CALLERS") for name in found)
    assert found["OMP_NUM_THREADS"] == "2"


def test_where_nothing_was_set_nothing_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/opt/hamtune")
    monkeypatch.setenv("HAMTUNE_CALLERS_PYTHONPATH", "")
    assert "PYTHONPATH" not in callers_environment()


def test_without_the_launcher_all_is_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HAMTUNE_CALLERS_PYTHONPATH", raising=False)
    monkeypatch.setenv("PYTHONPATH", "/checkout")
    assert callers_environment()["PYTHONPATH"] == "/checkout"
