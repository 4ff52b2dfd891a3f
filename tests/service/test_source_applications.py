"""Applications that are source trees: uploaded, captured by a job, and what their runs left."""

import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.runtime import Runtime
from tests.disks import leave_free
from tests.service.uploads import RAW, URL, archive_with_bad_paths, bomb, stored_files
from workers.capture_files import pack_left

TREE = {"build": "mpicc -o main main.c", "run": "main", "ranks": "4"}


def source_tree(text: str = "int main;") -> bytes:
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as packed:
        packed.writestr("Makefile", "all:")
        packed.writestr("main.c", text)
    return content.getvalue()


def test_a_source_tree_becomes_an_application_to_be_captured(
    client: TestClient, runtime: Runtime, scratch: Path
) -> None:
    files = {"source": ("program.zip", source_tree())}
    response = client.post(URL, files=files, data={**TREE, "captures": "5", "name": "mine"})
    assert response.status_code == 201, response.text
    application = response.json()
    assert (application["kind"], application["state"]) == ("source", "new")
    assert (application["name"], application["ranks"]) == ("mine", 4)
    assert application["trace_sha256"] is None
    recipe = application["recipe"]
    assert recipe == {
        "source_sha256": recipe["source_sha256"],
        "build": TREE["build"],
        "run": "main",
        "ranks": 4,
        "captures": 5,
        "computation": "measured",
        "host_speed_of_capture": None,
    }
    again = client.post(URL, files=files, data={**TREE, "captures": "5"})
    assert (again.status_code, again.json()) == (200, application)
    other = client.post(
        URL, files={"source": (None, recipe["source_sha256"])}, data={**TREE, "ranks": "8"}
    )
    assert other.status_code == 201, other.text
    assert other.json()["recipe"]["source_sha256"] == recipe["source_sha256"]


def test_a_source_tree_that_would_fill_the_disk_is_refused_in_plain_words(
    client: TestClient, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"source": ("program.zip", source_tree())}
    with monkeypatch.context() as patch:
        leave_free(patch, 64 << 20)
        response = client.post(URL, files=files, data=TREE)
    assert response.status_code == 507
    said = response.json()["detail"]
    assert said.startswith("the packed source tree takes 1 MiB in ")
    assert "where 64 MiB are free and 64 MiB have to remain; make room there, or set TMPD" in said
    assert client.post(URL, files=files, data=TREE).status_code == 201


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"build": None}, "build"),
        ({"run": None}, "run"),
        ({"run": ""}, "run"),
        ({"run": "mpirun main"}, "run"),
        ({"ranks": None}, "ranks"),
        ({"ranks": "many"}, "ranks"),
        ({"ranks": "0"}, "ranks"),
        ({"captures": "1000"}, "captures"),
        ({"computation": "guessed"}, "computation"),
        ({"host_speed_of_capture": "fast"}, "host_speed_of_capture"),
        ({"colour": "red"}, "colour"),
        ({"build": "x" * 5000}, "build"),
    ],
)
def test_a_source_tree_needs_all_that_a_capture_needs(
    client: TestClient, scratch: Path, fields: dict[str, str | None], field: str
) -> None:
    data = {name: value for name, value in (TREE | fields).items() if value is not None}
    response = client.post(URL, files={"source": ("p.zip", source_tree())}, data=data)
    assert response.status_code == 422, response.text
    assert response.json()["errors"][0]["field"] == field
    assert client.get(URL).json()["items"] == []


@pytest.mark.parametrize(
    "content",
    [b"", b"PK", bomb(), archive_with_bad_paths()],
    ids=["empty", "cut", "trace", "climbs"],
)
def test_a_hostile_source_tree_is_refused(
    client: TestClient, runtime: Runtime, scratch: Path, content: bytes
) -> None:
    response = client.post(URL, files={"source": ("p.zip", content)}, data=TREE)
    assert response.status_code == 422, response.text
    assert response.json()["errors"][0]["field"] == "source"
    assert stored_files(runtime) == []


def test_a_source_that_is_not_stored_is_refused(client: TestClient, trace: Path) -> None:
    stored = client.post(URL, content=trace.read_bytes(), headers=RAW).json()["trace_sha256"]
    for digest in ("0" * 64, "../../etc/passwd", stored):
        response = client.post(URL, files={"source": (None, digest)}, data=TREE)
        assert response.status_code == 422, response.text
        assert response.json()["errors"][0]["field"] == "source"


def test_fields_of_a_source_do_not_go_with_a_trace(client: TestClient, trace: Path) -> None:
    response = client.post(
        URL, files={"trace": ("t.ht", trace.read_bytes())}, data={"build": "make"}
    )
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == "build"


def test_logs_can_be_read_from_where_they_were_left(client: TestClient, runtime: Runtime) -> None:
    files = {"source": ("program.zip", source_tree())}
    application = client.post(URL, files=files, data=TREE).json()["id"]
    assert client.get(f"{URL}/{application}/logs/build").text == ""
    storage = runtime.storage
    assert storage.applications.claim_capture(application, "worker", silence_seconds=60)
    assert storage.applications.report_capture(application, "worker", build_log="$ make\ndone\n")
    assert client.get(f"{URL}/{application}/logs/build").text == "$ make\ndone\n"
    assert client.get(f"{URL}/{application}/logs/build?offset=7").text == "done\n"
    assert client.get(f"{URL}/{application}").json()["state"] == "capturing"
    assert client.get(f"{URL}/{application}/logs/other").status_code == 422
    assert client.get(f"{URL}/nothing/logs/build").status_code == 404


def test_files_that_runs_left_can_be_listed_and_read(
    client: TestClient, runtime: Runtime, spec: dict[str, Any], tmp_path: Path
) -> None:
    storage = runtime.storage
    files = {"source": ("program.zip", source_tree())}
    application = client.post(URL, files=files, data=TREE).json()["id"]
    job = client.post("/api/v1/jobs", json={**spec, "application": {"id": application}}).json()
    assert client.get(f"{URL}/{application}/files").status_code == 404
    (tmp_path / "out").mkdir()
    (tmp_path / "out/a b.html").write_text("<script>")
    left = pack_left(tmp_path, {}, tmp_path.parent / "left.tar.gz")
    storage.jobs.set_application(job["id"], application)
    assert storage.applications.claim_capture(application, "worker", silence_seconds=60)
    kept = {"sha256": storage.artifacts.put(left.archive), **left.listing()}
    assert storage.applications.report_capture(application, "worker", output_files=kept)

    for place in (f"{URL}/{application}", f"/api/v1/jobs/{job['id']}"):
        listing = client.get(f"{place}/files").json()
        assert {"path": "out/a b.html", "bytes": 8} in listing["files"]
        answer = client.get(f"{place}/files/out/a%20b.html")
        assert answer.text == "<script>"
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["content-disposition"].startswith("attachment;")
        for missing in ("out", "../left.tar.gz", "%2e%2e/left.tar.gz", "/etc/passwd"):
            assert client.get(f"{place}/files/{missing}").status_code == 404
    assert not storage.retention.unreferenced_artifacts()


def test_how_far_a_capture_is_shows_on_application_and_job(
    client: TestClient, runtime: Runtime, spec: dict[str, Any]
) -> None:
    storage = runtime.storage
    files = {"source": ("program.zip", source_tree())}
    application = client.post(URL, files=files, data=TREE).json()["id"]
    job = client.post("/api/v1/jobs", json={**spec, "application": {"id": application}}).json()
    storage.jobs.transition(job["id"], "preparing")
    progress = {
        "run": 2, "runs": 3, "operations": 1234, "ranks_ended": 5, "ranks": 8,
        "simulated_seconds": 0.5,
    }  # fmt: skip
    assert storage.applications.claim_capture(application, "worker", silence_seconds=60)
    assert storage.applications.report_capture(application, "worker", capture_progress=progress)
    assert client.get(f"{URL}/{application}").json()["capture_progress"] == progress
    assert client.get(f"/api/v1/jobs/{job['id']}").json()["progress"]["capture"] == progress
    assert storage.applications.report_capture(application, "worker", state="failed", error="no")
    assert client.get(f"{URL}/{application}").json()["capture_progress"] is None


def test_a_trace_has_no_logs(client: TestClient, trace: Path) -> None:
    application = client.post(URL, content=trace.read_bytes(), headers=RAW).json()["id"]
    response = client.get(f"{URL}/{application}/logs/run")
    assert response.status_code == 404
    assert "not built from a source tree" in response.json()["detail"]


def test_a_job_shows_the_logs_of_its_application(
    client: TestClient, runtime: Runtime, spec: dict[str, Any]
) -> None:
    files = {"source": ("program.zip", source_tree())}
    application = client.post(URL, files=files, data=TREE).json()["id"]
    job = client.post("/api/v1/jobs", json={**spec, "application": {"id": application}}).json()
    runtime.storage.applications.claim_capture(application, "worker", silence_seconds=60)
    runtime.storage.applications.report_capture(application, "worker", run_log="$ main\n")
    assert client.get(f"/api/v1/jobs/{job['id']}/logs/run").text == "$ main\n"
    builtin = client.post("/api/v1/jobs", json=spec).json()
    assert client.get(f"/api/v1/jobs/{builtin['id']}/logs/run").status_code == 404


def test_a_path_to_a_source_is_refused(client: TestClient, spec: dict[str, Any]) -> None:
    application = {"source": "/etc", "build": "make", "run": "x", "ranks": 4}
    response = client.post("/api/v1/jobs", json={**spec, "application": application})
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == "application.source"
