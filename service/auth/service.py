"""What can be done with keys: make, rotate."""

from __future__ import annotations

import time
from typing import Any

from searchspace.errors import InvalidInput
from searchspace.validation import check
from service.auth import tokens
from service.auth.principal import OPERATORS, Principal, check_scopes
from service.auth.schemas import NewKey, Rotation
from storage.keys import ProjectKeys
from storage.records import ApiKey
from storage.storage import Storage
from storage.view import StorageView

__all__ = ["create", "rotate"]


def create(storage: StorageView, principal: Principal, document: Any) -> tuple[ApiKey, str]:
    """Make a key; an operator who names a new project makes that too.

    Returns:
        The key, and what its holder sends.

    Raises:
        InvalidInput: A field is wrong, or names a project of others.
    """
    new = check(NewKey, document)
    scopes = check_scopes(new.scopes)
    project = new.project or principal.project
    if project != principal.project and not principal.operator:
        raise InvalidInput("keys are made for one's own project", field="project")
    keys: ProjectKeys = storage.keys
    if isinstance(storage, Storage):
        storage.projects.add(project)
        keys = storage.of_project(project).keys
    elif any(scope.partition(":")[0] in OPERATORS for scope in scopes):
        raise InvalidInput(
            "metrics are those of all projects; only the operator makes keys for them, with "
            "'hamtune keys create --scope metrics:read' on the service's machine",
            field="scopes",
        )
    secret = tokens.new_secret()
    key = keys.add(
        name=new.name,
        role=new.role,
        scopes=scopes,
        sha256=tokens.digest(secret),
        expires_at=None if new.expires_in is None else time.time() + new.expires_in,
        created_by=principal.name,
    )
    return key, tokens.compose(key.id, secret)


def rotate(storage: StorageView, key_id: str, document: Any) -> tuple[ApiKey, str]:
    """Give a key another secret.

    Returns:
        The key, and what its holder sends from now on.

    Raises:
        NotFound: There is no such key.
        Conflict: It was revoked.
        InvalidInput: A field is wrong.
    """
    how = check(Rotation, {} if document is None else document)
    secret = tokens.new_secret()
    key = storage.keys.rotate(
        key_id,
        sha256=tokens.digest(secret),
        grace_seconds=how.grace,
        expires_at=None if how.expires_in is None else time.time() + how.expires_in,
    )
    return key, tokens.compose(key.id, secret)
