"""The door: every operation of the interface passes here before anything else is done for it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from service.auth import tokens
from service.auth.buckets import Buckets
from service.auth.oidc import Issuer, Rejected
from service.auth.principal import LOCAL, Level, Noun, Permission, Principal
from service.auth.settings import AuthSettings
from service.problems import ProblemError
from storage.errors import Unavailable
from storage.records import ApiKey
from storage.storage import Storage
from storage.view import StorageView

__all__ = [
    "OPEN_TO_ALL",
    "Access",
    "PrincipalDependency",
    "admitted",
    "needs",
    "permission_of",
    "storage_of",
]

_FAILURES_A_SECOND, _FAILURES_AT_ONCE = 1.0, 20.0
_BURST_SECONDS = 5.0


class Access:
    """Finds out who asks, and whether they may.

    Args:
        settings: Whether anything is asked of them.
        operator: Whoever comes is the operator: the service is called in this process.
    """

    def __init__(self, settings: AuthSettings, *, operator: bool = False) -> None:
        self.open = operator or not settings.required
        self._issuer = None if settings.oidc is None else Issuer(settings.oidc)
        self._failures = Buckets(_FAILURES_A_SECOND, _FAILURES_AT_ONCE)
        self._requests = (
            None
            if settings.rate is None or self.open
            else Buckets(settings.rate, max(1.0, settings.rate * _BURST_SECONDS))
        )

    def admit(self, request: Request, storage: Storage) -> Principal:
        """Who asks, if they may ask this.

        Raises:
            ProblemError: 401 who it is is not known, 403 they may not, 429 too often.
        """
        if self.open:
            return LOCAL
        principal = self.identify(request, storage)
        request.state.principal = principal  # for the audit log
        self._count(principal)
        permission = _needed_by(request)
        if not principal.may(permission):
            raise ProblemError(
                403,
                f"{principal.name} may not {permission.level} {permission.noun}: its role is "
                f"{principal.role}"
                + (f", narrowed to {', '.join(principal.scopes)}" if principal.scopes else ""),
            )
        return principal

    def still_admits(self, request: Request, storage: Storage) -> bool:
        """Whether somebody who was let in may stay: their key has neither ended nor changed.

        While the database is away nobody is sent off.
        """
        if self.open:
            return True
        token = request.headers.get("authorization", "").partition(" ")[2].strip()
        try:
            return self._principal(token, storage).may(_needed_by(request))
        except Rejected:
            return False
        except Unavailable:
            return True

    def identify(self, request: Request, storage: Storage) -> Principal:
        """Who asks.

        A key that is right is let in whatever else comes from its address: many share one, and
        whoever sends wrong keys must not lock the others out.

        Raises:
            ProblemError: 401 that is not known, 429 after many wrong keys from one address.
        """
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        try:
            if scheme.lower() != "bearer" or not token:
                raise Rejected("send a key as 'Authorization: Bearer ht_...'")
            return self._principal(token.strip(), storage)
        except Rejected as error:
            address = request.client.host if request.client is not None else "unknown"
            _wait_for(self._failures.take(address), "too many wrong keys from this address")
            raise ProblemError(
                401, str(error), headers={"WWW-Authenticate": 'Bearer realm="hamtune"'}
            ) from None

    def _principal(self, token: str, storage: Storage) -> Principal:
        if self._issuer is not None and not token.startswith(tokens.PREFIX):
            principal = self._issuer.principal(token)
            if not storage.projects.has(principal.project):
                raise Rejected(f"there is no project {principal.project!r}")
            return principal
        parts = tokens.split(token)
        key = None if parts is None else storage.keys.match(parts[0], tokens.digest(parts[1]))
        if key is None:
            raise Rejected("the key is not known")
        _check_validity(key)
        storage.keys.note_use(key)
        return Principal(
            name=f"key:{key.name}", project=key.project, role=key.role, scopes=key.scopes
        )

    def _count(self, principal: Principal) -> None:
        if self._requests is not None:
            name = f"{principal.project}/{principal.name}"
            _wait_for(self._requests.take(name), "too many requests with this key")


def _check_validity(key: ApiKey) -> None:
    if key.revoked_at is not None:
        raise Rejected(f"key {key.id} was revoked")
    if key.expires_at is not None and key.expires_at <= time.time():
        raise Rejected(f"key {key.id} has expired")


def _wait_for(seconds: float, why: str) -> None:
    if seconds > 0.0:
        wait = math.ceil(seconds)
        raise ProblemError(429, f"{why}; wait {wait} s", headers={"Retry-After": str(wait)})


async def admitted(request: Request) -> Principal:
    """Who asks; the dependency of all that is handed to endpoints.

    Raises:
        ProblemError: See `Access.admit`.
    """
    access = request.app.state.access
    assert isinstance(access, Access)
    if access.open:
        return LOCAL
    return await run_in_threadpool(access.admit, request, request.app.state.runtime.storage)


PrincipalDependency = Annotated[Principal, Depends(admitted)]


@dataclass(frozen=True)
class _Needs:
    permission: Permission

    async def __call__(self, principal: PrincipalDependency) -> None:
        """Nothing is left to do: to have a principal is to have been admitted by this."""


async def _open_to_all() -> None:
    """Nobody is asked who they are."""


OPEN_TO_ALL: Any = Depends(_open_to_all)
"""The dependency of a route that shows nothing of anybody."""


def needs(noun: Noun, level: Level) -> Any:
    """The dependency of a route that is for those who have a permission.

    It stands on the route or on its router, once: `dependencies=[needs("jobs", "write")]`.

    Args:
        noun: Whose the permission is; the trials, events and exports of jobs are `jobs`.
        level: `write` for whatever changes something or costs computing time, else `read`.
    """
    return Depends(_Needs(Permission(noun, level)))


def permission_of(route: BaseRoute) -> Permission | None:
    """What a route needs, None for nothing.

    Raises:
        RuntimeError: It does not say so, or says it twice.
    """
    dependencies = route.dependencies if isinstance(route, APIRoute) else []
    calls = [dependency.dependency for dependency in dependencies]
    found = [call for call in calls if isinstance(call, _Needs) or call is _open_to_all]
    if len(found) != 1:
        named = getattr(route, "path", repr(route))
        methods = "/".join(sorted(getattr(route, "methods", None) or ["any"]))
        raise RuntimeError(
            f"the route {methods} {named} says {'twice' if found else 'nowhere'} who may ask; give "
            'it dependencies=[needs("jobs", "write")] with its own noun and level, or '
            "dependencies=[OPEN_TO_ALL] if it shows nothing of anybody (service.auth.access)"
        )
    return found[0].permission if isinstance(found[0], _Needs) else None


def _needed_by(request: Request) -> Permission:
    permission = permission_of(request.scope["route"])
    assert permission is not None, "a route that is open to all asks who it is"
    return permission


def storage_of(principal: Principal, whole: Storage) -> StorageView:
    """What of the storage somebody may use: an operator all of it, others their project's share."""
    return whole if principal.operator else whole.of_project(principal.project)
