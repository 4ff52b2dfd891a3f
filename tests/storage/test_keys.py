from __future__ import annotations

import time

import pytest

from storage.errors import Conflict, NotFound
from storage.records import ApiKey
from storage.storage import Storage

OLD, NEW = "0" * 64, "1" * 64


@pytest.fixture
def key(storage: Storage) -> ApiKey:
    return storage.keys.add(
        name="ci", role="submitter", scopes=["jobs:write"], sha256=OLD, expires_at=None,
        created_by="local",
    )  # fmt: skip


def test_a_key_is_found_by_the_digest_of_its_secret(storage: Storage, key: ApiKey) -> None:
    assert storage.keys.match(key.id, OLD) == key
    assert storage.keys.match(key.id, NEW) is None
    assert storage.keys.match("nosuchkey", OLD) is None
    assert storage.keys.page().items == [key]


def test_a_key_belongs_to_a_project_that_exists(storage: Storage) -> None:
    share = storage.of_project("nobody")
    with pytest.raises(NotFound, match="there is no project nobody"):
        share.keys.add(
            name="k", role="viewer", scopes=(), sha256=OLD, expires_at=None, created_by="x"
        )


def test_after_a_rotation_the_old_secret_lasts_as_long_as_was_said(
    storage: Storage, key: ApiKey
) -> None:
    storage.keys.rotate(key.id, sha256=NEW, grace_seconds=60.0, expires_at=None)
    assert storage.keys.match(key.id, OLD) == storage.keys.match(key.id, NEW)
    storage.keys.rotate(key.id, sha256="2" * 64, grace_seconds=0.0, expires_at=1.0)
    assert storage.keys.match(key.id, OLD) is None
    assert storage.keys.match(key.id, NEW) is None
    found = storage.keys.match(key.id, "2" * 64)
    assert found is not None
    assert found.expires_at == 1.0


def test_a_revoked_key_stays_revoked(storage: Storage, key: ApiKey) -> None:
    revoked = storage.keys.revoke(key.id)
    assert revoked.revoked_at is not None
    assert storage.keys.revoke(key.id) == revoked
    with pytest.raises(Conflict, match="was revoked"):
        storage.keys.rotate(key.id, sha256=NEW, grace_seconds=0.0, expires_at=None)


def test_the_last_use_is_noted_to_the_minute(storage: Storage, key: ApiKey) -> None:
    storage.keys.note_use(key)
    used = storage.keys.get(key.id)
    assert used.used_at is not None
    assert used.used_at <= time.time()
    storage.keys.note_use(used)
    assert storage.keys.get(key.id) == used
