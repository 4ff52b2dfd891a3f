"""The best configuration of a job as files to install or to rerun."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response

from service.dependencies import StorageDependency
from service.exports.registry import EXPORTERS, archive, export_job
from service.openapi import answers
from service.parameters import JobId
from service.problems import ProblemError

__all__ = ["router"]

router = APIRouter(prefix="/jobs/{job_id}/exports", tags=["exports"])


@router.get(
    "/{format_name}",
    operation_id="export_job",
    summary="Export the best configuration",
    description="The best configuration so far as files, all of them in a zip archive or, with "
    "`name`, a single one.\n\nFormats:\n\n"
    + "\n".join(f"- `{exporter.name}`: {exporter.description}" for exporter in EXPORTERS.values()),
    response_class=Response,
    responses=answers(
        "(bytes of a zip archive)",
        404,
        409,
        422,
        description="A zip archive, or the single file asked for.",
        media="application/zip",
        headers={"Content-Disposition": "The name to save it under."},
    ),
)
def export(
    job_id: JobId,
    format_name: Annotated[str, Path(max_length=64, description="One of the formats above.")],
    storage: StorageDependency,
    name: Annotated[
        str | None, Query(max_length=500, description="Only this file, by its name in the archive.")
    ] = None,
) -> Response:
    files = export_job(storage, job_id, format_name)
    if name is None:
        return _download(archive(files), "application/zip", f"{job_id}-{format_name}.zip")
    for file in files:
        if file.name == name:
            media = "application/json" if name.endswith(".json") else "application/octet-stream"
            return _download(file.content, media, name.rpartition("/")[2])
    available = ", ".join(file.name for file in files)
    raise ProblemError(404, f"this export has no file {name!r}; it has: {available}")


def _download(content: bytes, media: str, name: str) -> Response:
    return Response(
        content,
        media_type=media,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
