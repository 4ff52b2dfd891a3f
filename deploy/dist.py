"""Makes the packages of a release: sdist and wheel of `hamtune` and of `hamtune-client`.

`python -m deploy.dist DIRECTORY [--prebuilt]`; with `--prebuilt` the wheel of `hamtune` takes the
programs of `build/` as they are, and no sdist is made. Build tools are those of this environment.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def make_client(target: Path) -> list[str]:
    """Write sdist and wheel of the client; returns the files' names."""
    # In a process of its own, since setuptools changes the level of this one's log.
    program = "from setuptools import build_meta as b; import sys; target = sys.argv[1]; "
    program += "print(b.build_sdist(target), b.build_wheel(target))"
    with tempfile.TemporaryDirectory() as folder:  # it leaves its own build
        shutil.copytree(ROOT / "hamtune_client", folder, dirs_exist_ok=True)
        command = [sys.executable, "-c", program, str(target)]
        done = subprocess.run(command, check=True, cwd=folder, stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines()[-1].split()


def make_man_page() -> Path:
    """Write the man page where sdist and wheel take it from: users need no Sphinx."""
    page = ROOT / "deploy/man/hamtune.1"
    page.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "man"]
        # Of the documentation this one page alone, which takes seconds.
        command += ["-D", "root_doc=commands", "-D", "include_patterns=commands.md"]
        command += ["-d", f"{folder}/read", str(ROOT / "docs"), f"{folder}/man"]
        subprocess.run(command, check=True, cwd=ROOT)
        shutil.copyfile(Path(folder) / "man/hamtune.1", page)
    return page


def make_service(target: Path, *, prebuilt: bool) -> list[str]:
    """Write sdist and wheel of Hamtune itself; returns the files' names."""
    from scikit_build_core import build

    if not (ROOT / "service/page/dist/index.html").exists():
        raise SystemExit("the page is not built; run ./setup.sh")
    make_man_page()
    with contextlib.chdir(ROOT):
        if prebuilt:
            settings: dict[str, list[str] | str] = {
                "cmake.define.HAMTUNE_PREBUILT": str(ROOT / "build")
            }
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
