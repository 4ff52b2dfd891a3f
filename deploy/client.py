"""Writes the synchronous client of `hamtune_client` from the asynchronous one.

`python -m deploy.client` writes `hamtune_client/synchronous*.py` anew; with `--check` it ends with
1 where these are not what it would write. Change `asynchronous*.py`, and run it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

CLIENT = Path(__file__).resolve().parent.parent / "hamtune_client"
_HEAD = "# Written by `python -m deploy.client` from {source}; change that.\n"
_WORDS = [  # in this order
    (r"^import asyncio\n", ""),
    (r"\basyncio\.sleep\b", "time.sleep"),
    (r"\basync (def|for|with)\b", r"\1"),
    (r"\bawait (?=[\w(])", ""),
    (r"\b(_?)Async(?=[A-Z])", r"\1"),
    (r"\b__a(enter|exit)__\b", r"__\1__"),
    (r"\ba(close|read|iter_lines)\(", r"\1("),
    (r"\basynchronous", "synchronous"),
    (r", awaited\.", "."),
]


def synchronous(source: Path) -> str:
    """The synchronous twin of a module, formatted and with its imports sorted.

    Args:
        source: One of `asynchronous*.py`.
    """
    text = source.read_text()
    summary, rest = re.match(r'("""[\s\S]*?"""\n)([\s\S]*)', text).groups()  # type: ignore[union-attr]
    if source.stem == "asynchronous":
        summary = '"""The client that waits for its answers."""\n'
    for pattern, replacement in _WORDS:
        rest = re.sub(pattern, replacement, rest, flags=re.MULTILINE)
        summary = re.sub(pattern, replacement, summary)
    if "time.sleep" in rest and not re.search(r"^import time$", rest, re.MULTILINE):
        rest = rest.replace("annotations\n", "annotations\n\nimport time\n", 1)
    head = _HEAD.format(source=source.name)
    target = CLIENT / source.name.removeprefix("a")
    fixes = ["--select", "I,UP028", "--fix-only", "--unsafe-fixes"]
    for command in (["check", *fixes], ["format"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "-q", "--stdin-filename", str(target), "-"],
            input=head + summary + rest, capture_output=True, text=True, check=True,
        )  # fmt: skip
        head, summary, rest = "", "", done.stdout
    return rest


def main(arguments: list[str]) -> int:
    """Write or check all modules."""
    stale = []
    for source in sorted(CLIENT.glob("asynchronous*.py")):
        target, text = CLIENT / source.name.removeprefix("a"), synchronous(source)
        if not target.exists() or target.read_text() != text:
            stale.append(target.name)
            if "--check" not in arguments:
                target.write_text(text)
    if stale:
        sys.stdout.write("\n".join(stale) + "\n")
    return int(bool(stale) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
