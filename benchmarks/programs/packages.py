"""Source packages of Debian, unpacked in a cache outside of the repository.

They are fetched by `apt-get source` with a list of its own, so nothing of the system changes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

__all__ = ["CACHE", "source_package"]

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hamtune-programs"
_TARGET = "deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)"


def source_package(name: str) -> Path:
    """The unpacked source of a Debian package, fetched the first time.

    Where a mirror lacks Debian's own changes, it is the source as its authors made it.

    Raises:
        subprocess.CalledProcessError: It cannot be fetched.
    """
    place = CACHE / name
    if not place.is_dir():
        place.mkdir(parents=True)
        try:
            _fetch(name, place)
        except BaseException:
            shutil.rmtree(place)
            raise
    return next(path for path in sorted(place.iterdir()) if path.is_dir())


def _fetch(name: str, place: Path) -> None:
    apt = CACHE / "apt"
    for folder in ("lists/partial", "cache/archives/partial", "state"):
        (apt / folder).mkdir(parents=True, exist_ok=True)
    (apt / "sources.list").write_text(_sources())
    settings = {
        "Dir::Etc::sourcelist": apt / "sources.list",
        "Dir::Etc::sourceparts": "-",
        "Dir::State": apt / "state",
        "Dir::State::lists": apt / "lists",
        "Dir::Cache": apt / "cache",
        "APT::Sandbox::User": "root",
    }
    command = ["apt-get", *(f"-o{key}={value}" for key, value in settings.items()), "-qq"]
    subprocess.run([*command, "update"], check=True)
    if subprocess.run([*command, "source", name], cwd=place).returncode:
        subprocess.run([*command, "source", "--tar-only", name], cwd=place, check=True)
        for archive in place.glob("*.orig.tar.*"):
            subprocess.run(["tar", "-xf", archive, "-C", place], check=True)


def _sources() -> str:
    """The sources of what this system has its packages from, as a list for apt."""
    told = subprocess.run(
        ["apt-get", "indextargets", "--format", _TARGET, "Created-By: Packages"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return "".join(f"{line}\n" for line in sorted(set(told.splitlines())))
