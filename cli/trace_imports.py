"""`hamtune trace import`: traces of other tools, traffic matrices and patterns as our traces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from cli.input_path import InputPath
from cli.options import example, json_option, say
from cli.output_files import check_writable
from cli.trace_report import flops_of, output_option, report
from searchspace.errors import InvalidInput
from searchspace.formats.pattern_names import PATTERN_NAMES

__all__ = ["import_trace"]


@click.command(
    "import",
    epilog=example(
        "hamtune trace import alltoall.yaml -o alltoall.ht",
        "hamtune trace import --matrix solver.mtx --rounds 10 -o exchange.ht",
        "hamtune trace import --time-independent smpi_simgrid.txt -o solver.ht",
        "hamtune trace import scorep-run/traces.otf2 --host-speed 2Gf -o solver.ht",
    ),
)
@click.option(
    "--pattern",
    metavar="FILE",
    type=InputPath(read_once=True),
    help="Description of a synthetic workload: pattern, ranks, size, count, rate. Patterns: "
    + ", ".join(PATTERN_NAMES)
    + ".",
)
@click.option(
    "--matrix",
    metavar="W.mtx",
    type=InputPath(read_once=True),
    help="Bytes that every pair of ranks exchanges, both ways (MatrixMarket).",
)
@click.option(
    "--time-independent",
    "stock",
    is_flag=True,
    help="FILES are stock time-independent traces of SimGrid, one a rank or one for all, their "
    "directory, or the list of them that smpirun -trace-ti writes.",
)
@click.option(
    "--host-speed",
    metavar="F",
    help="Speed (2Gf) that turns seconds into flops: the time between the MPI calls of an OTF2 "
    "archive, the sleeps of a time-independent trace.",
)
@click.option(
    "--rounds", type=click.IntRange(1), help="How often a matrix is exchanged (once if left out)."
)
@click.option(
    "--no-sandbox",
    is_flag=True,
    help="Read an OTF2 archive that you trust without the sandbox, where bubblewrap cannot work.",
)
@click.argument("files", nargs=-1, type=InputPath(dir_okay=True))
@output_option
@json_option
def import_trace(
    pattern: Path | None,
    matrix: Path | None,
    stock: bool,
    host_speed: str | None,
    rounds: int | None,
    no_sandbox: bool,
    files: tuple[Path, ...],
    output: Path,
    as_json: bool,
) -> None:
    """Make a trace of an OTF2 archive, stock traces of SimGrid, a traffic matrix or a pattern.

    What FILES are is found out from them. In stock traces every collective is one of all ranks.
    """
    given = [source for source in (pattern, matrix) if source is not None]
    if len(given) + bool(files or stock) != 1:
        raise click.UsageError("give FILES, --pattern or --matrix")
    if stock and not files:
        raise click.UsageError("--time-independent and FILES go together")
    check_writable(output, "--output")
    sources = files or tuple(given)
    kind = _kind(sources) if files and not stock else ""
    kind = kind or ("pattern" if pattern else "matrix" if matrix else "time-independent")
    if host_speed is not None and kind not in ("otf2", "time-independent"):
        raise click.UsageError("--host-speed goes with OTF2 archives and time-independent traces")
    if rounds is not None and kind != "matrix":
        raise click.UsageError("--rounds goes with a matrix; a pattern has its count")
    if kind == "otf2":
        _import_otf2(sources, output, flops_of(host_speed), sandbox=not no_sandbox)
    elif kind == "time-independent":
        from searchspace.formats.stock_trace import import_time_independent

        import_time_independent(sources, output, host_speed=flops_of(host_speed))
    else:
        _import_synthetic(kind, sources, output, rounds or 1)
    report(output, as_json)


def _kind(files: Sequence[Path]) -> str:
    """What files hold: `otf2`, `matrix`, `pattern` or `time-independent`."""
    from searchspace.documents import read_document
    from workers.otf2_import import find_anchor

    if any(find_anchor(file) is not None for file in files):
        return "otf2"
    if len(files) > 1 or files[0].is_dir():
        return "time-independent"
    with files[0].open("rb") as file:
        start = file.read(1 << 16)
    if start.startswith(b"%%MatrixMarket") or files[0].suffix == ".mtx":
        return "matrix"
    try:
        document = read_document(start)
    except InvalidInput:
        return "time-independent"
    return "pattern" if isinstance(document, dict) and "pattern" in document else "time-independent"


def _import_otf2(
    sources: Sequence[Path], output: Path, speed: float | None, *, sandbox: bool
) -> None:
    from workers.otf2_import import find_anchor, import_otf2

    anchor = find_anchor(sources[0])
    if len(sources) > 1 or anchor is None:
        raise click.UsageError("an OTF2 archive is imported alone")
    if speed is None:
        raise InvalidInput(
            f"{anchor}: an archive tells seconds, not flops; give --host-speed, the speed of a "
            "core of the machine where it was recorded (hamtune-host-speed measures it)"
        )
    imported = import_otf2(anchor, output, host_speed=speed, sandbox=sandbox)
    for name, count in imported.ignored.items():
        say(f"hamtune: {count} events {name} leave nothing in the trace")


def _import_synthetic(kind: str, sources: Sequence[Path], output: Path, rounds: int) -> None:
    from searchspace.documents import read_document
    from searchspace.formats.matrix_market import read_traffic
    from searchspace.formats.patterns import matrix_trace, pattern_trace

    source = sources[0]
    try:
        if kind == "matrix":
            text = source.read_text(errors="replace")
            matrix_trace(read_traffic(text, notice=say), output, rounds=rounds)
            return
        described = read_document(source.read_bytes())
        if not isinstance(described, dict):
            raise InvalidInput("this is no description of a pattern")
        pattern_trace(described, output)
    except InvalidInput as error:
        raise InvalidInput(f"{source}: {error}") from error
