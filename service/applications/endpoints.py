"""Applications: traces that configurations replay."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from service.applications import service, uploads
from service.applications.schemas import EXAMPLE, ApplicationPage, ApplicationView
from service.dependencies import SettingsDependency, StorageDependency
from service.openapi import answers
from service.parameters import ApplicationId, Cursor, Limit

__all__ = ["router"]

router = APIRouter(prefix="/applications", tags=["applications"])

_UPLOAD = {
    "requestBody": {
        "required": True,
        "content": {
            uploads.RAW_TYPE: {
                "schema": {"type": "string", "format": "binary"},
                "example": "(bytes of a trace archive, .ht)",
            },
            uploads.FORM_TYPE: {
                "schema": {
                    "type": "object",
                    "required": ["trace"],
                    "properties": {
                        "trace": {"type": "string", "format": "binary"},
                        "name": {"type": "string", "maxLength": service.MAX_NAME},
                    },
                },
                "example": {"trace": "(bytes of a trace archive, .ht)", "name": "cg"},
            },
        },
    }
}


@router.post(
    "",
    operation_id="upload_application",
    summary="Upload a trace",
    status_code=201,
    response_model=ApplicationView,
    responses={
        **answers(
            EXAMPLE,
            400,
            413,
            415,
            422,
            status=201,
            description="The new application.",
            headers={"Location": "Where the application is."},
        ),
        **answers(EXAMPLE, description="The application that holds the same trace already."),
    },
    openapi_extra=_UPLOAD,
)
async def upload_application(
    request: Request,
    response: Response,
    storage: StorageDependency,
    settings: SettingsDependency,
    name: Annotated[
        str | None, Query(description="Name of the application; by default the program's.")
    ] = None,
) -> ApplicationView:
    """Upload a trace archive (`.ht`), as `hamtune capture` writes it.

    The archive is checked whole before it is stored. Uploading the same bytes again answers the
    application that holds them, under its first name.
    """
    async with uploads.receive(request, settings.upload_limit) as upload:
        application, new = await run_in_threadpool(
            service.store, storage, upload.path, upload.name or name
        )
    if not new:
        response.status_code = 200
    response.headers["Location"] = f"{request.url.path}/{application.id}"
    return ApplicationView.of(application)


@router.get(
    "",
    operation_id="list_applications",
    summary="List applications",
    response_model=ApplicationPage,
    responses=answers(
        {"items": [EXAMPLE], "cursor": None},
        422,
        description="A page of applications, newest first.",
    ),
)
def list_applications(
    storage: StorageDependency, limit: Limit = 50, cursor: Cursor = None
) -> ApplicationPage:
    """Uploaded traces and captured built-in programs, newest first."""
    page = storage.list_applications(limit=limit, cursor=cursor)
    return ApplicationPage(
        items=[ApplicationView.of(item) for item in page.items], cursor=page.cursor
    )


@router.get(
    "/{application_id}",
    operation_id="get_application",
    summary="Show an application",
    response_model=ApplicationView,
    responses=answers(EXAMPLE, 404, 422, description="The application."),
)
def get_application(application_id: ApplicationId, storage: StorageDependency) -> ApplicationView:
    """One application with what its trace holds."""
    return ApplicationView.of(storage.get_application(application_id))
