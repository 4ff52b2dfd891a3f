from __future__ import annotations

import pytest

from storage.errors import NotFound
from storage.storage import Storage


def test_a_machine_that_was_added_is_there(storage: Storage) -> None:
    added = storage.machines.add(name="lab", description={"nodes": 64, "degree": 6})

    assert storage.machines.get(added.id) == added


def test_the_order_of_keys_is_no_part_of_a_machine(storage: Storage) -> None:
    first = storage.machines.add(name="lab", description={"nodes": 64, "degree": 6})
    again = storage.machines.add(name="lab", description={"degree": 6, "nodes": 64})

    assert again == first


def test_one_description_may_have_several_names(storage: Storage) -> None:
    first = storage.machines.add(name="lab", description={"nodes": 64})
    second = storage.machines.add(name="other", description={"nodes": 64})

    assert first.sha256 == second.sha256
    assert [m.name for m in storage.machines.page().items] == ["other", "lab"]


def test_a_machine_that_does_not_exist_is_named(storage: Storage) -> None:
    with pytest.raises(NotFound, match="no machine x"):
        storage.machines.get("x")
