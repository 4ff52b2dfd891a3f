"""Jobs that ended so and so, and real MPI libraries on hosts that this machine plays."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from searchspace.configuration import Configuration
from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.kernels import trace_summary
from service.exports.registry import ExportFile, ExportOptions, export_job
from storage.proposal import Proposal
from storage.records import Outcome
from storage.storage import Storage

PROGRAMS = Path(__file__).parent / "programs"
ON_HOST = PROGRAMS / "on_host"
SECONDS = 300.0
"""How long a run may take before its test fails."""

Solve = Callable[..., str]


def operations(collective: str, count: int, ranks: int) -> bytes:
    """One call of a collective on `count` integers for each rank, as `collectives.c` makes it."""
    blocks = {"send_count": count, "send_size": 4, "recv_count": count, "recv_size": 4}
    fields: dict[str, dict[str, Any]] = {
        "barrier": {},
        "bcast": {"count": count, "size": 4},
        "reduce": {"count": count, "size": 4},
        "allreduce": {"count": count, "size": 4},
        "gather": blocks,
        "scatter": blocks,
        "allgather": blocks,
        "alltoall": blocks,
        "allgatherv": {
            "send_count": count,
            "send_size": 4,
            "recv_size": 4,
            "recv_counts": [count] * ranks,
        },
        "alltoallv": {
            "send_size": 4,
            "recv_size": 4,
            "send_counts": [count] * ranks,
            "recv_counts": [count] * ranks,
        },
        "reduce_scatter": {"size": 4, "counts": [count] * ranks},
        "reduce_scatter_block": {"count": count, "size": 4},
    }
    return encode(collective, **fields[collective])


def write_calls(path: Path, collectives: Sequence[str], ranks: int) -> Path:
    """Write a trace in which all ranks call these collectives at the sizes of `collectives.c`."""
    calls = b"".join(operations(name, n, ranks) for name in collectives for n in (96, 19200))
    header = TraceHeader(ranks=ranks, program="collectives")
    write_trace(path, header, [calls + encode("finalize")] * ranks)
    return path


@pytest.fixture
def solve(storage: Storage, create_job: Callable[..., str], tmp_path: Path) -> Solve:
    """Makes a job whose best trial has a configuration that the test gives; answers its id."""

    def make(
        configuration: Mapping[str, Any],
        *,
        ranks: int = 4,
        collectives: Sequence[str] = ("alltoall", "allreduce"),
        machine: Mapping[str, Any] | None = None,
        value: float = 0.001,
    ) -> str:
        trace = write_calls(tmp_path / "calls.ht", collectives, ranks)
        summary = trace_summary(trace)
        application = storage.applications.add(
            name="collectives",
            kind="trace",
            key=f"{trace}{collectives}{ranks}",
            trace_sha256=storage.artifacts.put(trace),
            ranks=ranks,
            summary=dict(summary),
        )
        changes: dict[str, Any] = {"application": {"id": application.id}, "name": "solved"}
        if machine is not None:
            families = ["given"] if "topology" in machine else ["random"]
            if "topology" in machine and "degree" in machine:
                families.append("random")
            changes |= {
                "machine": dict(machine),
                "search": {
                    "topology": families,
                    "ordering": ["original", "hamorder"],
                },
            }
        job_id = create_job(**changes)
        job = storage.leases.acquire("test", 600.0, job_id)
        assert job is not None
        storage.jobs.set_prepared(job_id, application_id=application.id, space={"size": 3})
        storage.jobs.transition(job_id, "running", token=job.lease_token)
        chosen = Configuration.from_json(configuration)
        trial = storage.trials.propose(
            job_id,
            job.lease_token,
            Proposal.of(
                chosen,
                number=1,
                kind="search",
                technique="PureRandom",
            ),
        )
        storage.trials.settle(trial.id, job.lease_token, Outcome(status="completed", value=value))
        storage.leases.release(job_id, job.lease_token)
        return job_id

    return make


@dataclass(frozen=True)
class Exported:
    """An export in a directory."""

    folder: Path
    files: dict[str, ExportFile]

    def text(self, name: str) -> str:
        return self.files[name].content.decode()

    def settings(self, name: str) -> list[str]:
        """The lines of a file that are no comments."""
        return [line for line in self.text(name).splitlines() if line and line[0] != "#"]


@pytest.fixture
def exported(storage: Storage, tmp_path: Path) -> Callable[..., Exported]:
    """Exports a job into a directory."""

    def export(job_id: str, format_name: str, **options: Any) -> Exported:
        made = export_job(storage, job_id, format_name, ExportOptions(**options))
        folder = tmp_path / "exported" / format_name
        for file in made:
            path = folder / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content)
            path.chmod(0o755 if file.executable else 0o644)
        return Exported(folder, {file.name: file for file in made})

    return export


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compiles `collectives.c`, or another, with the compiler of an MPI library, once."""
    folder = tmp_path_factory.mktemp("programs")

    def compile_with(compiler: str, source: str = "collectives.c") -> Path:
        program = folder / f"{source}-{compiler}"
        if not program.exists():
            subprocess.run([compiler, PROGRAMS / source, "-o", program], check=True)
        return program

    return compile_with


@dataclass(frozen=True)
class Ran:
    """What a run of `collectives.c` showed."""

    hosts: list[str]
    right: bool
    status: int
    output: str
    errors: str


def run(command: Sequence[str | Path], **environment: str) -> Ran:
    """Run an MPI program that was exported for hosts which this machine plays."""
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("OMPI_", "MPIR_", "SLURM_"))}
    done = subprocess.run(
        command,
        env={
            **kept,
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_plm_rsh_agent": str(ON_HOST),
            "OMPI_MCA_oob_tcp_if_include": "lo",
            "OMPI_MCA_btl": "self,tcp",
            "OMPI_MCA_btl_tcp_if_include": "lo",
            "MPIRUN": "mpirun.openmpi",
            "MPIEXEC": "mpiexec.mpich",
            "HYDRA_LAUNCHER": "ssh",
            "HYDRA_LAUNCHER_EXEC": str(ON_HOST),
            "HYDRA_IFACE": "lo",
            # The only transport that works between users' namespaces and ends reliably.
            "UCX_TLS": "sysv,self",
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    told = sorted(
        (line.split() for line in done.stdout.splitlines() if line[:1].isdigit()),
        key=lambda words: int(words[0]),
    )
    return Ran(
        hosts=[words[1] for words in told],
        right=bool(told) and all(words[2] == "right" for words in told),
        status=done.returncode,
        output=done.stdout,
        errors=done.stderr,
    )
