"""Machine descriptions that jobs refer to by id."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from searchspace.disk_room import told_when_full
from service.auth.access import needs
from service.bodies import read_document
from service.dependencies import SettingsDependency, StorageDependency
from service.forms import FORM_TYPE
from service.machines import files, service, uploads
from service.machines.schemas import (
    EXAMPLE,
    FILES_EXAMPLE,
    REQUEST_EXAMPLE,
    SUMMARY_EXAMPLE,
    MachineFilesView,
    MachinePage,
    MachineView,
)
from service.openapi import answers, body
from service.parameters import Cursor, Limit, MachineId

__all__ = ["router"]

router = APIRouter(prefix="/machines", tags=["machines"])

_FILES = {
    "requestBody": {
        "required": True,
        "content": {
            FORM_TYPE: {
                "schema": {
                    "type": "object",
                    "properties": {
                        **{name: {"type": "string", "format": "binary"} for name in uploads.FILES},
                        **{name: {"type": "string"} for name in uploads.TEXTS},
                    },
                    "additionalProperties": False,
                },
                "example": {
                    "fabric": "(output of ibnetdiscover)",
                    "host": "(output of lstopo --of xml)",
                    "name": "bluebird",
                    "host_speed": "40Gf",
                },
            },
        },
    }
}


@router.post(
    "",
    dependencies=[needs("machines", "write")],
    operation_id="create_machine",
    summary="Store a machine",
    status_code=201,
    response_model=MachineView,
    responses=answers(
        EXAMPLE,
        400,
        413,
        415,
        422,
        status=201,
        description="The machine; the one stored before if name and description are the same.",
        headers={"Location": "Where the machine is."},
    ),
    openapi_extra=body(
        service.NewMachine,
        {"A network of 64 nodes": REQUEST_EXAMPLE},
    ),
)
async def create_machine(
    request: Request,
    response: Response,
    storage: StorageDependency,
    settings: SettingsDependency,
) -> MachineView:
    """Check a machine description and store it under a name.

    Storing the same description under the same name again answers the first one.
    """
    document = await read_document(request, settings.body_limit)
    machine = await run_in_threadpool(service.create, storage, document)
    response.headers["Location"] = f"{request.url.path}/{machine.id}"
    return MachineView.of(machine)


@router.post(
    "/files",
    dependencies=[needs("machines", "write")],
    operation_id="upload_machine_files",
    summary="Store a machine from files of a cluster",
    status_code=201,
    response_model=MachineFilesView,
    responses={
        **answers(
            FILES_EXAMPLE,
            400,
            404,
            409,
            413,
            415,
            422,
            507,
            status=201,
            description="What the files tell, and the machine.",
            headers={"Location": "Where the machine is."},
        ),
        **answers(
            {**FILES_EXAMPLE, "machine": None, "network": None, "assumed": {}},
            description="What the file of a host tells; no machine was stored.",
        ),
    },
    openapi_extra=_FILES,
)
async def upload_machine_files(
    request: Request,
    response: Response,
    storage: StorageDependency,
    settings: SettingsDependency,
) -> MachineFilesView:
    """Read the network of a cluster and the inside of its hosts, and store its machine.

    `fabric` is a file with the network there is, such as the output of `ibnetdiscover`; its format
    is told by its content, else by its name. `host` is hwloc's XML of one host, which tells the
    cores. `base` is the id of a stored machine that says what these do not; with `host` alone its
    network is kept. The other fields are those of a machine, and count before the files.
    """
    limit = min(uploads.MAX_FILES, settings.upload_limit)
    with told_when_full("what was sent"):
        sent = await uploads.receive(request, limit)
    found = await run_in_threadpool(files.store, storage, sent)
    if found.machine is None:
        response.status_code = 200
    else:
        place = request.url.path.removesuffix("/files")
        response.headers["Location"] = f"{place}/{found.machine.id}"
    return found


@router.get(
    "",
    dependencies=[needs("machines", "read")],
    operation_id="list_machines",
    summary="List machines",
    response_model=MachinePage,
    responses=answers(
        {"items": [SUMMARY_EXAMPLE, EXAMPLE], "cursor": None},
        422,
        description="A page of machines, newest first.",
    ),
)
def list_machines(
    storage: StorageDependency,
    summary: Annotated[
        bool, Query(description="Without what grows with a machine, such as cables and host names.")
    ] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> MachinePage:
    """Stored machines, newest first."""
    page = storage.machines.page(limit=limit, cursor=cursor)
    items = [MachineView.of(item, summary=summary) for item in page.items]
    return MachinePage(items=items, cursor=page.cursor)


@router.get(
    "/{machine_id}",
    dependencies=[needs("machines", "read")],
    operation_id="get_machine",
    summary="Show a machine",
    response_model=MachineView,
    responses=answers(EXAMPLE, 404, 422, description="The machine."),
)
def get_machine(machine_id: MachineId, storage: StorageDependency) -> MachineView:
    """One machine with its canonical description in SI base units."""
    return MachineView.of(storage.machines.get(machine_id))
