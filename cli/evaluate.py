"""`hamtune evaluate`: one configuration, once, without a job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from cli.machine_files import with_network
from cli.options import data_option, example, json_option, print_json
from searchspace.builtins import BUILTINS
from searchspace.collectives import Groups, called_collectives
from searchspace.configuration import Configuration
from searchspace.documents import read_document
from searchspace.errors import HamtuneError, InvalidInput
from searchspace.jobspec import BuiltinApplication, Reference, TraceApplication
from searchspace.kernels import trace_summary
from searchspace.machine import parse_machine
from searchspace.platform import Infeasible, resolve
from searchspace.units import format_duration, memory_limit, parse_duration
from searchspace.validation import check
from service.settings import Settings

__all__ = ["COMMANDS"]

Named = BuiltinApplication | TraceApplication | Reference
KINDS: dict[str, type[Named]] = {
    "builtin": BuiltinApplication,
    "trace": TraceApplication,
    "id": Reference,
}


@click.command(
    epilog=example(
        "hamtune evaluate --application cg.A.64 --machine machine.yaml \\",
        "  --configuration '{topology: torus-3d, mpi: mpich, collectives: {allreduce: rdb}}'",
        "hamtune evaluate --application trace.ht --machine machine.yaml \\",
        "  --configuration best.json --cutoff 80ms --json",
    )
)
@click.option(
    "--application",
    metavar="A",
    required=True,
    help="A trace file, a built-in program as NAME.CLASS.RANKS, or what a job file has under "
    "'application', in a file or written out.",
)
@click.option(
    "--machine",
    metavar="M",
    required=True,
    help="What a job file has under 'machine', in a file or written out.",
)
@click.option(
    "--configuration",
    metavar="C",
    default="{}",
    help="Parameters and values, in a file or written out; also the answer of 'hamtune best'. "
    "What is left out has its default.",
)
@click.option("--cutoff", metavar="S", help="Stop at this simulated time (seconds, or 80ms).")
@click.option(
    "--memory",
    metavar="B",
    default="4GiB",
    show_default=True,
    help="Most memory of the evaluation (bytes, or 512MiB).",
)
@click.option(
    "--wall",
    metavar="S",
    default="10min",
    show_default=True,
    help="Most wall time of the evaluation (seconds, or 90s).",
)
@json_option
@data_option
def evaluate(
    application: str,
    machine: str,
    configuration: str,
    cutoff: str | None,
    memory: str,
    wall: str,
    as_json: bool,
    settings: Settings,
) -> int:
    """Simulate an application once, on a machine, in a configuration.

    Prints the simulated time (a lower bound if the cutoff stopped the run) and what the evaluation
    cost. A built-in program is captured the first time it is used.
    """
    limits = {
        "cutoff": _read("--cutoff", parse_duration, cutoff),
        "memory_bytes": _read("--memory", memory_limit, memory),
        "wall_seconds": _read("--wall", parse_duration, wall),
    }
    with _naming("--machine"):
        on = parse_machine(with_network(*_document(machine)))
    with _naming("--configuration"):
        chosen = _document(configuration)[0]
        if isinstance(chosen, Mapping) and isinstance(chosen.get("configuration"), Mapping):
            chosen = chosen["configuration"]
        chosen = Configuration.from_json(chosen)
    with _naming("--application"):
        subject = _application(application, settings)
    try:
        resolved = resolve(chosen, on, subject.ranks, collectives=subject.calls)
    except Infeasible as error:
        answer = _nothing("infeasible", "infeasible", str(error))
    else:
        from workers.simulator_client import Simulator

        with Simulator([subject.trace]) as simulator:
            answer = simulator.evaluate(resolved.simulator_request(), **limits)
    result = {
        "status": answer["status"],
        "simulated_time": answer["simulated_time"],
        "cpu_seconds": answer["cpu_seconds"],
        "wall_seconds": answer["wall_seconds"],
        "peak_rss_bytes": answer["peak_rss_bytes"],
        "reason": answer["reason"],
        "model": on.canonical()["model"],
        "tie_rule": on.tie_rule,
    }
    if as_json:
        print_json(result)
    elif result["status"] in ("completed", "censored"):
        more = "more than " if result["status"] == "censored" else ""
        click.echo(f"{more}{format_duration(result['simulated_time'])} simulated")
        click.echo(
            f"{result['cpu_seconds']:.3g} CPU s, {result['wall_seconds']:.3g} s, "
            f"{result['peak_rss_bytes'] / 2**20:.1f} MiB"
        )
    if result["status"] in ("completed", "censored"):
        return 0
    raise HamtuneError(f"the evaluation is {result['status']}: {result['reason']['message']}")


COMMANDS = [evaluate]


@dataclass(frozen=True)
class _Subject:
    trace: Path
    ranks: int
    calls: Mapping[str, Groups]


def _application(text: str, settings: Settings) -> _Subject:
    document: Any
    if _is_file(text) and Path(text).read_bytes()[:8] == b"HAMTRACE":
        document, folder = {"trace": text}, Path()
    elif (short := text.split("."))[0] in BUILTINS and not _is_file(text):
        document, folder = _short_form(short), Path()
    else:
        document, folder = _document(text)
    kind = next((k for k in KINDS if isinstance(document, Mapping) and k in document), None)
    if kind is None:
        raise InvalidInput("must name one of: builtin, trace, id")
    named: Named = check(KINDS[kind], document)
    if isinstance(named, TraceApplication):
        trace = folder / named.trace
        if not trace.is_file():
            raise InvalidInput(f"there is no file {trace}", field="trace")
        summary = trace_summary(trace)
        return _Subject(trace, summary["ranks"], called_collectives(summary))
    return _stored(named, settings)


def _stored(named: BuiltinApplication | Reference, settings: Settings) -> _Subject:
    """The application in the data directory; a built-in program is captured there once."""
    from storage.storage import Storage
    from workers.prepare import builtin_application

    storage = Storage.open(settings.database_url, settings.artifacts_url)
    try:
        storage.upgrade()
        if isinstance(named, BuiltinApplication):
            stored = builtin_application(storage, named)
        else:
            stored = storage.get_application(named.id)
        if stored.state != "ready":
            raise InvalidInput(
                f"application {stored.id} is {stored.state}: it has no trace yet; run a "
                "job with it, or 'hamtune capture --source'"
            )
        trace = storage.artifact_path(stored.trace_sha256)
    finally:
        storage.close()
    return _Subject(trace, stored.ranks, called_collectives(stored.summary))


def _short_form(words: list[str]) -> dict[str, Any]:
    """`cg.S.16` and, for the program without classes, `mm.16` or `mm.500.16`."""
    name, *rest = words
    if not rest or not rest[-1].isdigit() or len(rest) > 2:
        raise InvalidInput(f"write a built-in program as {name}.CLASS.RANKS, such as cg.A.64")
    document: dict[str, Any] = {"builtin": name, "ranks": int(rest[-1])}
    if len(rest) == 2:
        document |= {"n": int(rest[0])} if rest[0].isdigit() else {"class": rest[0]}
    return document


def _document(text: str) -> tuple[Any, Path]:
    """A YAML or JSON document in a file or written out, and the folder that its paths are in."""
    if _is_file(text):
        return read_document(Path(text).read_bytes()), Path(text).parent
    if text.lstrip().startswith("{"):
        return read_document(text), Path()
    raise InvalidInput(f"there is no file {text}, and it is not written out as {{name: value}}")


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _read(option: str, parse: Any, text: str | None) -> Any:
    if text is None:
        return None
    with _naming(option):
        value = parse(text)
        if not value > 0:
            raise InvalidInput(f"{text!r} is not above zero")
    return value


@contextmanager
def _naming(option: str) -> Iterator[None]:
    """Name the option in the errors of its value."""
    try:
        yield
    except InvalidInput as error:
        mistakes = "; ".join(str(error).splitlines())
        raise InvalidInput(f"{option}: {mistakes}") from error


def _nothing(status: str, kind: str, message: str) -> dict[str, Any]:
    """The answer where there is nothing to simulate."""
    return {
        "status": status,
        "simulated_time": None,
        "reason": {"kind": kind, "message": message},
        "cpu_seconds": 0.0,
        "wall_seconds": 0.0,
        "peak_rss_bytes": 0,
    }
