import json
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from service.exports.registry import EXPORTERS
from storage.records import Outcome
from storage.storage import Storage

URL = "/api/v1/jobs"


@pytest.fixture
def job_with_best(
    client: TestClient,
    storage: Storage,
    create_job: Callable[..., str],
    add_trials: Callable[..., None],
    trace: Path,
) -> str:
    """A job over an uploaded trace with one completed trial."""
    application = client.post(
        "/api/v1/applications",
        content=trace.read_bytes(),
        headers={"Content-Type": "application/octet-stream"},
    ).json()
    job_id = create_job(application={"id": application["id"]})
    storage.set_job_prepared(job_id, application_id=application["id"], space={"size": 4})
    result = {"rank_finish_times": [[1.0, 1.0]], "link_loads": [[8, 8]] * 32}
    add_trials(job_id, Outcome(status="completed", value=1.0, result=result))
    return job_id


def test_an_unknown_format_names_the_known_ones(client: TestClient, job_with_best: str) -> None:
    response = client.get(f"{URL}/{job_with_best}/exports/pdf")
    assert response.status_code == 422
    assert "allowed: " + ", ".join(EXPORTERS) in response.json()["detail"]


@pytest.mark.parametrize("format_name", EXPORTERS)
def test_without_a_completed_trial_there_is_nothing_to_export(
    client: TestClient, create_job: Callable[..., str], format_name: str
) -> None:
    response = client.get(f"{URL}/{create_job()}/exports/{format_name}")
    assert response.status_code == 409
    assert response.headers["content-type"] == "application/problem+json"


def test_a_file_that_is_not_in_it_is_not_found(client: TestClient, job_with_best: str) -> None:
    response = client.get(
        f"{URL}/{job_with_best}/exports/json", params={"name": "../../etc/passwd"}
    )
    assert response.status_code == 404
    assert "it has: " in response.json()["detail"]


@pytest.mark.parametrize("format_name", EXPORTERS)
def test_an_export_is_an_archive_or_one_of_its_files(
    client: TestClient, job_with_best: str, format_name: str
) -> None:
    url = f"{URL}/{job_with_best}/exports/{format_name}"
    response = client.get(url)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/zip"
    assert response.headers["content-disposition"] == (
        f'attachment; filename="{job_with_best}-{format_name}.zip"'
    )
    with zipfile.ZipFile(BytesIO(response.content)) as packed:
        assert packed.testzip() is None
        for name in packed.namelist():
            assert client.get(url, params={"name": name}).content == packed.read(name)
            if name.endswith(".json"):
                json.loads(packed.read(name))
