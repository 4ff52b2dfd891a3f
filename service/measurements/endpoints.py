"""What exports gained on real clusters: sent by `hamtune verify`, shown beside the simulation."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool

from searchspace.validation import check
from service.auth.access import needs
from service.bodies import read_document
from service.dependencies import SettingsDependency, StorageDependency
from service.measurements.schemas import (
    EXAMPLE,
    REQUEST_EXAMPLE,
    MeasurementList,
    MeasurementView,
    NewMeasurement,
)
from service.openapi import answers, body
from service.parameters import JobId

__all__ = ["router"]

router = APIRouter(prefix="/jobs/{job_id}/measurements", tags=["exports"])


@router.post(
    "",
    dependencies=[needs("jobs", "write")],
    operation_id="add_measurement",
    summary="Tell what an export gained",
    status_code=201,
    response_model=MeasurementView,
    responses=answers(
        EXAMPLE, 400, 404, 413, 415, 422, status=201, description="The measurement as it is kept."
    ),
    openapi_extra=body(
        NewMeasurement,
        {"Three pairs of runs": REQUEST_EXAMPLE},
    ),
)
async def add_measurement(
    request: Request, job_id: JobId, storage: StorageDependency, settings: SettingsDependency
) -> MeasurementView:
    """Keep how long the exported and the default configuration took on a real cluster."""
    await run_in_threadpool(storage.jobs.get, job_id)  # whose it is comes before what is told
    document = check(NewMeasurement, await read_document(request, settings.body_limit))
    kept = await run_in_threadpool(
        storage.measurements.add, job_id, document.model_dump(mode="json")
    )
    return MeasurementView.of(kept)


@router.get(
    "",
    dependencies=[needs("jobs", "read")],
    operation_id="list_measurements",
    summary="Show what exports gained",
    response_model=MeasurementList,
    responses=answers({"items": [EXAMPLE]}, 404, 422, description="The newest 200."),
)
def list_measurements(job_id: JobId, storage: StorageDependency) -> MeasurementList:
    """The measurements of a job, newest first."""
    storage.jobs.get(job_id)
    found = storage.measurements.of_job(job_id)
    return MeasurementList(items=[MeasurementView.of(one) for one in found])
