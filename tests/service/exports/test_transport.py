"""Settings of the transport in exports, confirmed by Debian's Open MPI and MPICH."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from searchspace.collectives.equivalents import TARGETS
from searchspace.protocol import PROTOCOLS
from storage.errors import Conflict
from tests.service.exports.conftest import Exported, Solve, run

KIB = 1024
OWN_LIMIT = 65_480
TCP_FLAGS = "send,put,inplace,need-ack,need-csum,hetero-rdma"
"""What Open MPI has where nobody says another."""

Export = Callable[..., Exported]


@pytest.fixture
def best(solve: Solve, exported: Export) -> Export:
    """Exports a configuration of two ranks on two hosts that has these settings."""

    def export(format_name: str, protocol: Mapping[str, Any], **options: Any) -> Exported:
        job_id = solve(
            {"topology": "given", "mpi": "ompi", "protocol": protocol},
            ranks=2,
            collectives=("allreduce",),
            machine={
                "nodes": 2,
                "host_speed": "100Gf",
                "link_bandwidth": "1Gbps",
                "network": "auto",
                "topology": {"edges": [[0, 1]], "host_names": ["n0", "n1"]},
            },
        )
        return exported(job_id, format_name, **options)

    return export


def install(export: Exported, home: Path) -> None:
    (home / ".openmpi").mkdir(parents=True)
    (home / ".openmpi/mca-params.conf").write_text(export.text("mca-params.conf"))


def shown(home: Path, **environment: str) -> dict[str, tuple[str, str]]:
    """Value and source of the parameters of TCP, as `ompi_info` tells."""
    command = ["ompi_info", "--param", "btl", "tcp", "--level", "9", "--parsable"]
    told = subprocess.run(
        command,
        env={**os.environ, "HOME": str(home), **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rows = [line.split(":", 6) for line in told.splitlines() if line.startswith("mca:btl:tcp:p")]
    values = {row[4]: row[6] for row in rows if row[5] == "value"}
    return {row[4]: (values[row[4]], row[6]) for row in rows if row[5] == "source"}


def leaving(command: list[str | Path], sizes: list[int], **environment: str) -> list[str]:
    """Whether messages of these sizes leave their sender before anybody wants them."""
    ran = run([*command, *map(str, sizes)], **environment)
    assert ran.status == 0, ran.errors
    return [line.split()[-1] for line in ran.output.splitlines() if line.startswith("message of")]


def test_open_mpi_reads_the_settings_and_sends_by_them(
    best: Export, compiled: Callable[..., Path], tmp_path: Path
) -> None:
    export = best("openmpi", {"exchange": "full", "eager_limit": 256 * KIB})
    install(export, tmp_path)

    told = shown(tmp_path)
    lines = dict(line.split(" = ") for line in export.settings("mca-params.conf"))
    assert lines == {
        "btl_tcp_flags": "send",
        "btl_tcp_eager_limit": str(256 * KIB + 56),
        "btl_tcp_rndv_eager_limit": str(64 * KIB),
    }
    for name, value in lines.items():
        assert told[name][0] == value
        assert told[name][1].startswith("file")
    assert "protocol.exchange = full: same btl_tcp_flags = send" in export.text("README.txt")

    program = compiled("mpicc.openmpi", "eager.c")
    sizes = [OWN_LIMIT, 256 * KIB, 256 * KIB + 1]
    tuned = leaving([export.folder / "mpirun.sh", program], sizes, HOME=str(tmp_path))
    assert tuned == ["leaves", "leaves", "waits"]


def test_the_default_run_of_verify_goes_by_the_machines_own_settings(
    best: Export, compiled: Callable[..., Path], tmp_path: Path
) -> None:
    export = best("openmpi", {"exchange": "full", "eager_limit": 256 * KIB})
    install(export, tmp_path)
    manifest = json.loads(export.text("export.json"))
    assert manifest["exported"]["environment"]["OMPI_MCA_btl_tcp_flags"] == "send"

    undone = manifest["default"]["environment"]
    told = shown(tmp_path, **undone)
    assert told["btl_tcp_flags"] == (TCP_FLAGS, "environment")
    assert told["btl_tcp_eager_limit"] == ("65536", "environment")

    command = [*manifest["default"]["command"][:-1], export.folder / "default-hostfile"]
    command[0] = "mpirun.openmpi"
    program = compiled("mpicc.openmpi", "eager.c")
    sizes = [OWN_LIMIT, OWN_LIMIT + 1]
    default = leaving([*command, program], sizes, HOME=str(tmp_path), **undone)
    assert default == ["leaves", "waits"]


@pytest.mark.parametrize("limit", [16 * KIB, 1024 * KIB])
def test_mpich_sends_by_the_eager_limit(
    best: Export, compiled: Callable[..., Path], limit: int
) -> None:
    export = best("mpich", {"eager_limit": limit})

    assert f"export UCX_RNDV_THRESH={limit + 1}" in export.settings("environment.sh")
    assert "UCX_RNDV_THRESH" in json.loads(export.text("export.json"))["default"]["unset"]
    program = compiled("mpicc.mpich", "eager.c")
    sizes = [limit, limit + 1]
    assert leaving([export.folder / "mpiexec.sh", program], sizes) == ["leaves", "waits"]


def test_a_setting_that_is_the_machines_own_is_not_exported(best: Export) -> None:
    export = best("openmpi", {"exchange": "half", "eager_limit": OWN_LIMIT})
    assert export.settings("mca-params.conf") == []


@pytest.mark.parametrize("format_name", ["mvapich2", "intelmpi"])
def test_libraries_without_a_known_setting_say_so(best: Export, format_name: str) -> None:
    export = best(format_name, {"exchange": "full"})
    assert "protocol.exchange = full: none (no such setting of " in export.text("environment.sh")


@pytest.mark.parametrize(
    ("format_name", "why"),
    [
        ("slurm", "see the export of the library"),
        ("cray", "was not looked at"),
        ("simgrid", "mean nothing to the fluid model"),
    ],
)
def test_formats_that_cannot_say_a_setting_say_that(
    best: Export, format_name: str, why: str
) -> None:
    text = best(format_name, {"exchange": "full"}).text("README.txt")
    assert "Not in these files: protocol.exchange = full." in text
    assert why in text


def test_for_a_library_that_has_not_a_setting_the_nearest_does_without(best: Export) -> None:
    protocol = {"exchange": "full", "eager_limit": 256 * KIB}
    target = TARGETS["mpich-4.0"]
    with pytest.raises(Conflict, match=r"cannot express .*protocol\.exchange = full: none"):
        best("mpich", protocol, target=target)

    nearest = best("mpich", protocol, target=target, nearest=True)
    assert "protocol.exchange" not in nearest.text("environment.sh")
    assert f"export UCX_RNDV_THRESH={256 * KIB + 1}" in nearest.settings("environment.sh")


def test_the_limit_of_open_mpi_is_that_of_its_protocol_here() -> None:
    own = TARGETS["openmpi-4.1"].setting("eager_limit", PROTOCOLS["tcp-openmpi"].eager_limit or 0)
    assert own.settings is not None
    assert own.settings["btl_tcp_eager_limit"] == "65536"
