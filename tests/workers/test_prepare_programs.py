"""Programs of one's own that preparations build, run, wait for, give back and take over."""

from __future__ import annotations

import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from searchspace.job import load_job
from storage.storage import Storage
from tests.disks import leave_free
from tests.workers.conftest import create, job_document
from workers import applications, preparation_claim, prepare
from workers.capture_build import WRAPPERS
from workers.capture_limits import CapturePolicy, Limits
from workers.capture_sandbox import Interrupted
from workers.prepare import Preparer, prepare_job


def test_a_long_preparation_keeps_its_claim(
    storage: Storage, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation_claim, "_BEAT_SECONDS", 0.05)
    beats: list[str] = []
    beat = storage.preparations.beat

    def counted(job_id: str, claim: str) -> bool:
        beats.append(claim)
        return beat(job_id, claim)

    monkeypatch.setattr(storage.preparations, "beat", counted)
    job = create(storage, source_job(source, build="sleep 900"))
    preparer = Preparer(storage, "one")
    thread = threading.Thread(target=_interrupted, args=(preparer, job.id))
    thread.start()
    wait_for(lambda: len(beats) > 2)
    assert storage.preparations.is_under_way(job.id)
    preparer.stop.set()
    thread.join()

    assert len(set(beats)) == 1
    assert not storage.preparations.is_under_way(job.id)


def _interrupted(preparer: Preparer, job_id: str) -> None:
    with pytest.raises(Interrupted):
        preparer.prepare(job_id)


PROGRAM = (
    "#include <mpi.h>\n#include <unistd.h>\nint main(int c, char **v)\n{\n  MPI_Init(&c, &v);\n"
    "  MPI_Barrier(MPI_COMM_WORLD);\n  MPI_Finalize();\n  return 0;\n}\n"
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A source tree whose program meets at a barrier."""
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "main.c").write_text(PROGRAM)
    return folder


def source_job(source: Path, **changes: Any) -> dict[str, Any]:
    build = "mpicc -o main main.c"
    application = {"source": str(source), "build": build, "run": "main", "ranks": 4, "captures": 2}
    document = job_document(Path("unused"), application=application | changes)
    document["search"]["collectives"] = {"barrier": "all"}
    return document


def log_of(storage: Storage, job_id: str) -> str:
    application_id = storage.jobs.get(job_id).application_id
    assert application_id is not None
    return storage.applications.log(application_id, "build")


def test_a_program_of_ones_own_is_captured_once_and_keeps_its_logs(
    storage: Storage, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = create(storage, source_job(source)), create(storage, source_job(source))
    prepare_job(storage, first.id)
    monkeypatch.setattr(prepare, "capture_source", None)
    prepare_job(storage, second.id)

    (application,) = storage.applications.page().items
    assert (application.kind, application.state, application.ranks) == ("source", "ready", 4)
    assert application.summary["calls"] == {"barrier": 4}
    assert application.summary["repeats"]["captures"] == 2
    for job in (first, second):
        assert storage.jobs.get(job.id).application_id == application.id
        assert storage.jobs.get(job.id).space is not None
    assert log_of(storage, first.id) == "$ mpicc -o main main.c\n"
    assert storage.applications.log(application.id, "run").count("$ main") == 2


@pytest.mark.parametrize("builtin", [True, False])
def test_a_job_waits_for_a_worker_that_is_able(
    storage: Storage,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    builtin: bool,
) -> None:
    document = source_job(source)
    if builtin:
        document["application"] = {"builtin": "is", "class": "S", "ranks": 4}
    else:  # its source is there, and only its capture fails
        applications.stored_application(storage, load_job(document).application)
    job = create(storage, document)
    unable, able = Preparer(storage), Preparer(storage)
    with monkeypatch.context() as swept:
        swept.setattr(tempfile, "tempdir", str(tmp_path / "swept"))
        unable.prepare(job.id)
    assert storage.jobs.get(job.id).state == "preparing"

    able.prepare(job.id)
    assert storage.jobs.get(job.id).space is not None


def test_a_job_does_not_wait_for_ever_for_a_worker_that_is_able(
    storage: Storage, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = create(storage, source_job(source))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "swept"))
    preparer = Preparer(storage)
    for _ in range(6):
        assert storage.jobs.get(job.id).state == "preparing"
        preparer.prepare(job.id)
    failed = storage.jobs.get(job.id)
    assert failed.state == "failed"
    assert "No such file or directory" in (failed.error or "")


def test_a_job_waits_as_long_as_the_host_has_no_room_on_its_disk(
    storage: Storage, source: Path
) -> None:
    """Its build, which never ran, is not blamed, and its log says what it waits for."""
    job = create(storage, source_job(source))
    short = Preparer(storage, policy=CapturePolicy(limits=Limits(reserve_bytes=1 << 60)))
    for _ in range(8):
        short.prepare(job.id)
    assert storage.jobs.get(job.id).state == "preparing"
    log = log_of(storage, job.id)
    assert log.startswith("waiting: the disk of this host has less than 1 EiB free in ")

    Preparer(storage).prepare(job.id)
    assert storage.jobs.get(job.id).space is not None
    assert "waiting" not in log_of(storage, job.id)


def test_a_job_waits_where_its_source_tree_has_no_room(
    storage: Storage,
    source: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    job = create(storage, source_job(source))
    with monkeypatch.context() as patch:
        leave_free(patch, 64 << 20)
        short = Preparer(storage, policy=CapturePolicy(limits=Limits(reserve_bytes=0)))
        for _ in range(8):
            short.prepare(job.id)
    assert storage.jobs.get(job.id).state == "preparing"
    assert "the job waits: the packed source tree takes 1 MiB in " in caplog.text


def test_another_source_build_or_number_of_ranks_is_another_application(
    storage: Storage, source: Path
) -> None:
    def identity(**changes: Any) -> str:
        spec = load_job(source_job(source, **changes))
        return applications.stored_application(storage, spec.application).id

    same = identity()
    (source / "main.c").touch()
    assert identity() == same
    changed = {identity(build="make"), identity(ranks=8), identity(run="main 1")}
    (source / "main.c").write_text("int x;")
    assert len({same, *changed, identity()}) == 5


def test_a_build_that_fails_fails_the_job_with_its_log_and_may_be_tried_again(
    storage: Storage, source: Path
) -> None:
    document = source_job(source, build="echo too bad; false")
    first = create(storage, document)
    prepare_job(storage, first.id)

    failed = storage.jobs.get(first.id)
    assert failed.state == "failed"
    assert failed.error is not None
    assert failed.error.startswith("the build ended with status 1\n")
    assert "too bad" in log_of(storage, first.id)
    (application,) = storage.applications.page().items
    assert (application.state, application.error) == ("failed", failed.error)
    again = create(storage, document)
    prepare_job(storage, again.id)
    assert storage.jobs.get(again.id).error == failed.error


GOES_WRONG = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) printf("way: %s\\n", argv[1]);
  fflush(stdout);
  if (!strcmp(argv[1], "ranks") && ranks != 4) exit(7);
  while (!strcmp(argv[1], "hang")) continue;
  MPI_Finalize();
  return 0;
}
"""


def test_a_run_that_goes_wrong_fails_its_job_with_the_reason_and_the_log(
    storage: Storage, source: Path
) -> None:
    (source / "main.c").write_text(GOES_WRONG)
    compiler = WRAPPERS / "hamtune-mpicc"  # here, for the limit is not meant for the compiler
    subprocess.run([compiler, "main.c", "-o", "main"], cwd=source, check=True)
    built = {"build": "test -x main", "captures": 1, "ranks": 2}
    preparer = Preparer(storage, policy=CapturePolicy(Limits(cpu_seconds=3), sandbox=False))
    for way, reason in {
        "ranks": "ended with status|did not call MPI_Finalize",
        "hang": "used more than 3 seconds",
    }.items():
        document = source_job(source, run=f"main {way}", **built)
        job = create(storage, document)
        preparer.prepare(job.id)
        failed = storage.jobs.get(job.id)
        assert failed.state == "failed"
        assert failed.application_id is not None
        assert re.search(reason, failed.error or "")
        assert f"way: {way}" in storage.applications.log(failed.application_id, "run")

    well = create(storage, source_job(source, run="main well", **built))
    preparer.prepare(well.id)
    assert storage.jobs.get(well.id).space is not None


def test_programs_of_ones_own_and_patterns_are_parts_of_a_workload(
    storage: Storage, source: Path
) -> None:
    document = source_job(source, captures=1)
    pattern = {"pattern": "linear", "ranks": 3, "size": 1000, "count": 2, "rate": 10}
    parts = [
        {"name": "own", "application": document.pop("application")},
        {"name": "line", "application": pattern, "start": 0.5, "weight": 2},
    ]
    job = create(storage, document | {"applications": parts, "objective": "weighted"})

    prepare_job(storage, job.id)

    prepared = storage.jobs.get(job.id)
    assert prepared.error is None
    assert prepared.application_id is not None
    both = storage.applications.get(prepared.application_id)
    assert (both.kind, both.ranks) == ("workload", 7)
    listed = [
        (part["name"], part["start"], part["weight"]) for part in both.summary["applications"]
    ]
    assert listed == [("own", 0.0, 1.0), ("line", 0.5, 2.0)]
    assert both.summary["messages"] == 2 * 2


def test_limits_and_sandbox_are_the_administrators(storage: Storage, source: Path) -> None:
    job = create(storage, source_job(source, build="sleep 30"))
    Preparer(storage, policy=CapturePolicy(Limits(wall_seconds=0.5), sandbox=False)).prepare(job.id)

    error = storage.jobs.get(job.id).error
    assert error is not None
    assert "did not end within 0.5 seconds" in error


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300.0
    while not condition():
        assert time.monotonic() < deadline, "it did not happen within 300 seconds"
        time.sleep(0.05)


def wait_for_capture(storage: Storage) -> None:
    wait_for(lambda: [a.state for a in storage.applications.page().items] == ["capturing"])


def test_jobs_that_need_the_same_capture_are_all_prepared_by_one_worker(
    storage: Storage, source: Path, tmp_path: Path
) -> None:
    go_on = tmp_path / "go_on"
    wait = f"until test -e {go_on}; do sleep 0.05; done"
    document = source_job(source, build=f"{wait}; mpicc -o main main.c; echo built")
    first, second = create(storage, document), create(storage, document)
    seeing = CapturePolicy(sandbox=False)
    one, two = (Preparer(storage, name, seeing) for name in ("one", "two"))
    thread = threading.Thread(target=one.prepare, args=(first.id,))
    thread.start()
    wait_for_capture(storage)

    two.prepare(second.id)
    assert storage.jobs.get(second.id).space is None

    go_on.touch()
    thread.join()
    assert storage.jobs.get(first.id).space is not None
    assert storage.jobs.get(second.id).space is not None
    assert log_of(storage, second.id).count("built") == 2  # the command and what it printed


def test_a_stopping_worker_gives_its_capture_back(storage: Storage, source: Path) -> None:
    job = create(storage, source_job(source, build="sleep 900"))
    preparer = Preparer(storage, "one")
    with ThreadPoolExecutor(1) as pool:
        preparing = pool.submit(preparer.prepare, job.id)
        wait_for_capture(storage)
        preparer.stop.set()
        with pytest.raises(Interrupted):
            preparing.result()

    assert storage.jobs.get(job.id).state == "preparing"
    assert [a.state for a in storage.applications.page().items] == ["new"]


def test_the_capture_of_a_cancelled_job_ends(storage: Storage, source: Path) -> None:
    job = create(storage, source_job(source, build="sleep 900"))
    thread = threading.Thread(target=Preparer(storage, "one").prepare, args=(job.id,))
    thread.start()
    wait_for_capture(storage)
    storage.jobs.transition(job.id, "cancelling")
    thread.join(300)

    assert not thread.is_alive()
    assert [a.state for a in storage.applications.page().items] == ["new"]


def test_the_capture_of_a_dead_worker_is_taken_over(
    storage: Storage, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = create(storage, source_job(source))
    application = applications.stored_application(storage, load_job(source_job(source)).application)
    assert storage.applications.claim_capture(application.id, "dead", silence_seconds=30)
    monkeypatch.setattr(prepare, "_SILENCE_SECONDS", 0.5)
    prepare_job(storage, job.id)

    assert storage.jobs.get(job.id).space is not None
    assert not storage.applications.report_capture(application.id, "dead", state="failed")


def test_another_build_of_a_built_in_program_is_another_application(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = job_document(Path("unused"))
    document["application"] = {"builtin": "is", "class": "S", "ranks": 2}
    document["search"]["collectives"] = {"allreduce": "all"}
    spec = load_job(document)
    first = applications.stored_application(storage, spec.application)
    assert applications.stored_application(storage, spec.application) == first
    monkeypatch.setattr(applications, "builtin_sha256", lambda _: "another")
    assert applications.stored_application(storage, spec.application).id != first.id
