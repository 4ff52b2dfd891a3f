"""The best configuration of a job as files to install or to rerun."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from searchspace.collectives.equivalents import TARGETS, target_named
from searchspace.validation import check
from service.auth.access import needs
from service.bodies import read_document
from service.dependencies import SettingsDependency, StorageDependency
from service.exports.formats import ALL, FORMATS
from service.exports.manifest import differences
from service.exports.registry import ExportFile, ExportOptions, archive, export_job
from service.exports.schemas import REQUEST_EXAMPLE, ExportRequest
from service.exports.simulations import RETRY_SECONDS, Busy
from service.openapi import answers, body
from service.parameters import JobId
from service.problems import ProblemError
from storage.view import StorageView

__all__ = ["router"]

router = APIRouter(prefix="/jobs/{job_id}/exports", tags=["exports"])

DIFFERS = "Hamtune-Differs"
"""The header that warns of files which do not do what was simulated."""

_FORMATS = (
    "The best configuration so far, or that of a `trial`, as files: all of them in a zip archive "
    "or, with `name`, a single one.\n\nFormats:\n\n"
    + "\n".join(f"- `{name}`: {description}" for name, description in FORMATS.items())
    + f"\n- `{ALL}`: all that suit the job, each in a folder"
)


def _archive(*errors: int) -> dict[int | str, dict[str, Any]]:
    return answers(
        "(bytes of a zip archive)",
        *errors,
        description="A zip archive, or the single file asked for.",
        media="application/zip",
        headers={
            "Content-Disposition": "The name to save it under.",
            DIFFERS: "Where a library does not run what was simulated: that, and the time of what "
            "the files hold.",
        },
    )


_LARGEST_BODY = 32 * 2**20  # the output of ibnetdiscover for tens of thousands of hosts

FormatName = Annotated[str, Path(max_length=64, description="One of the formats above.")]
FileName = Annotated[
    str | None, Query(max_length=500, description="Only this file, by its name in the archive.")
]


@router.get(
    "/{format_name}",
    dependencies=[needs("jobs", "read")],
    operation_id="export_job",
    summary="Export the best configuration",
    description=_FORMATS,
    response_class=Response,
    responses=_archive(404, 409, 422, 429),
)
def export(
    job_id: JobId,
    format_name: FormatName,
    storage: StorageDependency,
    name: FileName = None,
    trial: Annotated[
        int | None,
        Query(ge=1, le=2**31 - 1, description="The number of a completed trial; else the best."),
    ] = None,
    target: Annotated[
        str | None,
        Query(
            max_length=64,
            description="The MPI library that has to express every collective choice: "
            + ", ".join(f"`{one}`" for one in TARGETS)
            + ". Where it cannot, the answer (409) names the choices and tells what the nearest "
            "configuration takes.",
        ),
    ] = None,
    nearest: Annotated[
        bool, Query(description="Export the nearest configuration that the target can express.")
    ] = False,
) -> Response:
    known = target_named(target) if target else None
    options = ExportOptions(trial=trial, target=known, nearest=nearest)
    files = _exported(storage, job_id, format_name, options)
    return _answer(files, _stem(job_id, format_name, options), name)


@router.post(
    "/{format_name}",
    dependencies=[needs("jobs", "read")],  # POST, since what is asked for is long
    operation_id="export_job_for_hosts",
    summary="Export with the names of one's hosts",
    description=f"As `GET`, for hosts and fabrics that are named in the body.\n\n{_FORMATS}",
    response_class=Response,
    responses=_archive(400, 404, 409, 413, 415, 422, 429),
    openapi_extra=body(
        ExportRequest,
        {"Four hosts, for Open MPI 4.1": REQUEST_EXAMPLE},
    ),
)
async def export_for_hosts(
    request: Request,
    job_id: JobId,
    format_name: FormatName,
    storage: StorageDependency,
    settings: SettingsDependency,
    name: FileName = None,
) -> Response:
    await run_in_threadpool(storage.jobs.get, job_id)  # whose it is comes before what is asked
    document = await read_document(request, max(_LARGEST_BODY, settings.body_limit))
    options = check(ExportRequest, document).options
    files = await run_in_threadpool(_exported, storage, job_id, format_name, options)
    return _answer(files, _stem(job_id, format_name, options), name)


def _exported(
    storage: StorageView, job_id: str, format_name: str, options: ExportOptions
) -> list[ExportFile]:
    try:
        return export_job(storage, job_id, format_name, options)
    except Busy as busy:
        headers = {"Retry-After": str(RETRY_SECONDS)}
        raise ProblemError(429, str(busy), headers=headers) from None


def _stem(job_id: str, format_name: str, options: ExportOptions) -> str:
    chosen = "" if options.trial is None else f"-trial-{options.trial}"
    return f"{job_id}{chosen}-{format_name}"


def _answer(files: list[ExportFile], stem: str, name: str | None) -> Response:
    differ = "; ".join(differences(files))
    if name is None:
        return _download(archive(files), "application/zip", f"{stem}.zip", differ)
    for file in files:
        if file.name == name:
            media = "application/json" if name.endswith(".json") else "application/octet-stream"
            return _download(file.content, media, name.rpartition("/")[2], differ)
    available = ", ".join(file.name for file in files)
    raise ProblemError(404, f"this export has no file {name!r}; it has: {available}")


def _download(content: bytes, media: str, name: str, differ: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    if differ:
        headers[DIFFERS] = differ
    return Response(content, media_type=media, headers=headers)
