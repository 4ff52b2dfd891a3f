"""What can be done with keys: make, rotate."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from searchspace.errors import InvalidInput
from searchspace.validation import check
from service.auth import tokens
from service.auth.principal import OPERATORS, Principal, check_scopes
from service.auth.schemas import NewKey, Rotation
from service.problems import ProblemError
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
        InvalidInput: A field is wrong, or names a project of others; or the storage is that of all
            projects, and who asks is no operator.
    """
    new = check(NewKey, document)
    scopes = check_scopes(new.scopes)
    project = new.project or principal.project
    if project != principal.project and not principal.operator:
        raise InvalidInput("keys are made for one's own project", field="project")
    if not principal.operator and _of_operators(scopes):
        raise InvalidInput(
            "metrics are those of all projects; only the operator makes keys for them, with "
            "'hamtune keys create --scope metrics:read' on the service's machine",
            field="scopes",
        )
    keys = _keys(storage, principal, project)
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


def _of_operators(scopes: Iterable[str]) -> bool:
    """Whether a key with these scopes opens what is of all projects."""
    return any(scope.partition(":")[0] in OPERATORS for scope in scopes)


def _keys(storage: StorageView, principal: Principal, project: str) -> ProjectKeys:
    """The keys of a project, which is made where the operator names a new one.

    Raises:
        InvalidInput: The storage is not the one that `storage_of` hands to whoever asks.
    """
    if principal.operator != isinstance(storage, Storage):
        raise InvalidInput("the operator, and nobody else, makes keys of all projects")
    if not isinstance(storage, Storage):
        return storage.keys
    storage.projects.add(project)
    return storage.of_project(project).keys


def rotate(
    storage: StorageView, principal: Principal, key_id: str, document: Any
) -> tuple[ApiKey, str]:
    """Give a key another secret.

    Returns:
        The key, and what its holder sends from now on.

    Raises:
        NotFound: There is no such key.
        Conflict: It was revoked.
        InvalidInput: A field is wrong.
        ProblemError: 403, it opens what is of all projects, and who asks is no operator.
    """
    how = check(Rotation, {} if document is None else document)
    if not principal.operator and _of_operators(storage.keys.get(key_id).scopes):
        raise ProblemError(
            403,
            "metrics are those of all projects; only the operator rotates keys for them, with "
            "'hamtune keys rotate' on the service's machine",
        )
    secret = tokens.new_secret()
    key = storage.keys.rotate(
        key_id,
        sha256=tokens.digest(secret),
        grace_seconds=how.grace,
        expires_at=None if how.expires_in is None else time.time() + how.expires_in,
    )
    return key, tokens.compose(key.id, secret)
