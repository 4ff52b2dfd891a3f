from __future__ import annotations

import pytest

from storage.errors import NotFound
from storage.records import Quotas
from storage.storage import Storage


def test_a_project_has_what_was_set(storage: Storage) -> None:
    storage.projects.add("ours")
    ours = storage.of_project("ours")
    assert ours.projects.get("ours").quotas == Quotas()
    quotas = Quotas(jobs=3, trials=10**10, cpu_seconds=1e6, storage_bytes=10**12)
    changed = storage.projects.change("ours", weight=2.5, priority="high", quotas=quotas)
    assert (changed.weight, changed.priority, changed.quotas) == (2.5, "high", quotas)
    assert storage.projects.get("ours") == changed
    with pytest.raises(NotFound):
        ours.projects.get("default")
    with pytest.raises(NotFound):
        storage.projects.change("nobody", weight=1.0, priority="normal", quotas=quotas)
