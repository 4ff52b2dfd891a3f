"""Who may make keys, whatever storage they are handed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchspace.errors import InvalidInput
from service.auth.principal import LOCAL
from service.auth.service import create
from tests.service.auth.conftest import Guarded

NEW = {"name": "k", "role": "viewer"}


@pytest.mark.parametrize("more", [{}, {"scopes": ["metrics:read"]}, {"project": "theirs"}])
def test_whoever_is_no_operator_makes_no_keys_in_the_storage_of_all_projects(
    guarded: Guarded, more: dict[str, object]
) -> None:
    guarded.key("ours")
    somebody = replace(LOCAL, operator=False, project="ours")
    with pytest.raises(InvalidInput):
        create(guarded.storage, somebody, NEW | more)
    assert [key.project for key in guarded.storage.keys.page().items] == ["ours"]
    assert not guarded.storage.projects.has("theirs")


def test_an_operator_makes_no_key_in_the_share_of_another_project(guarded: Guarded) -> None:
    guarded.key("ours")
    with pytest.raises(InvalidInput, match="the operator, and nobody else"):
        create(guarded.storage.of_project("ours"), LOCAL, NEW | {"project": "theirs"})
    assert len(guarded.storage.keys.page().items) == 1


def test_a_project_makes_keys_of_its_own(guarded: Guarded) -> None:
    guarded.key("ours")
    somebody = replace(LOCAL, operator=False, project="ours")
    key, _ = create(guarded.storage.of_project("ours"), somebody, NEW)
    assert key.project == "ours"
