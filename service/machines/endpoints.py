"""Machine descriptions that jobs refer to by id."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool

from service.bodies import read_document
from service.dependencies import SettingsDependency, StorageDependency
from service.machines import service
from service.machines.schemas import EXAMPLE, REQUEST_EXAMPLE, MachinePage, MachineView
from service.openapi import answers, body
from service.parameters import Cursor, Limit, MachineId

__all__ = ["router"]

router = APIRouter(prefix="/machines", tags=["machines"])


@router.post(
    "",
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


@router.get(
    "",
    operation_id="list_machines",
    summary="List machines",
    response_model=MachinePage,
    responses=answers(
        {"items": [EXAMPLE], "cursor": None}, 422, description="A page of machines, newest first."
    ),
)
def list_machines(
    storage: StorageDependency, limit: Limit = 50, cursor: Cursor = None
) -> MachinePage:
    """Stored machines, newest first."""
    page = storage.list_machines(limit=limit, cursor=cursor)
    return MachinePage(items=[MachineView.of(item) for item in page.items], cursor=page.cursor)


@router.get(
    "/{machine_id}",
    operation_id="get_machine",
    summary="Show a machine",
    response_model=MachineView,
    responses=answers(EXAMPLE, 404, 422, description="The machine."),
)
def get_machine(machine_id: MachineId, storage: StorageDependency) -> MachineView:
    """One machine with its canonical description in SI base units."""
    return MachineView.of(storage.get_machine(machine_id))
