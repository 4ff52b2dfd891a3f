"""Guided fuzzing of all that reads files of strangers: `python -m tests.fuzz --seconds 600 job`.

Python readers are instrumented by Atheris, C++ ones by libFuzzer under the sanitizers (built by
`./setup.sh --test`). Ends with 1 where a promise was broken; the file that did it is kept.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

NATIVE = ("trace_file", "trace_operations", "simulator_request")
BINARIES = Path(__file__).parents[2] / "build" / "fuzz" / "tests" / "fuzz"
CPU_SECONDS = 20
"""Of one file; a reader that needs more can be made to hold a server up."""
MEMORY_MEGABYTES = 2048
LONGEST = 16_384
"""Bytes of a file that is made."""


def main() -> int:
    """Fuzzes the targets one after the other, each in a process of its own."""
    arguments = _arguments()
    keep = Path(arguments.keep or tempfile.mkdtemp(prefix="hamtune-fuzz-"))
    broken = []
    for name in _expand(arguments.names or ["native", "python"]):
        limit = [f"-max_total_time={arguments.seconds}"] if arguments.seconds else []
        options = [f"-runs={-1 if limit else arguments.runs}", *limit, f"-seed={arguments.seed}"]
        if _run(name, options, keep) != 0:
            broken.append(name)
    if broken:
        print(f"broken: {' '.join(broken)}; see {keep}", file=sys.stderr)
    return 1 if broken else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="native, python (both) or single ones"
    )
    parser.add_argument("--runs", type=int, default=10_000, help="files for each target (10,000)")
    parser.add_argument("--seconds", type=int, help="instead of runs: how long for each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="directory of corpora, logs and findings (a temporary one)")
    return parser.parse_args()


def _expand(names: Sequence[str]) -> Iterator[str]:
    """The targets that these names stand for."""
    for name in names:
        if name == "native":
            yield from NATIVE
        elif name == "python":
            from tests.fuzz.readers import READERS

            yield from READERS
        else:
            yield name


def _run(name: str, options: Sequence[str], keep: Path) -> int:
    """What the target ended with; what it says goes to a file and its last line is shown."""
    if name not in NATIVE:
        import tests.fuzz.readers  # noqa: F401 (once for all children)
    from tests.fuzz.seeds import dictionary, seeds_of

    corpus = keep / name
    corpus.mkdir(parents=True, exist_ok=True)
    seeds = seeds_of(name)
    for number, seed in enumerate(seeds):
        (corpus / f"seed-{number:03}").write_bytes(seed)
    words = keep / f"{name}.dictionary"
    words.write_text(dictionary(seeds))
    log = keep / f"{name}.log"
    command = [
        name, *options, f"-timeout={CPU_SECONDS}", f"-rss_limit_mb={MEMORY_MEGABYTES}",
        f"-max_len={LONGEST}", "-len_control=0", f"-dict={words}",
        f"-artifact_prefix={keep / name}-",
        "-detect_leaks=0", str(corpus),
    ]  # fmt: skip
    child = os.fork()
    if child == 0:
        _become(name, command, log)
    _, status = os.waitpid(child, 0)
    said = log.read_text(errors="replace").splitlines()
    print(f"{name}: {said[-1] if said else 'said nothing'}", flush=True)
    return status


def _become(name: str, command: list[str], log: Path) -> None:
    """Fuzzes in this process, which ends with it."""
    try:
        written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(written, sys.stdout.fileno())
        os.dup2(written, sys.stderr.fileno())
        if name in NATIVE:
            os.execv(BINARIES / name, command)
        import atheris

        from tests.fuzz.readers import READERS, keep_promise

        read = READERS[name]
        with tempfile.TemporaryDirectory(prefix="hamtune-fuzz-") as folder:
            atheris.Setup(command, lambda content: keep_promise(read, content, Path(folder)))
            atheris.Fuzz()
    except BaseException as error:
        print(f"cannot fuzz: {error!r}", file=sys.stderr, flush=True)
    finally:
        os._exit(2)


if __name__ == "__main__":
    sys.exit(main())
