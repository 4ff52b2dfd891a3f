"""A copy of the sources in build/NAME whose C++ is built in another way, for tests to run against.

Programs and the Python module stand where the sources are, so only a copy leaves those of the work
tree as they are. What has not changed is not copied, and so not built, again.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_BESIDE = (".venv", ".simgrid", "service/page/dist")
"""What set-up makes and the sources do not hold."""


def copy_sources(name: str) -> Path:
    """The copy, with the sources as they are in the work tree."""
    copy = ROOT / "build" / name
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout.split("\0")
    sources = {source for source in listed if source and (ROOT / source).is_file()}
    known = copy / ".sources"
    before = set(known.read_text().splitlines()) if known.exists() else set()
    for gone in before - sources:
        (copy / gone).unlink(missing_ok=True)
    for source in sources:
        target = copy / source
        if target.exists() and filecmp.cmp(ROOT / source, target, shallow=False):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / source, target)
    for made in _BESIDE:
        if (ROOT / made).exists() and not (copy / made).exists():
            (copy / made).symlink_to((ROOT / made).resolve())
    known.write_text("".join(f"{source}\n" for source in sorted(sources)))
    return copy


def build(
    copy: Path, options: Sequence[str], environment: Mapping[str, str], targets: Sequence[str] = ()
) -> None:
    """Configure a copy with the tests in C++, and build the targets, or everything.

    Raises:
        subprocess.CalledProcessError: It does not build.
    """
    configure(copy, "build", ["-DHAMTUNE_TESTS=ON", *options], environment)
    command = ["cmake", "--build", "build", *(("--target", *targets) if targets else ())]
    subprocess.run(command, cwd=copy, check=True, env=environment)


def configure(
    sources: Path, folder: str, options: Sequence[str], environment: Mapping[str, str]
) -> None:
    """Configure sources in a folder of theirs, with the Python and the SimGrid that lie with them.

    Raises:
        subprocess.CalledProcessError: It cannot be configured.
    """
    python = f"-DPython_EXECUTABLE={sources / '.venv/bin/python'}"
    simgrid = (
        [f"-DCMAKE_PREFIX_PATH={sources / '.simgrid'}"] if (sources / ".simgrid").exists() else []
    )
    command = ["cmake", "-S", ".", "-B", folder, "-G", "Ninja", python, *simgrid, *options]
    subprocess.run(command, cwd=sources, check=True, env=environment)


def holds(copy: Path, command: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether tests pass that run in a copy; what they print is seen."""
    return (
        subprocess.run(list(command), cwd=copy, check=False, env=dict(environment)).returncode == 0
    )


def environment() -> dict[str, str]:
    """This process's environment, without the work tree in Python's path."""
    found = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**found, "PATH": f"{ROOT / '.simgrid/bin'}:{found['PATH']}"}


def need(packages: Mapping[str, str]) -> None:
    """Stop where a program is missing that no other command needs.

    Raises:
        SystemExit: Naming the packages.
    """
    missing = [package for program, package in packages.items() if shutil.which(program) is None]
    if missing:
        raise SystemExit(f"these packages are missing: apt-get install {' '.join(missing)}")
