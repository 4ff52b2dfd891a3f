"""Who asks, and what a role and scopes allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from searchspace.errors import InvalidInput
from storage.records import DEFAULT_PROJECT, Role

__all__ = [
    "LOCAL",
    "OPERATORS",
    "ROLES",
    "SCOPES",
    "Level",
    "Noun",
    "Permission",
    "Principal",
    "check_scopes",
]

Level = Literal["read", "write", "admin"]
Noun = Literal[
    "agents", "applications", "audit", "jobs", "keys", "machines", "metrics", "projects", "service",
    "session",
]  # fmt: skip

ROLES: dict[Role, tuple[Level, ...]] = {
    "viewer": ("read",),
    "submitter": ("read", "write"),
    "admin": ("read", "write", "admin"),
}
"""What each role may do."""
assert tuple(ROLES) == get_args(Role)

SCOPES = (
    "jobs:read", "jobs:write", "applications:read", "applications:write", "machines:read",
    "machines:write", "metrics:read", "agents:write",
)  # fmt: skip
"""To what a key can be narrowed. To write is also to read; trials, events, exports, figures and
subscriptions belong to jobs. With `agents:write` alone a key asks for runs and tells what they
took."""


OPERATORS = ("metrics",)
"""Of all projects together: only the operator makes keys with these in their scopes."""


@dataclass(frozen=True)
class Permission:
    """What an operation needs."""

    noun: Noun
    level: Level

    @property
    def scope(self) -> str:
        """How keys call it, such as `jobs:write`."""
        return f"{self.noun}:{self.level}"


_OF_ALL = (Permission("service", "read"), Permission("session", "read"))
"""What no scope takes away: it shows nothing of anybody else."""


@dataclass(frozen=True, kw_only=True)
class Principal:
    """Somebody who was let in.

    Attributes:
        name: How logs and jobs call them.
        project: Whose things they see.
        role: What they may at most.
        scopes: What of that they may; nothing for all.
        operator: They own the machine and serve all projects; nobody who comes over a network
            where keys are asked for.
    """

    name: str
    project: str
    role: Role
    scopes: tuple[str, ...] = ()
    operator: bool = False

    def may(self, permission: Permission) -> bool:
        """Whether role and scopes allow an operation."""
        if permission.level not in ROLES[self.role]:
            return False
        if permission.noun in OPERATORS:
            return self.operator or permission.scope in self.scopes
        if not self.scopes or permission in _OF_ALL:
            return True
        granted = {permission.scope}
        if permission.level == "read":
            granted.add(f"{permission.noun}:write")
        return not granted.isdisjoint(self.scopes)


LOCAL = Principal(name="local", project=DEFAULT_PROJECT, role="admin", operator=True)
"""Who uses a service that only this machine reaches, and that asks for no key."""


def check_scopes(scopes: Sequence[str]) -> tuple[str, ...]:
    """Scopes in order, each once.

    Raises:
        InvalidInput: One is unknown.
    """
    unknown = [scope for scope in scopes if scope not in SCOPES]
    if unknown:
        raise InvalidInput(
            f"{unknown[0]!r} is not a scope; allowed: {', '.join(SCOPES)}", field="scopes"
        )
    return tuple(scope for scope in SCOPES if scope in scopes)
