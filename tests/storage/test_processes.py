from __future__ import annotations

from typing import Any

import pytest

from storage import processes
from storage.errors import Conflict
from storage.storage import Storage

FACTS: dict[str, Any] = {"version": "1.0", "contract": 1}


def test_processes_are_known_while_they_live(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage.processes.register("a", "api", **FACTS)
    storage.processes.register("w", "worker", simulator="1+simgrid-3.32", concurrency=2, **FACTS)
    assert [(one.name, one.kind, one.concurrency) for one in storage.processes.living()] == [
        ("a", "api", None), ("w", "worker", 2),
    ]  # fmt: skip
    storage.processes.beat("w")
    storage.processes.forget("a")
    assert [one.name for one in storage.processes.living()] == ["w"]
    monkeypatch.setattr(processes, "PROCESS_SILENCE_SECONDS", 0.0)
    assert storage.processes.living() == []


def test_processes_that_do_not_fit_refuse_each_other(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage.processes.register("old", "coordinator", **FACTS)
    newer: dict[str, Any] = {"version": "2.0", "contract": 2}
    with pytest.raises(Conflict) as refused:
        storage.processes.register("new", "worker", simulator="2", **newer)
    assert str(refused.value) == (
        "this worker (2.0) does not fit coordinator old (1.0), which serves the same database: "
        "they speak contract 2 and 1; end the one or the other (one that was killed is forgotten "
        "after 30 s)"
    )
    monkeypatch.setattr(processes, "PROCESS_SILENCE_SECONDS", 0.0)
    storage.processes.register("new", "worker", simulator="2", **newer)


def test_workers_simulate_alike(storage: Storage) -> None:
    storage.processes.register("a", "worker", simulator="1+simgrid-3.32", **FACTS)
    storage.processes.register("b", "worker", simulator="1+simgrid-3.32", **FACTS)
    storage.processes.register("api", "api", **FACTS)
    with pytest.raises(Conflict, match=r"simulate with 1\+simgrid-4.1 and 1\+simgrid-3.32"):
        storage.processes.register("c", "worker", simulator="1+simgrid-4.1", **FACTS)
    assert len(storage.processes.living()) == 3
