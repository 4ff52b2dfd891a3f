"""Builds the image of the Dockerfile, tells its size, and tries in it what users do.

    .venv/bin/python -m deploy.image [--base DIRECTORY] [--output FILE.json]

By Docker where its daemon runs, or else by buildah, which needs none, as root. `--base`, for
buildah, makes Debian's image here, by debootstrap in that directory, in the place of pulling it.

In the image the demo's job is run, whose trials must have the digits of those of `make demo` here,
drawn and exported; programs in C, C++ and Fortran are captured, without a sandbox; and our engine
must be the one that evaluates. The image may have 900 MB.
"""

from __future__ import annotations

import argparse
import datetime
import json
import shutil
import subprocess
import sys
from pathlib import Path

from deploy.portable import CONFIGURATION, debootstrap, digits, here, run, said, trials

ROOT = Path(__file__).resolve().parent.parent
MOST_MEGABYTES = 900.0
_BASE = "debian:13-slim"
_NAME = "hamtune"
_UNREAD = ("usr/share/man", "usr/share/info", "usr/share/locale")
_FETCHED = ("var/cache/apt", "var/lib/apt/lists", "var/log")
_DATA = "/var/lib/hamtune/tried"
_JOB = f"""
./hamtune run examples/demo.yaml --data {_DATA} >&2
./hamtune plot demo --output {_DATA}/plots --data {_DATA} >&2
./hamtune export demo --format all -o {_DATA}/best --data {_DATA} >&2
"""
_PROGRAMS = {
    "one.c": "#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v);"
    " MPI_Barrier(MPI_COMM_WORLD); return MPI_Finalize(); }\n",
    "two.cpp": "#include <mpi.h>\n#include <vector>\nint main(int c, char **v) {"
    " MPI_Init(&c, &v); std::vector<int> own(2), all(4); MPI_Allgather(own.data(), 1, MPI_INT,"
    " all.data(), 1, MPI_INT, MPI_COMM_WORLD); return MPI_Finalize(); }\n",
    "three.f90": "program three\n  use mpi\n  integer :: error\n  call MPI_Init(error)\n"
    "  call MPI_Barrier(MPI_COMM_WORLD, error)\n  call MPI_Finalize(error)\nend program three\n",
}


def main() -> int:
    """Build, measure, try."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base", type=Path, metavar="DIRECTORY")
    parser.add_argument("--output", type=Path, help="where what was found goes")
    arguments = parser.parse_args()
    builder = Docker() if has_docker() and not arguments.base else Buildah(arguments.base)
    builder.build(_NAME)
    megabytes = builder.size(_NAME) / 1e6
    found_there = digits(builder.inside(_NAME, _JOB + trials("./hamtune", _DATA)))
    captures = "\n".join(_capture(name, text) for name, text in _PROGRAMS.items())
    captured = builder.inside(_NAME, captures).split()
    engine = builder.inside(_NAME, "./hamtune doctor | grep '^ok *engine'")
    run(here("make demo"))
    same = found_there == digits(said(here(trials("./hamtune", "demo/data"))))
    holds = {
        f"{megabytes:.1f} MB, at most {MOST_MEGABYTES:.0f}": megabytes <= MOST_MEGABYTES,
        f"{len(found_there)} trials with the digits of those here": same,
        f"captured: {', '.join(captured)}": captured == list(_PROGRAMS),
        engine: " express " in engine,
    }
    for what, held in holds.items():
        print(f"{'MET' if held else 'MISSED'}  {what}")
    if arguments.output:
        found = {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "builder": builder.name,
            "megabytes": megabytes,
            "trials": len(found_there),
            "same_digits": same,
            "captured": captured,
            "engine": engine,
        }
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(json.dumps(found, indent=1) + "\n")
    return 0 if all(holds.values()) else 1


def _capture(name: str, text: str) -> str:
    capture = f"/opt/hamtune/hamtune capture --ranks 2 -o {name}.ht --no-sandbox -- {name}"
    return f"cd /tmp; cat > {name} <<'EOF'\n{text}EOF\n{capture} >&2 && echo {name}"


def has_docker() -> bool:
    """Whether a daemon of Docker answers."""
    if shutil.which("docker") is None:
        return False
    return subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0


class Docker:
    """By a daemon."""

    name = "docker"

    def build(self, name: str) -> None:
        """Make the image of the Dockerfile."""
        run(["docker", "build", "-t", name, "."])

    def size(self, name: str) -> int:
        """Bytes of all its layers."""
        return int(said(["docker", "image", "inspect", "--format", "{{.Size}}", name]))

    def inside(self, name: str, command: str) -> str:
        """What lines of the shell print in a container, as the image's user."""
        return said(["docker", "run", "--rm", "--entrypoint", "bash", name, "-euc", command])


class Buildah:
    """Without one.

    Args:
        base: Where Debian's image is made, or was; None to pull it.
    """

    name = "buildah"

    def __init__(self, base: Path | None) -> None:
        self._base = base

    def build(self, name: str) -> None:
        """Make the image of the Dockerfile."""
        options = ["--isolation", "chroot", "--pull=missing"]
        if self._base:
            self._take(self._base)
            options[-1] = "--pull=never"
            # How this machine reaches its registries is seen by the build, and is not in the image.
            for one in CONFIGURATION:
                if (Path("/etc") / one).exists() and one != "resolv.conf":
                    options += ["--volume", f"/etc/{one}:/etc/{one}:ro"]
        run(["buildah", "build", *options, "-t", name, "."])

    def _take(self, tree: Path) -> None:
        if not (tree / "etc/debian_version").exists():
            debootstrap(tree, include="ca-certificates")
        for unread in (*_UNREAD, *_FETCHED):
            run(["find", str(tree / unread), "-type", "f", "-delete"])
        container = said(["buildah", "from", "scratch"])
        run(["buildah", "add", "--quiet", container, str(tree), "/"])
        run(["buildah", "commit", "--quiet", "--rm", container, f"localhost/{_BASE}"])

    def size(self, name: str) -> int:
        """Bytes of all its layers."""
        command = ["buildah", "images", "--format", "{{.Size}}", f"localhost/{name}"]
        number, unit = said(command).split()
        return int(float(number) * {"KB": 1e3, "MB": 1e6, "GB": 1e9}[unit.upper()])

    def inside(self, name: str, command: str) -> str:
        """What lines of the shell print in a container, as the image's user."""
        container = said(["buildah", "from", "--pull=never", f"localhost/{name}"])
        try:
            enter = ["buildah", "run", "--isolation", "chroot", container, "--"]
            return said([*enter, "bash", "-euc", command])
        finally:
            run(["buildah", "rm", container])


if __name__ == "__main__":
    sys.exit(main())
