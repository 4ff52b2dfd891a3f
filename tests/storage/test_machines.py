from __future__ import annotations

import pytest

from storage.errors import NotFound
from storage.storage import Storage


def test_a_machine_is_found_by_the_digest_of_its_description(storage: Storage) -> None:
    added = storage.add_machine(name="lab", description={"nodes": 64, "degree": 6})

    assert storage.get_machine(added.id) == added
    assert storage.find_machine(added.sha256) == added
    assert storage.find_machine("0" * 64) is None


def test_the_order_of_keys_is_no_part_of_a_machine(storage: Storage) -> None:
    first = storage.add_machine(name="lab", description={"nodes": 64, "degree": 6})
    again = storage.add_machine(name="lab", description={"degree": 6, "nodes": 64})

    assert again == first


def test_one_description_may_have_several_names(storage: Storage) -> None:
    first = storage.add_machine(name="lab", description={"nodes": 64})
    second = storage.add_machine(name="other", description={"nodes": 64})

    assert first.sha256 == second.sha256
    assert [m.name for m in storage.list_machines().items] == ["other", "lab"]


def test_a_machine_that_does_not_exist_is_named(storage: Storage) -> None:
    with pytest.raises(NotFound, match="no machine x"):
        storage.get_machine("x")
