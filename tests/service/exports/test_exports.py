"""Exports of a job whose trials are known; that reruns give its value is tested in tests/cli."""

from __future__ import annotations

import io
import json
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput
from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, read_operations, write_trace
from searchspace.kernels import trace_summary
from searchspace.machine import parse_machine
from searchspace.platform import resolve
from service.exports.registry import EXPORTERS, ExportFile, archive, export_job
from service.exports.simgrid_export import smpi_options
from storage.errors import Conflict, NotFound
from storage.records import ApplicationKind, Outcome
from storage.storage import Storage
from tests.service.conftest import SPEC
from workers.capture import capture_builtin

SPLIT = encode("comm_split", color=1) + encode("barrier", comm=2)


@pytest.fixture
def finished(
    storage: Storage, create_job: Callable[..., str], add_trials: Callable[..., None]
) -> Callable[..., str]:
    """Makes a job that replayed a trace in three trials, the second one best; returns its id."""

    def finish(trace: Path, kind: ApplicationKind = "trace") -> str:
        summary = trace_summary(trace)
        application = storage.applications.add(
            name="pair",
            kind=kind,
            key=str(trace),
            trace_sha256=storage.artifacts.put(trace),
            ranks=summary["ranks"],
            summary=dict(summary),
        )
        machine = {**SPEC["machine"], "network": "fluid"}
        job_id = create_job(application={"id": application.id}, machine=machine)
        add_trials(
            job_id,
            *(Outcome(status="completed", value=value) for value in (3.0, 1.5, 2.0)),
            baselines=("mesh-2d",),
        )
        storage.jobs.set_prepared(job_id, application_id=application.id, space={"size": 3})
        return job_id

    return finish


def files_of(storage: Storage, job_id: str, format_name: str) -> dict[str, ExportFile]:
    return {file.name: file for file in export_job(storage, job_id, format_name)}


def unpack(files: dict[str, ExportFile], folder: Path) -> None:
    for file in files.values():
        path = folder / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
        path.chmod(0o755 if file.executable else 0o644)


def test_the_json_document_tells_all_of_the_best_trial(
    storage: Storage, finished: Callable[[Path], str], trace: Path
) -> None:
    (file,) = export_job(storage, finished(trace), "json")

    document: dict[str, Any] = json.loads(file.content)
    assert (document["trial"], document["value"]) == (2, 1.5)
    assert document["baselines"] == {"mesh-2d": 3.0}
    assert (document["baseline"], document["speedup"]) == (3.0, 2.0)
    assert document["configuration"] == {"topology": "random", "topology_seed": 2}
    assert document["rank_hosts"] == [0, 1]
    assert len(document["network"]["edges"]) == 16 * 4 // 2
    assert document["options"]["network/model"] == "SMPI"
    assert set(document["versions"]) == {"hamtune", "simulator"}


def test_a_trace_is_exported_as_stock_trace_and_reruns(
    storage: Storage, finished: Callable[[Path], str], trace: Path, tmp_path: Path
) -> None:
    files = files_of(storage, finished(trace), "simgrid")
    unpack(files, tmp_path / "export")

    assert files["hostfile"].content == b"node-0\nnode-1\n"
    assert files["trace/rank-1.txt"].content.decode().splitlines() == [
        "1 init",
        "1 compute 1000000.0",
        "1 allreduce 8 0 0",
        "1 finalize",
    ]
    done = subprocess.run([tmp_path / "export/run.sh"], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    # A million flops at 100 Gf, and a message there and back.
    assert 1e-5 < float(first.removeprefix("simulated time: ").removesuffix(" s")) < 2e-5
    assert second == "found by Hamtune: 1.5 s"


@pytest.mark.parametrize("named", ["graph500", "exchange"], ids=["now", "before"])
def test_a_program_of_several_files_is_exported_with_its_sources(
    storage: Storage, finished: Callable[..., str], tmp_path: Path, named: str
) -> None:
    """Traces captured before bore the name of its first file."""
    captured, trace = tmp_path / "captured.ht", tmp_path / "trace.ht"
    header = capture_builtin("graph500", None, 2, {"scale": 6, "searches": 1}, captured)
    blocks = [read_operations(captured, rank) for rank in range(2)]
    write_trace(trace, header.model_copy(update={"program": named}), blocks)
    unpack(files_of(storage, finished(trace, "builtin"), "simgrid"), tmp_path / "export")
    done = subprocess.run([tmp_path / "export/run.sh"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("simulated time: ")


def test_an_algorithm_by_another_name_is_exported_by_that_of_smpi() -> None:
    machine = parse_machine({**SPEC["machine"], "network": "fluid"})
    chosen = Configuration({"collectives.alltoall": "ompi_linear_sync", "topology_seed": 1})
    resolved = resolve(Configuration({"topology": "random", **chosen}), machine, 4)
    assert resolved.options["smpi/alltoall"] == "ompi_linear_sync"
    assert smpi_options(resolved)["smpi/alltoall"] == "basic_linear"


def test_a_trace_with_communicators_says_that_the_program_is_needed(
    storage: Storage, finished: Callable[[Path], str], tmp_path: Path
) -> None:
    trace = tmp_path / "split.ht"
    operations = SPLIT + encode("pcontrol", level=1) + encode("finalize")
    write_trace(trace, TraceHeader(ranks=2, program="split"), [operations, operations])
    files = files_of(storage, finished(trace), "simgrid")
    unpack(files, tmp_path / "export")
    (tmp_path / "program.c").write_text(
        "#include <mpi.h>\nint main(int c, char **v)"
        " { MPI_Init(&c, &v); MPI_Pcontrol(1); MPI_Finalize(); }\n"
    )
    command = ["smpicc", "program.c", "export/marks.c", "-o", "program"]
    subprocess.run(command, cwd=tmp_path, check=True)

    run = [tmp_path / "export/run.sh"]
    without = subprocess.run(run, capture_output=True, text=True, check=False)
    rerun = subprocess.run(
        [*run, "./program"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert b"it uses other communicators" in files["README.txt"].content
    assert "replay.c" not in files
    assert (without.returncode, without.stderr) == (2, "usage: run.sh PROGRAM [ARGUMENT]...\n")
    assert rerun.returncode == 0, rerun.stderr
    assert rerun.stdout.startswith("simulated time: ")


@pytest.mark.parametrize(
    ("host_speed", "told", "option"),
    [
        (None, "computation that the program declares", "smpi/simulate-computation = no"),
        (2e9, "measures anew what it computes", "smpi/host-speed = 2000000000.0f"),
    ],
)
def test_whether_computation_is_measured_anew_is_told(
    storage: Storage,
    finished: Callable[[Path], str],
    tmp_path: Path,
    host_speed: float | None,
    told: str,
    option: str,
) -> None:
    trace = tmp_path / "split.ht"
    header = TraceHeader(ranks=2, program="split", host_speed=host_speed)
    write_trace(trace, header, [SPLIT + encode("finalize")] * 2)

    readme = files_of(storage, finished(trace), "simgrid")["README.txt"].content.decode()

    assert told in readme
    assert option in readme


def test_an_export_is_the_same_bytes_every_time(
    storage: Storage, finished: Callable[[Path], str], trace: Path
) -> None:
    job_id = finished(trace)

    first, second = (archive(export_job(storage, job_id, "simgrid")) for _ in range(2))

    assert first == second
    with zipfile.ZipFile(io.BytesIO(first)) as packed:
        modes = {entry.filename: entry.external_attr >> 16 for entry in packed.infolist()}
    assert modes["run.sh"] == 0o755
    assert modes["hostfile"] == 0o644


def test_the_player_and_the_marks_compile_without_a_warning(tmp_path: Path) -> None:
    folder = Path(__file__).parents[3] / "service/exports"
    sources = [folder / "replay.c", folder / "marks.c"]
    command = ["smpicc", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]

    subprocess.run([*command, *sources, "-o", tmp_path / "replay"], check=True)


@pytest.mark.parametrize("format_name", EXPORTERS)
def test_a_job_without_a_completed_trial_has_nothing_to_export(
    storage: Storage, create_job: Callable[..., str], format_name: str
) -> None:
    with pytest.raises(Conflict, match="no completed trial"):
        export_job(storage, create_job(), format_name)


def test_an_unknown_format_or_job_is_refused(
    storage: Storage, create_job: Callable[..., str]
) -> None:
    with pytest.raises(InvalidInput, match="allowed: json, simgrid"):
        export_job(storage, create_job(), "pdf")
    with pytest.raises(NotFound):
        export_job(storage, "nobody", "json")
