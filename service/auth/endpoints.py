"""Keys of a project, its audit log, and who one is."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from fastapi.concurrency import run_in_threadpool

from service.auth import service
from service.auth.access import PrincipalDependency, needs
from service.auth.principal import Principal
from service.auth.schemas import (
    AUDIT_EXAMPLE,
    KEY_EXAMPLE,
    NEW_KEY_EXAMPLE,
    AuditPage,
    AuditView,
    KeyPage,
    KeyView,
    NewKey,
    NewKeyView,
    Rotation,
    SessionView,
)
from service.bodies import read_document
from service.dependencies import SettingsDependency, StorageDependency
from service.openapi import answers, body
from service.parameters import Cursor, Limit
from storage.records import ApiKey
from storage.view import StorageView

__all__ = ["router"]

router = APIRouter()

KeyId = Annotated[str, Path(max_length=64, pattern=r"^[!-~]+$", description="The key's id.")]
_SESSION = {
    "name": "key:nightly",
    "project": "climate",
    "role": "submitter",
    "scopes": [],
    "required": True,
    "keep_deleted_seconds": 2592000.0,
}


@router.get(
    "/session",
    tags=["session"],
    dependencies=[needs("session", "read")],
    operation_id="get_session",
    summary="Show oneself",
    response_model=SessionView,
    responses=answers(_SESSION, 422, description="Who asks."),
)
def get_session(
    request: Request, principal: PrincipalDependency, settings: SettingsDependency
) -> SessionView:
    """Who the service takes the sender of this request for, and what they may."""
    return SessionView(
        name=principal.name,
        project=principal.project,
        role=principal.role,
        scopes=list(principal.scopes),
        required=not request.app.state.access.open,
        keep_deleted_seconds=settings.keep_deleted,
    )


@router.post(
    "/keys",
    tags=["keys"],
    dependencies=[needs("keys", "admin")],
    operation_id="create_key",
    summary="Make a key",
    status_code=201,
    response_model=NewKeyView,
    responses=answers(
        NEW_KEY_EXAMPLE,
        400,
        413,
        415,
        422,
        status=201,
        description="The key with its secret, which is never told again.",
        headers={"Location": "Where the key is."},
    ),
    openapi_extra=body(
        NewKey,
        {
            "A key for nightly jobs": {
                "name": "nightly",
                "role": "submitter",
                "scopes": ["jobs:write"],
                "expires_in": 7776000.0,
            }
        },
    ),
)
async def create_key(
    request: Request,
    response: Response,
    storage: StorageDependency,
    principal: PrincipalDependency,
    settings: SettingsDependency,
) -> NewKeyView:
    """Make a key of one's project. Only its digest is stored, so keep what is answered."""
    document = await read_document(request, settings.body_limit)
    view = await run_in_threadpool(_create, storage, principal, document)
    response.headers["Location"] = f"{request.url.path}/{view.id}"
    return view


@router.get(
    "/keys",
    tags=["keys"],
    dependencies=[needs("keys", "admin")],
    operation_id="list_keys",
    summary="List keys",
    response_model=KeyPage,
    responses=answers(
        {"items": [KEY_EXAMPLE], "cursor": None}, 422, description="A page of keys, newest first."
    ),
)
def list_keys(storage: StorageDependency, limit: Limit = 50, cursor: Cursor = None) -> KeyPage:
    """Keys of one's project without their secrets, newest first, also those that have ended."""
    page = storage.keys.page(limit=limit, cursor=cursor)
    return KeyPage(items=[KeyView.model_validate(key) for key in page.items], cursor=page.cursor)


@router.get(
    "/keys/{key_id}",
    tags=["keys"],
    dependencies=[needs("keys", "admin")],
    operation_id="get_key",
    summary="Show a key",
    response_model=KeyView,
    responses=answers(KEY_EXAMPLE, 404, 422, description="The key."),
)
def get_key(key_id: KeyId, storage: StorageDependency) -> KeyView:
    """One key without its secret."""
    return KeyView.model_validate(storage.keys.get(key_id))


@router.post(
    "/keys/{key_id}/rotate",
    tags=["keys"],
    dependencies=[needs("keys", "admin")],
    operation_id="rotate_key",
    summary="Rotate a key",
    response_model=NewKeyView,
    responses=answers(
        NEW_KEY_EXAMPLE,
        400,
        404,
        409,
        413,
        415,
        422,
        description="The key with its new secret, which is never told again.",
    ),
    openapi_extra=body(
        Rotation,
        {"Leave an hour to change over": {"grace": 3600.0}},
        required=False,
    ),
)
async def rotate_key(
    key_id: KeyId,
    request: Request,
    storage: StorageDependency,
    principal: PrincipalDependency,
    settings: SettingsDependency,
) -> NewKeyView:
    """Give a key another secret. The old one ends at once, or after the grace that is asked for."""
    document = await read_document(request, settings.body_limit, optional=True)
    return await run_in_threadpool(_rotate, storage, principal, key_id, document)


@router.delete(
    "/keys/{key_id}",
    tags=["keys"],
    dependencies=[needs("keys", "admin")],
    operation_id="revoke_key",
    summary="Revoke a key",
    response_model=KeyView,
    responses=answers(
        {**KEY_EXAMPLE, "revoked_at": 1790000200.0}, 404, 422, description="The key, revoked."
    ),
)
def revoke_key(key_id: KeyId, storage: StorageDependency) -> KeyView:
    """End a key for good, from the next request on. Asking twice is as good as once."""
    return KeyView.model_validate(storage.keys.revoke(key_id))


@router.get(
    "/audit",
    tags=["audit"],
    dependencies=[needs("audit", "admin")],
    operation_id="list_audit",
    summary="Read the audit log",
    response_model=AuditPage,
    responses=answers(
        {"items": [AUDIT_EXAMPLE], "cursor": None},
        422,
        description="A page of the log, newest first.",
    ),
)
def list_audit(storage: StorageDependency, limit: Limit = 50, cursor: Cursor = None) -> AuditPage:
    """What was changed in one's project and by whom, and what was refused to its keys."""
    page = storage.audit.page(limit=limit, cursor=cursor)
    return AuditPage(
        items=[AuditView.model_validate(entry) for entry in page.items], cursor=page.cursor
    )


def _create(storage: StorageView, principal: Principal, document: Any) -> NewKeyView:
    return _with_secret(*service.create(storage, principal, document))


def _rotate(storage: StorageView, principal: Principal, key_id: str, document: Any) -> NewKeyView:
    return _with_secret(*service.rotate(storage, principal, key_id, document))


def _with_secret(key: ApiKey, secret: str) -> NewKeyView:
    return NewKeyView.model_validate({**KeyView.model_validate(key).model_dump(), "key": secret})
