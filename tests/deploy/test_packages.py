"""The packages: what they claim in an environment and need, and that a job runs from them."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from deploy.dist import make_client, make_man_page, make_service
from searchspace.kernels import trace_summary

ROOT = Path(__file__).resolve().parents[2]
BUILD_TOOLS = {"nanobind", "setuptools", "wheel"}
JOB = """
name: small
application: {pattern: linear, ranks: 4, size: 1kB, count: 2, rate: 1000.0}
machine: {nodes: 4, degree: 2, host_speed: 1Gf, link_bandwidth: 1Gbps}
search: {topology: [ring, torus-2d], ordering: [original]}
budget: {trials: 2}
seed: 1
"""


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Wheels of the service, with the programs of `build/`, and of the client."""
    target = tmp_path_factory.mktemp("dist")
    service = make_service(target, prebuilt=True)[-1]
    return {"hamtune": target / service, "hamtune-client": target / make_client(target)[-1]}


@pytest.fixture(scope="session")
def environment(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that holds both, and the libraries they need: those of this one."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place, with_pip=False, symlinks=True)
    python = str(place / "bin/python")
    install = [sys.executable, "-m", "pip", "--python", python, "install", "-q"]
    subprocess.run([*install, "--no-deps", "--no-index", *wheels.values()], check=True)
    (site,) = place.glob("lib/python*/site-packages")
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place


def top_levels(wheel: Path) -> set[str]:
    names = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    return {name for name in names if not name.endswith((".dist-info", ".data"))}


def test_one_name_is_claimed(wheels: dict[str, Path]) -> None:
    assert top_levels(wheels["hamtune"]) == {"hamtune"}
    assert top_levels(wheels["hamtune-client"]) == {"hamtune_client"}


def test_all_that_runs_is_inside(wheels: dict[str, Path]) -> None:
    names = set(zipfile.ZipFile(wheels["hamtune"]).namelist())
    for name in (
        "service/page/dist/index.html",
        "migrations/env.py",
        "applications/cg/cg.c",
        "workers/recorder/generate.py",
        "workers/recorder/calls.txt",
        "workers/recorder/wrappers/toolchain.cmake",
        "build/applications/cg",
        "build/workers/recorder/hamtune_recorder.o",
        "build/workers/recorder/libhamtune_random.a",
        "build/workers/simulator/hamtune-simulator-plain",
        "build/workers/simulator/simgrid-prefix",
        "build/workers/system_calls/hamtune-program-filter",
    ):
        assert f"hamtune/rooms/{name}" in names
    assert not [name for name in names if "node_modules" in name or "/tests/" in name]


def test_the_man_page_is_where_man_looks(wheels: dict[str, Path], environment: Path) -> None:
    names = zipfile.ZipFile(wheels["hamtune"]).namelist()
    beside = [one.partition(".data/")[2] for one in names if ".data/" in one]
    assert beside == ["data/share/man/man1/hamtune.1"]  # and nothing else of the environment
    page = (environment / "share/man/man1/hamtune.1").read_text().replace("\\-", "-")
    assert page.startswith(('.\\"', "'\\\"", ".TH"))
    assert "hamtune run [OPTIONS]" in page
    assert "hamtune completion [OPTIONS]" in page


def test_the_source_package_holds_the_man_page() -> None:
    from scikit_build_core import build

    page = make_man_page()
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.chdir(ROOT):
            name = build.build_sdist(folder)
        with tarfile.open(Path(folder) / name) as sources:
            names = sources.getnames()
    assert [one for one in names if one.endswith(f"/{page.relative_to(ROOT)}")]


def test_the_service_needs_what_the_lock_was_made_of() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        line
        for line in (ROOT / "requirements.in").read_text().splitlines()
        if line and line[0] != "#" and re.split(r"[=>\[]", line)[0] not in BUILD_TOOLS
    ]
    assert project["dependencies"] == wanted


def test_the_client_needs_three_packages_at_most() -> None:
    project = tomllib.loads((ROOT / "hamtune_client/pyproject.toml").read_text())["project"]
    assert len(project["dependencies"]) <= 3


def test_a_job_runs_from_the_installed_package(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB)
    command = [str(environment / "bin/hamtune"), "run", "job.yaml", "--json", "--data", "data"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["best"]["value"] > 0


def test_the_installed_package_captures_programs(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(
        "#include <mpi.h>\nint main(int count, char **words)\n{\n  MPI_Init(&count, &words);\n"
        "  MPI_Barrier(MPI_COMM_WORLD);\n  return MPI_Finalize();\n}\n"
    )
    hamtune = str(environment / "bin/hamtune")
    capture = [hamtune, "capture", "--ranks", "2", "-o", "t.ht", "--no-sandbox"]
    subprocess.run([*capture, "--", "program.c"], cwd=tmp_path, check=True)
    assert trace_summary(tmp_path / "t.ht")["calls"] == {"barrier": 2}


def test_the_installed_client_is_itself(environment: Path) -> None:
    program = "import hamtune_client; print(hamtune_client.__file__)"
    command = [str(environment / "bin/python"), "-I", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()).is_relative_to(environment)
