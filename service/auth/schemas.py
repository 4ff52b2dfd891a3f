"""Keys, the audit log and oneself as REST shows them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from searchspace.validation import Description
from storage.records import Role

__all__ = [
    "AUDIT_EXAMPLE",
    "KEY_EXAMPLE",
    "NEW_KEY_EXAMPLE",
    "AuditPage",
    "AuditView",
    "KeyPage",
    "KeyView",
    "NewKey",
    "NewKeyView",
    "Rotation",
    "SessionView",
]

KEY_EXAMPLE: dict[str, Any] = {
    "id": "0k3v9m2x7q1zt8ak",
    "project": "climate",
    "name": "nightly",
    "role": "submitter",
    "scopes": ["jobs:write"],
    "created_by": "key:head",
    "created_at": 1790000000.0,
    "expires_at": 1797776000.0,
    "revoked_at": None,
    "used_at": 1790000100.0,
}
NEW_KEY_EXAMPLE = {
    **KEY_EXAMPLE,
    "used_at": None,
    "key": "ht_0k3v9m2x7q1zt8ak_(43 characters)",
}
AUDIT_EXAMPLE: dict[str, Any] = {
    "id": "0k3v9m2x7q1zt8ad",
    "at": 1790000000.0,
    "actor": "key:nightly",
    "address": "192.0.2.7",
    "action": "create_job",
    "target": "/api/v1/jobs",
    "status": 201,
}
_Seconds = Annotated[float, Field(gt=0.0, le=10 * 366 * 86400.0)]


class NewKey(Description):
    """A key to be made."""

    name: Annotated[
        str, StringConstraints(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$")
    ]
    """For people and the audit log; need not be unique."""
    role: Role
    """What it may at most."""
    scopes: tuple[str, ...] = ()
    """To what the role is narrowed; nothing for all that the role may."""
    expires_in: _Seconds | None = None
    """Seconds until it ends; null for never."""
    project: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")] | None = None
    """Whose key it is; only an operator may name another than their own."""


class Rotation(Description):
    """How a key gets another secret."""

    grace: Annotated[float, Field(ge=0.0, le=30 * 86400.0)] = 0.0
    """Seconds for which the old secret is good yet."""
    expires_in: _Seconds | None = None
    """Seconds until the key ends; null leaves that as it is."""


class KeyView(BaseModel):
    """A key without its secret."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    project: str
    name: str
    role: Role
    scopes: list[str]
    created_by: str
    created_at: float
    expires_at: float | None
    revoked_at: float | None
    used_at: float | None = Field(description="To the minute.")


class NewKeyView(KeyView):
    """A key with its secret, which is told this once."""

    key: str = Field(description="What to send as `Authorization: Bearer`.")


class KeyPage(BaseModel):
    """A page of keys."""

    items: list[KeyView]
    cursor: str | None


class AuditView(BaseModel):
    """An entry of the audit log."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    at: float
    actor: str
    address: str
    action: str
    target: str
    status: int


class AuditPage(BaseModel):
    """A page of the audit log."""

    items: list[AuditView]
    cursor: str | None


class SessionView(BaseModel):
    """Who asks, as the service sees them."""

    name: str
    project: str
    role: Role
    scopes: list[str]
    required: bool = Field(description="Whether a key was asked for.")
    keep_deleted_seconds: float = Field(
        description="For how long a job that is deleted now can be restored; 0: not at all."
    )
