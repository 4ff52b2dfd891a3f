"""Applications: programs that configurations replay, as traces or as sources to capture."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse

from searchspace.disk_room import told_when_full
from searchspace.jobspec import SourceApplication
from service.applications import service, uploads
from service.applications.files import file_of, files_of
from service.applications.schemas import (
    EXAMPLE,
    FILES_EXAMPLE,
    ApplicationPage,
    ApplicationView,
    FilesView,
)
from service.auth.access import needs
from service.dependencies import SettingsDependency, StorageDependency
from service.forms import FORM_TYPE
from service.openapi import answers
from service.parameters import ApplicationId, Cursor, FilePath, Limit, Log, LogOffset

__all__ = ["router"]

router = APIRouter(prefix="/applications", tags=["applications"])

_RECIPE = SourceApplication.model_json_schema()["properties"]
_UPLOAD = {
    "requestBody": {
        "required": True,
        "content": {
            uploads.RAW_TYPE: {
                "schema": {"type": "string", "format": "binary"},
                "example": "(bytes of a trace archive, .ht)",
            },
            FORM_TYPE: {
                "schema": {
                    "type": "object",
                    "properties": {
                        uploads.TRACE_FIELD: {"type": "string", "format": "binary"},
                        uploads.SOURCE_FIELD: {"type": "string", "format": "binary"},
                        uploads.NAME_FIELD: {"type": "string", "maxLength": service.MAX_NAME},
                        **{name: _RECIPE[name] for name in uploads.RECIPE_FIELDS},
                    },
                },
                "example": {
                    "source": "(bytes of a source tree: tar, tar.gz or zip)",
                    "build": "make CG CLASS=S NPROCS=16",
                    "run": "bin/cg.S.16",
                    "ranks": 16,
                },
            },
        },
    }
}


@router.post(
    "",
    dependencies=[needs("applications", "write")],
    operation_id="upload_application",
    summary="Upload a trace or a source tree",
    status_code=201,
    response_model=ApplicationView,
    responses={
        **answers(
            EXAMPLE,
            400,
            413,
            415,
            422,
            507,
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
    """Upload a trace archive (`.ht`), as `hamtune capture` writes it, or a source tree.

    A source tree is an archive in the field `source` of a form, or the SHA-256 of one that is
    stored, with `build`, `run` and `ranks` and what else a job file has under `application`. It is
    captured in a sandbox once a job needs it.

    What arrives is checked whole before it is stored. Uploading the same again answers the
    application that was made of it, under its first name.
    """
    with told_when_full("what was sent"):
        async with uploads.receive(request, settings.upload_limit) as upload:
            if upload.is_source:
                application, new = await run_in_threadpool(
                    service.store_source, storage, upload.path, upload.fields
                )
            else:
                application, new = await run_in_threadpool(
                    service.store, storage, upload.path, upload.name or name
                )
    if not new:
        response.status_code = 200
        (application,) = await run_in_threadpool(service.complete, storage, [application])
    response.headers["Location"] = f"{request.url.path}/{application.id}"
    return ApplicationView.of(application)


@router.get(
    "",
    dependencies=[needs("applications", "read")],
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
    """Uploaded traces and programs, and captured built-in programs, newest first."""
    page = storage.applications.page(limit=limit, cursor=cursor)
    return ApplicationPage(
        items=[ApplicationView.of(item) for item in service.complete(storage, page.items)],
        cursor=page.cursor,
    )


@router.get(
    "/{application_id}",
    dependencies=[needs("applications", "read")],
    operation_id="get_application",
    summary="Show an application",
    response_model=ApplicationView,
    responses=answers(EXAMPLE, 404, 422, description="The application."),
)
def get_application(application_id: ApplicationId, storage: StorageDependency) -> ApplicationView:
    """One application with what its trace holds."""
    (application,) = service.complete(storage, [storage.applications.get(application_id)])
    return ApplicationView.of(application)


@router.get(
    "/{application_id}/logs/{log}",
    dependencies=[needs("applications", "read")],
    operation_id="get_application_log",
    summary="Read a log",
    response_class=PlainTextResponse,
    responses=answers(
        "$ make CG CLASS=S NPROCS=16\n...", 404, 422, description="The log.", media="text/plain"
    ),
)
def get_application_log(
    application_id: ApplicationId, log: Log, storage: StorageDependency, offset: LogOffset = 0
) -> PlainTextResponse:
    """What building (`build`) or running (`run`) a source tree printed, while it goes on and after.

    Of a long log the middle is left out, once it is complete.
    """
    return PlainTextResponse(storage.applications.log(application_id, log)[offset:])


@router.get(
    "/{application_id}/files",
    dependencies=[needs("applications", "read")],
    operation_id="list_application_files",
    summary="List the files that runs left",
    response_model=FilesView,
    responses=answers(FILES_EXAMPLE, 404, 422, description="The files."),
)
def list_application_files(application_id: ApplicationId, storage: StorageDependency) -> FilesView:
    """The files that the last runs of a program built from a source tree wrote or changed."""
    return files_of(storage, application_id)


@router.get(
    "/{application_id}/files/{path:path}",
    dependencies=[needs("applications", "read")],
    operation_id="get_application_file",
    summary="Read a file that runs left",
    response_class=Response,
    responses=answers(
        "(bytes of the file)", 404, 422, description="It.", media="application/octet-stream"
    ),
)
def get_application_file(
    application_id: ApplicationId, path: FilePath, storage: StorageDependency
) -> Response:
    """One of the files that the application's `files` lists."""
    return file_of(storage, application_id, path)
