"""setup.sh and the launcher: what they take for done, whom they wait for, what they refuse."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
COPIED = ("setup.sh", "hamtune", "packages.debian", "requirements.lock", "requirements-dev.lock")
SIMGRID = "describe_simgrid() { echo 3.32; }; "


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the two scripts, and what they read."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    for name in COPIED:
        shutil.copy2(ROOT / name, folder / name)
    (folder / "searchspace/kernels").mkdir(parents=True)
    return folder


def call(checkout: Path, lines: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Lines of the shell that know the functions of setup.sh."""
    known = {name: value for name, value in os.environ.items() if name != "HAMTUNE_PYTHON"}
    return subprocess.run(
        ["bash", "-c", f"source ./setup.sh; {lines}"],
        cwd=checkout,
        env={**known, **variables},
        capture_output=True,
        text=True,
        timeout=60,
    )


def holds(checkout: Path, function: str, **variables: str) -> bool:
    return call(checkout, f"{function} && echo yes || echo no", **variables).stdout == "yes\n"


def make_environment(checkout: Path) -> Path:
    """An environment as setup.sh leaves it, but empty."""
    made = [sys.executable, "-m", "venv", "--without-pip", ".venv"]
    subprocess.run(made, cwd=checkout, check=True)
    call(checkout, "digest_of requirements.lock > .venv/.lock-digest")
    return checkout / ".venv"


def script(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(("#!/bin/sh", *lines, "")))
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("system", "refused"),
    [
        ('ID=ubuntu\nVERSION_ID="22.04"\n', True),
        ('ID=ubuntu\nVERSION_ID="24.04"\n', False),
        ('ID=debian\nVERSION_ID="11"\n', True),
        ('ID=debian\nVERSION_ID="12"\n', False),
        ("ID=debian\n", False),
        ('ID="rhel"\nVERSION_ID="9.4"\n', False),
    ],
)
def test_systems_that_are_too_old_are_refused_by_name(
    checkout: Path, system: str, refused: bool
) -> None:
    (checkout / "os-release").write_text(system)
    done = call(checkout, "refuse_system os-release; refuse_system missing")
    assert done.returncode == int(refused)
    assert ("is not supported: its CMake" in done.stderr) == refused


@pytest.mark.parametrize(("version", "refused"), [("3.22.1", True), ("3.25.1", False)])
def test_an_old_cmake_on_the_path_is_refused(checkout: Path, version: str, refused: bool) -> None:
    found = script(checkout / "bin/cmake", f"echo cmake version {version}")
    done = call(checkout, "check_cmake", PATH=f"{found.parent}:{os.environ['PATH']}")
    assert done.returncode == int(refused)
    assert (f"{found} is {version}" in done.stderr) == refused


def test_the_python_that_is_named_is_taken_or_refused(checkout: Path) -> None:
    assert call(checkout, "pick_python", HAMTUNE_PYTHON=sys.executable).stdout == sys.executable
    newer = script(checkout / "bin/python3", "exit 1")
    done = call(checkout, "pick_python", HAMTUNE_PYTHON=str(newer))
    assert done.returncode == 1
    assert f"HAMTUNE_PYTHON={newer} is not Python 3.11, 3.12 or 3.13" in done.stderr
    path = f"{newer.parent}:{Path(sys.executable).resolve().parent}:{os.environ['PATH']}"
    assert call(checkout, "pick_python", PATH=path).stdout == f"python{VERSION}"


def test_an_environment_fits_where_it_was_made(checkout: Path, tmp_path: Path) -> None:
    assert not holds(checkout, "environment_fits")
    make_environment(checkout)
    assert holds(checkout, "environment_fits")
    other = tmp_path / "other"
    shutil.copytree(checkout, other, symlinks=True)
    assert not holds(other, "environment_fits")
    (checkout / "requirements.lock").write_text("changed")
    assert not holds(checkout, "environment_fits")


def test_an_environment_fits_its_python_alone(checkout: Path) -> None:
    environment = make_environment(checkout)
    assert holds(checkout, "environment_fits", HAMTUNE_PYTHON=sys.executable)
    other = script(checkout / "python", "echo cpython-399 /opt/python")
    assert not holds(checkout, "environment_fits", HAMTUNE_PYTHON=str(other))
    (environment / f"lib/python{VERSION}").rename(environment / "lib/python3.10")
    assert not holds(checkout, "environment_fits")  # as after an upgrade of the system


def test_an_environment_stays_where_no_other_can_be_made(checkout: Path) -> None:
    environment = make_environment(checkout)
    (environment / "mark").touch()
    (checkout / "requirements.lock").write_text("changed")
    assert call(checkout, "make_environment", HAMTUNE_PYTHON="no-python").returncode == 1
    assert (environment / "mark").exists()
    broken = script(checkout / "python", '[ "$1" = -c ] || exit 7')
    assert call(checkout, "make_environment", HAMTUNE_PYTHON=str(broken)).returncode == 7
    assert (environment / "mark").exists()
    assert not (checkout / "build/environment-before").exists()


def test_a_build_for_something_else_is_dropped(checkout: Path, tmp_path: Path) -> None:
    make_environment(checkout)
    built = checkout / "build/build.ninja"
    module = checkout / "searchspace/kernels/_native.cpython-399.so"
    module.touch()
    call(checkout, SIMGRID + "drop_other_builds")
    assert not module.exists()
    built.touch()
    call(checkout, SIMGRID + "drop_other_builds")
    assert built.exists()
    moved = checkout.rename(tmp_path / "moved")
    done = call(moved, SIMGRID + "drop_other_builds")
    assert "building the C++ parts anew" in done.stderr
    assert not (moved / "build/build.ninja").exists()
    (moved / "build/build.ninja").touch()
    call(moved, SIMGRID.replace("3.32", "4.0") + "drop_other_builds")
    assert not (moved / "build/build.ninja").exists()


def test_our_simgrid_is_of_the_folder_that_it_was_built_for(checkout: Path) -> None:
    build = "builds_simgrid=yes; sha256sum() { cat >&2; echo digest; }; build_simgrid"
    for name in ("requirements-simgrid.lock", "workers/simulator/simgrid/quick_build.cmake"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).touch()
    described = checkout / ".simgrid/lib/pkgconfig/simgrid.pc"
    described.parent.mkdir(parents=True)
    described.write_text(f"prefix={checkout}/.simgrid\nlibdir=lib\n")
    (checkout / ".simgrid/.source-digest").write_text("digest")
    assert call(checkout, build).returncode == 0
    described.write_text("prefix=/elsewhere/.simgrid\nlibdir=lib\n")
    done = call(checkout, build)  # where no environment could fetch it
    assert done.returncode == 1
    assert "setup: building SimGrid 3.32" in done.stderr


def test_the_systems_simgrid_takes_the_place_of_ours(checkout: Path) -> None:
    (checkout / ".simgrid").mkdir()
    assert call(checkout, "build_simgrid").returncode == 0
    assert not (checkout / ".simgrid").exists()


def test_a_path_with_blanks_is_refused_where_simgrid_has_to_be_built(checkout: Path) -> None:
    spaced = checkout.rename(checkout.parent / "check out")
    done = call(spaced, "choose_simgrid() { echo libboost-dev; }; install_packages")
    assert done.returncode == 1
    assert "a path with blanks does not allow" in done.stderr


def is_free(lock: Path) -> bool:
    with lock.open("r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def test_set_ups_take_turns_and_leave_no_lock_behind(checkout: Path) -> None:
    with (checkout / "packages.debian").open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        waiting = subprocess.Popen(
            ["bash", "-c", "source ./setup.sh; take_turns; { sleep 600 & } 9>&-; echo $!"],
            cwd=checkout,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert waiting.stderr
        assert waiting.stderr.readline() == "setup: waiting for another set-up\n"
        assert waiting.poll() is None
    assert waiting.stdout
    service = int(waiting.stdout.readline())
    try:
        assert waiting.wait(60) == 0
        deadline = time.monotonic() + 60
        while not is_free(checkout / "packages.debian"):  # until the service has begun
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        os.kill(service, 15)
        waiting.stdout.close()
        waiting.stderr.close()


def launch(checkout: Path) -> str:
    done = subprocess.run([checkout / "hamtune", "doctor"], capture_output=True, text=True)
    return done.stdout + done.stderr


def test_the_launcher_says_where_set_up_is_not_finished(checkout: Path) -> None:
    assert "not set up yet" in launch(checkout)
    python = script(checkout / ".venv/bin/python", 'echo started: "$@"')
    (checkout / ".venv/lib/python3.11").mkdir(parents=True)
    assert "has not come to its end" in launch(checkout)
    (checkout / ".venv/.lock-digest").touch()
    assert "has not come to its end" in launch(checkout)
    module = checkout / "searchspace/kernels/_native.cpython-311-x86_64-linux-gnu.so"
    module.touch()
    assert launch(checkout) == "started: -P -m cli doctor\n"
    module.rename(module.with_name("_native.cpython-313-x86_64-linux-gnu.so"))
    assert "does not fit this system any more" in launch(checkout)
    module.touch()
    python.rename(checkout / "python3.13")
    python.symlink_to(checkout / "python3.13")
    assert "does not fit this system any more" in launch(checkout)
