"""Projects: shares, priorities and quotas."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.concurrency import run_in_threadpool

from searchspace.validation import check
from service.auth.access import PrincipalDependency, needs
from service.bodies import read_document
from service.dependencies import SettingsDependency, StorageDependency
from service.openapi import answers, body
from service.problems import ProblemError
from service.projects.schemas import EXAMPLE, Change, ProjectPage, ProjectView
from storage.storage import Storage

__all__ = ["router"]

router = APIRouter(prefix="/projects", tags=["projects"])

ProjectName = Annotated[
    str, Path(max_length=63, pattern=r"^[a-z0-9][a-z0-9-]*$", description="The project's name.")
]


@router.get(
    "",
    dependencies=[needs("projects", "read")],
    operation_id="list_projects",
    summary="List projects",
    response_model=ProjectPage,
    responses=answers({"items": [EXAMPLE]}, 422, description="The projects, by name."),
)
def list_projects(storage: StorageDependency) -> ProjectPage:
    """One's own project; for an operator all of them."""
    return ProjectPage(
        items=[
            ProjectView.of(project, storage.projects.use(project.name))
            for project in storage.projects.all()
        ]
    )


@router.get(
    "/{project}",
    dependencies=[needs("projects", "read")],
    operation_id="get_project",
    summary="Show a project",
    response_model=ProjectView,
    responses=answers(EXAMPLE, 404, 422, description="The project."),
)
def get_project(project: ProjectName, storage: StorageDependency) -> ProjectView:
    """What a project may use of the service, and what it has used."""
    return ProjectView.of(storage.projects.get(project), storage.projects.use(project))


@router.patch(
    "/{project}",
    dependencies=[needs("projects", "write")],
    operation_id="change_project",
    summary="Change what a project may use",
    response_model=ProjectView,
    responses=answers(EXAMPLE, 400, 404, 413, 415, 422, description="The project, changed."),
    openapi_extra=body(
        Change,
        {
            "Twice the share of others": {"weight": 2.0},
            "A million CPU seconds and any number of jobs": {
                "quotas": {"cpu_seconds": 1e6, "jobs": None}
            },
        },
    ),
)
async def change_project(
    project: ProjectName,
    request: Request,
    storage: StorageDependency,
    principal: PrincipalDependency,
    settings: SettingsDependency,
) -> ProjectView:
    """Set its share, its priority and its quotas. Only the operator of the service may.

    What is left out stays as it is; a quota that is null is lifted. Jobs that were paused because a
    quota had run out go on when they are resumed.
    """
    await run_in_threadpool(storage.projects.get, project)
    if not (principal.operator and isinstance(storage, Storage)):
        raise ProblemError(
            403,
            f"{principal.name} may not change projects: only the operator of the service may, with "
            "'hamtune projects set' beside its database",
        )
    document = await read_document(request, settings.body_limit)
    return await run_in_threadpool(_change, storage, project, document)


def _change(storage: Storage, name: str, document: Any) -> ProjectView:
    change = check(Change, document)
    before = storage.projects.get(name)
    given = change.quotas.model_dump(exclude_unset=True)
    after = storage.projects.change(
        name,
        weight=change.weight or before.weight,
        priority=change.priority or before.priority,
        quotas=replace(before.quotas, **given),
    )
    return ProjectView.of(after, storage.projects.use(name))
