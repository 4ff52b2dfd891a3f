from __future__ import annotations

import time

import pytest

from storage.errors import Conflict, NotFound
from storage.project_storage import ProjectStorage
from storage.records import ApiKey
from storage.storage import Storage

OLD, NEW = "0" * 64, "1" * 64


@pytest.fixture
def key(storage: Storage) -> ApiKey:
    return storage.add_key(
        name="ci", role="submitter", scopes=["jobs:write"], sha256=OLD, expires_at=None,
        created_by="local",
    )  # fmt: skip


def test_a_key_is_found_by_the_digest_of_its_secret(storage: Storage, key: ApiKey) -> None:
    assert storage.match_key(key.id, OLD) == key
    assert storage.match_key(key.id, NEW) is None
    assert storage.match_key("nosuchkey", OLD) is None
    assert storage.list_keys().items == [key]


def test_a_key_belongs_to_a_project_that_exists(storage: Storage) -> None:
    share = ProjectStorage.of(storage, "nobody")
    with pytest.raises(NotFound, match="there is no project nobody"):
        share.add_key(
            name="k", role="viewer", scopes=(), sha256=OLD, expires_at=None, created_by="x"
        )


def test_after_a_rotation_the_old_secret_lasts_as_long_as_was_said(
    storage: Storage, key: ApiKey
) -> None:
    storage.rotate_key(key.id, sha256=NEW, grace_seconds=60.0, expires_at=None)
    assert storage.match_key(key.id, OLD) == storage.match_key(key.id, NEW)
    storage.rotate_key(key.id, sha256="2" * 64, grace_seconds=0.0, expires_at=1.0)
    assert storage.match_key(key.id, OLD) is None
    assert storage.match_key(key.id, NEW) is None
    found = storage.match_key(key.id, "2" * 64)
    assert found is not None
    assert found.expires_at == 1.0


def test_a_revoked_key_stays_revoked(storage: Storage, key: ApiKey) -> None:
    revoked = storage.revoke_key(key.id)
    assert revoked.revoked_at is not None
    assert storage.revoke_key(key.id) == revoked
    with pytest.raises(Conflict, match="was revoked"):
        storage.rotate_key(key.id, sha256=NEW, grace_seconds=0.0, expires_at=None)


def test_the_last_use_is_noted_to_the_minute(storage: Storage, key: ApiKey) -> None:
    storage.note_use_of_key(key)
    used = storage.get_key(key.id)
    assert used.used_at is not None
    assert used.used_at <= time.time()
    storage.note_use_of_key(used)
    assert storage.get_key(key.id) == used


def test_the_audit_log_is_read_newest_first_and_forgets_what_is_old(storage: Storage) -> None:
    for target in ("/a", "/b"):
        storage.add_audit(actor="key:ci", address="::1", action="x", target=target, status=201)
    assert [entry.target for entry in storage.list_audit().items] == ["/b", "/a"]
    assert storage.forget_audit(time.time() - 60.0) == 0
    assert storage.forget_audit(time.time() + 60.0) == 2
    assert storage.list_audit().items == []
