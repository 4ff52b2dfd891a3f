"""Keeps the table of licences in NOTICE: what packages say of themselves.

`python -m deploy.notice` writes it for what `requirements.lock` installs; with `--check` it ends
with 1 where the table is not that of the installed environment.
"""

from __future__ import annotations

import importlib.metadata
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTICE = ROOT / "NOTICE"
_MARK = "Python packages that a user's environment holds (requirements.lock):\n\n"
_CLASSIFIER = "License :: OSI Approved :: "
_LONGEST = 60


def packages(lock: str) -> list[str]:
    """The names in a lock that are for this system; those for others have a marker that says so."""
    rows = re.findall(r"^([A-Za-z0-9._-]+)==\S+([^\\\n]*)", lock, re.MULTILINE)
    return sorted({name for name, marker in rows if "win32" not in marker})


def licence(name: str) -> str:
    """What a package says of its licence, in a line.

    Raises:
        PackageNotFoundError: It is not installed.
    """
    metadata = importlib.metadata.metadata(name)
    for expression in metadata.get_all("License-Expression", []):
        if expression:
            return str(expression)
    classes = [
        value.removeprefix(_CLASSIFIER)
        for value in metadata.get_all("Classifier", [])
        if value.startswith(_CLASSIFIER)
    ]
    text = "".join(metadata.get_all("License", [])).strip().splitlines()
    stated = text[0] if len(text) == 1 and len(text[0]) <= _LONGEST else ""
    return "; ".join(sorted(classes)) or stated or "see the package"


def table(lock: str, known: str = "") -> str:
    """A line a package.

    Args:
        lock: What is installed, and by which Python.
        known: The table so far, which tells of packages that this Python does without.
    """
    lines = []
    for name in packages(lock):
        try:
            lines.append(f"  {name}: {licence(name)}")
        except importlib.metadata.PackageNotFoundError:
            lines += re.findall(rf"^  {re.escape(name)}: .*", known, re.MULTILINE)
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write or check the table."""
    lock = (ROOT / "requirements.lock").read_text()
    before, _, known = NOTICE.read_text().partition(_MARK)
    wanted = before + _MARK + table(lock, known)
    if arguments == ["--check"]:
        if NOTICE.read_text() == wanted:
            return 0
        print(
            "NOTICE is not that of the installed packages: python -m deploy.notice", file=sys.stderr
        )
        return 1
    NOTICE.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
