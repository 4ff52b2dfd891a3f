"""Proves Hamtune on another system: Debian 13, in a tree of its own that debootstrap makes.

    .venv/bin/python -m deploy.portable [STEP ...] [--tree DIRECTORY] [--output FILE.json]

Steps, those that are named, or the first three:

- demo: `make demo` there from nothing, then here; all trials must have the same digits
- wheel: made there, installed into an empty environment, which runs the demo's job: the same digits
- tests: `./setup.sh --test` there, and the tests of the simulator, its engine and the search space
- pythons: a wheel made here by each `--python`, used as above with the Python that made it
- compilers: the C++ parts by each compiler that either system offers, warnings as errors; each
  simulator must pass the engine's examination. It installs these compilers on this system too.

As root; needs debootstrap, 8 GB and half an hour, and an hour more for the compilers. A tree that
is there is used again, with these sources alone. What a step finds replaces what the file has of
it. The exit status tells whether all of it holds.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import io
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SUITE = "trixie"
TREE = Path("/var/tmp/hamtune-trixie")  # noqa: S108
INSIDE = "root/hamtune"  # the sources, in the tree
CONFIGURATION = ("resolv.conf", "pip.conf", "npmrc", "ssl/certs/ca-certificates.crt")
"""Of /etc: how this machine reaches its registries."""
_BUILT = (".venv", ".simgrid", "build", "demo", "dist", "service/page/dist")
_NOT_SOURCES = " ".join(
    f"--exclude={name}"
    for name in ("./.venv", "./.simgrid", "./.git", "./build", "'*.so'", "node_modules", "./demo")
)
_JOB = "examples/demo.yaml"
_SAME = ("number", "kind", "label", "state", "value", "configuration_sha256")
_TESTS = (
    "tests/workers/simulator",
    "tests/workers/test_engine.py",
    "tests/searchspace",
    "tests/deploy/test_packages.py",
)
_COMPILERS = {
    "here": ("gcc-11", "gcc-12", "clang-14", "clang-15", "clang-16", "clang-19"),
    "there": ("gcc-12", "gcc-13", "gcc-14", "clang-17", "clang-18", "clang-19"),
}


def main() -> int:
    """Make the tree, and take the steps."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"of {', '.join(_STEPS)}")
    parser.add_argument(
        "--only",
        action="append",
        metavar="COMPILER",
        help="of the compilers these alone, as 'gcc-13, there'; what the file has of others stays",
    )
    parser.add_argument("--python", action="append", metavar="EXECUTABLE", help="of step pythons")
    parser.add_argument("--tree", type=Path, default=TREE)
    parser.add_argument("--output", type=Path, help="where what was found goes")
    arguments = parser.parse_args()
    if unknown := set(arguments.steps) - set(_STEPS):
        parser.error(f"no step {', '.join(sorted(unknown))}; there are {', '.join(_STEPS)}")
    tree, output = arguments.tree, arguments.output
    found: dict[str, Any] = json.loads(output.read_text()) if output and output.exists() else {}
    make_tree(tree)
    found["system"] = said(there(tree, ". /etc/os-release; echo $PRETTY_NAME"))
    steps = arguments.steps or _USUAL
    known = found.get("compilers", {}).get("outcomes", {})
    taken: dict[str, Callable[[Path], dict[str, Any]]] = {
        **_STEPS,
        "pythons": partial(pythons, executables=arguments.python),
        "compilers": partial(compilers, only=arguments.only, known=known),
    }
    for step in steps:
        print(f"\n# {step}", flush=True)
        date = datetime.datetime.now(datetime.UTC).date().isoformat()
        found[step] = {"date": date, **taken[step](tree)}
        print(json.dumps(found[step], indent=1), flush=True)
        if output:
            output.parent.mkdir(parents=True, exist_ok=True)
            output.write_text(json.dumps(found, indent=1) + "\n")
    return 0 if all(found[step]["holds"] for step in steps) else 1


def make_tree(tree: Path) -> None:
    """A bare system with these sources, as they are in the work tree."""
    if not (tree / "etc/debian_version").exists():
        debootstrap(tree, include="ca-certificates,git,make")
    configure(tree)
    sources = tree / INSIDE
    sources.mkdir(parents=True, exist_ok=True)
    kept = [word for name in _BUILT for word in ("!", "-path", f"{sources}/{name}*")]
    kept += ["!", "-name", "*.so"]  # built there, in the sources' folders
    run(["find", str(sources), "-type", "f", *kept, "-delete"])
    listed = "git ls-files --cached --others --exclude-standard -z"
    command = f"{listed} | tar --null --files-from - -cf - | tar -xf - -C '{sources}'"
    run(["bash", "-eo", "pipefail", "-c", command])


def debootstrap(tree: Path, include: str) -> None:
    """Make a bare system."""
    options = ["--variant=minbase", f"--include={include}"]
    run(["debootstrap", *options, SUITE, str(tree), mirror()])


def configure(tree: Path) -> None:
    """Let what runs in a tree reach what this machine reaches."""
    for name in CONFIGURATION:
        if (Path("/etc") / name).exists():
            (tree / "etc" / name).parent.mkdir(parents=True, exist_ok=True)
            run(["cp", f"/etc/{name}", f"{tree}/etc/{name}"])


def mirror() -> str:
    """Where this system has its packages from."""
    listed = [Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*.sources")]
    for path in listed:
        found = mirror_of(path.read_text()) if path.exists() else None
        if found is not None:
            return found
    raise SystemExit("portable: no mirror in /etc/apt")


def mirror_of(listed: str) -> str | None:
    """The first mirror of a list of sources, in either of apt's two formats."""
    for line in listed.splitlines():
        words = re.sub(r"\[.*?\]", " ", line).split()  # options, such as of who signs
        if len(words) > 1 and words[0] in ("URIs:", "deb"):
            return words[1]
    return None


def there(tree: Path, command: str) -> list[str]:
    """The command that runs a line of the shell in the tree's sources."""
    return [str(ROOT / "deploy/enter.sh"), str(tree), "bash", "-euc", f"cd /{INSIDE}; {command}"]


def here(command: str) -> list[str]:
    """The same in these sources."""
    return ["bash", "-euc", command]


def run(command: list[str]) -> None:
    """Run a step; what it prints is seen."""
    subprocess.run(command, cwd=ROOT, check=True)


def said(command: list[str]) -> str:
    """What a command prints."""
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def trials(hamtune: str, data: str) -> str:
    """The command that prints the trials of the demo's job."""
    return f"{hamtune} trials demo --format csv --data {data}"


def digits(printed: str) -> list[tuple[str, ...]]:
    """Of printed trials what does not differ between runs.

    Raises:
        SystemExit: There are none, so that nothing could be compared.
    """
    rows = list(csv.DictReader(io.StringIO(printed)))
    if not any(row["state"] == "completed" for row in rows):
        raise SystemExit("portable: no trial of the demo's job has completed")
    return [tuple(row[name] for name in _SAME) for row in rows]


def demo(tree: Path) -> dict[str, Any]:
    """`make demo` from nothing there, and here."""
    run(there(tree, f"rm -rf {' '.join(_BUILT)}"))
    began = time.monotonic()
    run(there(tree, "make demo"))
    seconds = time.monotonic() - began
    run(here("make demo"))
    theirs = digits(said(there(tree, trials("./hamtune", "demo/data"))))
    same = theirs == digits(said(here(trials("./hamtune", "demo/data"))))
    return {
        "holds": same,
        "seconds_from_nothing": round(seconds),
        "trials": len(theirs),
        "same_digits": same,
        "environment_mb": int(said(there(tree, "du -s --block-size=1MB .venv | cut -f1"))),
        "version": said(there(tree, "./hamtune --version")),
        "python": said(there(tree, ".venv/bin/python --version")),
        "compiler": said(there(tree, "c++ --version | head -1")),
    }


def wheel(tree: Path) -> dict[str, Any]:
    """Made there with all of it compiled, and used from an empty environment.

    The demo must have been run there.
    """
    return _installed(partial(there, tree), "python3", "/root")


def pythons(_tree: Path, executables: Sequence[str] = ()) -> dict[str, Any]:
    """The same here by other Pythons; the demo must have been run here."""
    if not executables:
        raise SystemExit("portable: step pythons takes --python EXECUTABLE, once or more")
    found = []
    for executable in executables:
        with tempfile.TemporaryDirectory() as folder:
            found.append(_installed(here, executable, folder))
    return {"holds": all(one["holds"] for one in found), "tried": found}


def _installed(at: Callable[[str], list[str]], python: str, folder: str) -> dict[str, Any]:
    run(
        at(
            f"cd {folder}; home=$OLDPWD; rm -rf dist tools sources user data; mkdir sources;"
            f" {python} -m venv tools;"
            " tools/bin/pip install -q scikit-build-core nanobind setuptools wheel;"
            f" tar -C $home {_NOT_SOURCES} -cf - . | tar -xf - -C sources;"
            " (cd sources; CMAKE_PREFIX_PATH=$home/.simgrid ../tools/bin/python"
            f" -m deploy.dist ../dist); {python} -m venv user;"
            f" user/bin/pip install -q dist/hamtune-*.whl; cp $home/{_JOB} job.yaml;"
            " user/bin/hamtune run job.yaml --data data"
        )
    )
    theirs = digits(said(at(trials(f"{folder}/user/bin/hamtune", f"{folder}/data"))))
    same = theirs == digits(said(at(trials("./hamtune", "demo/data"))))
    return {
        "holds": same,
        "trials": len(theirs),
        "python": said(at(f"{folder}/user/bin/python --version")),
        "version": said(at(f"{folder}/user/bin/hamtune --version")),
        "same_digits": same,
    }


def compilers(
    tree: Path, only: Sequence[str] | None = None, known: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Each builds all of it and its simulator is examined."""
    outcomes: dict[str, Any] = {}
    for place, names in _COMPILERS.items():
        at: Callable[[str], list[str]] = here if place == "here" else lambda line: there(tree, line)
        for name in names:
            what = f"{name}, {place}"
            if only is None or what in only:
                outcomes[what] = _compiled(at, name)
                print(f"{what}: {outcomes[what]}", flush=True)
            elif what in known:
                outcomes[what] = known[what]
    good = ("builds", "not available")
    return {"holds": all(found in good for found in outcomes.values()), "outcomes": outcomes}


def _compiled(at: Callable[[str], list[str]], name: str) -> str:
    family, _, release = name.partition("-")
    packages = f"g++-{release}" if family == "gcc" else name
    cxx = f"g++-{release}" if family == "gcc" else f"clang++-{release}"
    line = (
        "python=$PWD/.venv/bin/python; export CMAKE_PREFIX_PATH=$PWD/.simgrid;"
        " copy=$(mktemp -d); trap 'rm -rf $copy' EXIT; log=$copy/log;"
        f" apt-get install -qq -y --no-install-recommends {packages} doctest-dev >$log 2>&1 ||"
        " { echo not available; exit 0; };"
        f" tar {_NOT_SOURCES} -cf - . | tar -xf - -C $copy; cd $copy;"
        f" {{ cmake -S . -B build -G Ninja -DCMAKE_C_COMPILER={name} -DCMAKE_CXX_COMPILER={cxx}"
        " -DPython_EXECUTABLE=$python -DHAMTUNE_WARNINGS_ARE_ERRORS=ON -DHAMTUNE_TESTS=ON &&"
        " cmake --build build; } >$log 2>&1 ||"
        " { grep -A20 FAILED $log || tail -40 $log; exit 1; } >&2;"
        " XDG_CACHE_HOME=$copy/cache $python -c"
        " 'from workers.engine import engine; print(engine())'"
    )
    done = subprocess.run(at(line), cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        return "does not build"
    return "builds" if done.stdout.startswith("express ") else done.stdout.strip()


def tests(tree: Path) -> dict[str, Any]:
    """The chosen part of the tests."""
    run(there(tree, "./setup.sh --test"))
    command = f"PATH=$PWD/.simgrid/bin:$PATH .venv/bin/python -m pytest -n 2 {' '.join(_TESTS)}"
    done = subprocess.run(
        there(tree, command), cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True
    )
    print(done.stdout)
    (*_, outcome) = ("no outcome", *done.stdout.strip().splitlines())
    return {"holds": done.returncode == 0, "outcome": outcome.strip("= ")}


_STEPS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "demo": demo,
    "wheel": wheel,
    "tests": tests,
    "pythons": pythons,
    "compilers": compilers,
}
_USUAL = ("demo", "wheel", "tests")

if __name__ == "__main__":
    sys.exit(main())
