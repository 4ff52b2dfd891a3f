"""Makes the packages of a release: sdist and wheel of `hamtune` and of `hamtune-client`.

`python -m deploy.dist DIRECTORY [--prebuilt]`; with `--prebuilt` the wheel of `hamtune` takes the
programs of `build/` as they are, and no sdist is made. Build tools are those of this environment.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def make_client(target: Path) -> list[str]:
    """Write sdist and wheel of the client; returns the files' names."""
    from setuptools import build_meta

    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
    ):  # it leaves its own build
        shutil.copytree(ROOT / "hamtune_client", ".", dirs_exist_ok=True)
        return [build_meta.build_sdist(str(target)), build_meta.build_wheel(str(target))]


def make_service(target: Path, *, prebuilt: bool) -> list[str]:
    """Write sdist and wheel of Hamtune itself; returns the files' names."""
    from scikit_build_core import build

    if not (ROOT / "service/page/dist/index.html").exists():
        raise SystemExit("the page is not built; run ./setup.sh")
    with contextlib.chdir(ROOT):
        if prebuilt:
            settings = {"cmake.define.HAMTUNE_PREBUILT": str(ROOT / "build")}
            return [build.build_wheel(str(target), settings)]
        return [build.build_sdist(str(target)), build.build_wheel(str(target))]


def main(arguments: list[str]) -> None:
    """Make all packages in a directory."""
    target = Path(arguments[0]).resolve()
    target.mkdir(parents=True, exist_ok=True)
    for name in [
        *make_client(target),
        *make_service(target, prebuilt="--prebuilt" in arguments),
    ]:
        sys.stdout.write(f"{target / name}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
