"""Builds the image of the Dockerfile, tells its size, and runs the demo's job in it.

    .venv/bin/python -m deploy.image [--base DIRECTORY] [--output FILE.json]

By Docker where its daemon runs, or else by buildah, which needs none, as root. `--base` makes
Debian's image here, by debootstrap in that directory, in the place of pulling it. The trials in the
image must have the digits of those of `make demo` here, and the image at most 900 MB.
"""

from __future__ import annotations

import argparse
import datetime
import json
import shutil
import subprocess
import sys
from pathlib import Path

from deploy.portable import configure, debootstrap, digits, here, run, said, trials

ROOT = Path(__file__).resolve().parent.parent
MOST_MEGABYTES = 900.0
_BASE = "debian:13-slim"
_NAME = "hamtune"
_UNREAD = ("usr/share/doc", "usr/share/man", "usr/share/info", "usr/share/locale")
_FETCHED = ("var/cache/apt", "var/lib/apt/lists", "var/log")
_DATA = "/var/lib/hamtune/demo"


def main() -> int:
    """Build, measure, run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base", type=Path, metavar="DIRECTORY")
    parser.add_argument("--output", type=Path, help="where what was found goes")
    arguments = parser.parse_args()
    builder = Docker() if has_docker() else Buildah()
    if arguments.base:
        make_base(arguments.base)
        builder.take(arguments.base, _BASE)
    builder.build(_NAME)
    megabytes = builder.size(_NAME) / 1e6
    job = f"./hamtune run examples/demo.yaml --data {_DATA}"
    found_there = digits(builder.inside(_NAME, f"{job} >&2 && {trials('./hamtune', _DATA)}"))
    run(here("make demo"))
    same = found_there == digits(said(here(trials("./hamtune", "demo/data"))))
    fits = megabytes <= MOST_MEGABYTES
    print(f"image: {megabytes:.0f} MB of {MOST_MEGABYTES:.0f}: {'MET' if fits else 'MISSED'}")
    print(f"its trials have {'the same' if same else 'OTHER'} digits")
    if arguments.output:
        found = {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "builder": builder.name,
            "megabytes": round(megabytes),
            "most_megabytes": MOST_MEGABYTES,
            "trials": len(found_there),
            "same_digits": same,
        }
        arguments.output.write_text(json.dumps(found, indent=1) + "\n")
    return 0 if fits and same else 1


def has_docker() -> bool:
    """Whether a daemon of Docker answers."""
    if shutil.which("docker") is None:
        return False
    return subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0


def make_base(tree: Path) -> None:
    """What is in Debian's slim image, in a tree."""
    if not (tree / "etc/debian_version").exists():
        debootstrap(tree, include="ca-certificates")
    configure(tree)
    for name in (*_UNREAD, *_FETCHED):
        run(["find", str(tree / name), "-type", "f", "-delete"])


class Docker:
    """By a daemon."""

    name = "docker"

    def take(self, tree: Path, name: str) -> None:
        """Make an image of a tree."""
        run(["bash", "-c", f"tar -C '{tree}' -cf - . | docker import - {name}"])

    def build(self, name: str) -> None:
        """Make the image of the Dockerfile."""
        run(["docker", "build", "-t", name, "."])

    def size(self, name: str) -> int:
        """Bytes of all its layers."""
        return int(said(["docker", "image", "inspect", "--format", "{{.Size}}", name]))

    def inside(self, name: str, command: str) -> str:
        """What a line of the shell prints in a container."""
        return said(["docker", "run", "--rm", "--entrypoint", "bash", name, "-c", command])


class Buildah:
    """Without one."""

    name = "buildah"

    def take(self, tree: Path, name: str) -> None:
        """Make an image of a tree."""
        container = said(["buildah", "from", "scratch"])
        run(["buildah", "add", "--quiet", container, str(tree), "/"])
        run(["buildah", "commit", "--quiet", "--rm", container, f"localhost/{name}"])

    def build(self, name: str) -> None:
        """Make the image of the Dockerfile."""
        run(["buildah", "build", "--isolation", "chroot", "--pull=never", "-t", name, "."])

    def size(self, name: str) -> int:
        """Bytes of all its layers."""
        template = "{{.Size}}"
        told = said(["buildah", "images", "--format", template, f"localhost/{name}"])
        number, unit = told.split()
        return int(float(number) * {"kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9}[unit])

    def inside(self, name: str, command: str) -> str:
        """What a line of the shell prints in a container."""
        container = said(["buildah", "from", "--pull=never", f"localhost/{name}"])
        try:
            enter = ["buildah", "run", "--isolation", "chroot", container, "--"]
            return said([*enter, "bash", "-c", command])
        finally:
            run(["buildah", "rm", container])


if __name__ == "__main__":
    sys.exit(main())
