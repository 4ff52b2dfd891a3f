"""Look for mistakes in the C++ kernels and in the simulator with clang-tidy.

    .venv/bin/python -m deploy.tidy [FILE.cpp ...]

The checks are those of `.clang-tidy`. What they find is printed, each finding once; the exit status
is 0 if there is none. Needs the Debian packages clang and clang-tidy, and what `./setup.sh` sets
up; nothing is built. All files take some minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

from deploy import instrumented
from deploy.instrumented import ROOT

__all__ = ["checked", "findings", "main"]

_CHECKED = ("searchspace/kernels/", "workers/simulator/", "workers/system_calls/")
_BUILD = "build/tidy"
_FINDING = re.compile(r"^\S+:\d+:\d+: (?:warning|error): ", re.MULTILINE)


def main() -> int:
    """Configure, look, and tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", metavar="FILE.cpp", type=Path)
    asked = {path.resolve() for path in parser.parse_args().files}
    instrumented.need({"clang++": "clang", "clang-tidy": "clang-tidy"})
    environment = instrumented.environment()
    # As clang compiles: of GCC's options it does not know all.
    compilers = ["-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++"]
    instrumented.configure(ROOT, _BUILD, compilers, environment)
    commands = json.loads((ROOT / _BUILD / "compile_commands.json").read_text())
    files = checked(ROOT, (Path(command["file"]) for command in commands))
    if unknown := asked - set(files):
        parser.error(f"{min(unknown)} is no source that is checked")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        printed = list(pool.map(look, sorted(asked) or files))
    found = findings(printed)
    print(*found, f"{len(found)} findings in {len(printed)} files", sep="\n")
    return 1 if found else 0


def checked(root: Path, files: Iterable[Path]) -> list[Path]:
    """Those of the compiled files that are ours to check, in order, each once."""
    folders = [root / folder for folder in _CHECKED]
    return sorted({path for path in files if any(path.is_relative_to(one) for one in folders)})


def look(path: Path) -> str:
    """What is found in a file and in the headers it includes, or why it cannot be looked at."""
    command = ["clang-tidy", "--quiet", "-p", _BUILD, str(path)]
    ended = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    return (ended.stdout or ended.stderr) if ended.returncode != 0 else ""


def findings(printed: Iterable[str]) -> list[str]:
    """The findings in what was printed of several files, each once, with the notes that follow.

    A header is looked at again for every file that includes it.
    """
    first: dict[str, str] = {}
    for text in filter(None, printed):
        for finding in _split(text):
            first.setdefault(finding.partition("\n")[0], finding)
    return list(first.values())


def _split(text: str) -> Iterator[str]:
    starts = [found.start() for found in _FINDING.finditer(text)] or [0]
    for start, end in pairwise([*starts, len(text)]):
        yield text[start:end].strip()


if __name__ == "__main__":
    sys.exit(main())
