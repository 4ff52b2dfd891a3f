"""`hamtune evaluate`: one configuration, once, without a job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.application_files import with_files
from cli.machine_files import with_network
from cli.options import data_option, example, json_option, print_json
from searchspace.builtins import BUILTINS
from searchspace.collectives import Groups, called_collectives
from searchspace.configuration import Configuration
from searchspace.documents import read_document
from searchspace.errors import HamtuneError, InvalidInput
from searchspace.formats.trace_traffic import traffic_of_traces
from searchspace.jobspec import (
    Application,
    SourceApplication,
    TraceApplication,
    check_application,
)
from searchspace.jobspec import Workload as JobWorkload
from searchspace.kernels import trace_summary
from searchspace.machine import parse_machine
from searchspace.platform import Infeasible, resolve
from searchspace.units import format_duration, memory_limit, parse_duration
from service.settings import Settings

if TYPE_CHECKING:
    from workers.subject import Workload

__all__ = ["COMMANDS"]


@click.command(
    epilog=example(
        "hamtune evaluate --application cg.A.64 --machine machine.yaml \\",
        "  --configuration '{topology: torus-3d, mpi: mpich, collectives: {allreduce: rdb}}'",
        "hamtune evaluate --application trace.ht --machine machine.yaml \\",
        "  --configuration best.json --cutoff 80ms --json",
        "hamtune evaluate --machine machine.yaml \\",
        "  --application '{pattern: all-to-all, ranks: 16, size: 64kB, count: 10, rate: 100}'",
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
        resolved = resolve(
            chosen,
            on,
            subject.ranks,
            collectives=subject.calls,
            traffic=lambda: traffic_of_traces(subject.traces),
        )
    except Infeasible as error:
        answer = _nothing("infeasible", "infeasible", str(error))
    else:
        from workers.simulator_client import Simulator
        from workers.subject import request_for

        with Simulator(subject.traces) as simulator:
            answer = simulator.evaluate(request_for(resolved, subject.workload), **limits)
    result = {
        "status": answer["status"],
        "simulated_time": answer["simulated_time"],
        "cpu_seconds": answer["cpu_seconds"],
        "wall_seconds": answer["wall_seconds"],
        "peak_rss_bytes": answer["peak_rss_bytes"],
        "reason": answer["reason"],
        "finish_times": _finish_times(answer, subject.workload),
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
        for name, time in (result["finish_times"] or {}).items():
            click.echo(f"{name} finishes at {format_duration(time)}")
    if result["status"] in ("completed", "censored"):
        return 0
    raise HamtuneError(f"the evaluation is {result['status']}: {result['reason']['message']}")


COMMANDS = [evaluate]


def _finish_times(answer: Mapping[str, Any], workload: Workload | None) -> dict[str, float] | None:
    """When each of several applications has finished, by its name."""
    if workload is None or answer["status"] != "completed":
        return None
    names = [part["name"] for part in workload.parts]
    return dict(zip(names, answer["application_times"], strict=True))


@dataclass(frozen=True)
class _Subject:
    """What is simulated: the traces, and the applications where there are several."""

    traces: tuple[Path, ...]
    ranks: int
    calls: Mapping[str, Groups]
    workload: Workload | None = None


def _application(text: str, settings: Settings) -> _Subject:
    document: Any
    if _is_file(text) and Path(text).read_bytes()[:8] == b"HAMTRACE":
        document, folder = {"trace": text}, Path()
    elif (short := text.split("."))[0] in BUILTINS and not _is_file(text):
        document, folder = _short_form(short), Path()
    else:
        document, folder = _document(text)
    named = check_application(with_files(document, folder))
    if isinstance(named, TraceApplication):
        trace = _existing(folder, named)
        summary = trace_summary(trace)
        return _Subject((trace,), summary["ranks"], called_collectives(summary))
    return _stored(named, folder, settings)


def _existing(folder: Path, named: TraceApplication) -> Path:
    trace = folder / named.trace
    if not trace.is_file():
        raise InvalidInput(f"there is no file {trace}", field="trace")
    return trace


def _located(named: Application, folder: Path) -> Application:
    """The same with the paths of its traces seen from here.

    Raises:
        InvalidInput: A trace is not there, or a program is yet to be captured.
    """
    if isinstance(named, SourceApplication):
        raise InvalidInput("capture it first ('hamtune capture --source')", field="source")
    if isinstance(named, TraceApplication):
        return named.model_copy(update={"trace": str(_existing(folder, named))})
    if isinstance(named, JobWorkload):
        parts = [
            part.model_copy(update={"application": _located(part.application, folder)})
            for part in named.applications
        ]
        return named.model_copy(update={"applications": parts})
    return named


def _stored(named: Application, folder: Path, settings: Settings) -> _Subject:
    """The application in the data directory; a built-in program is captured there once."""
    from storage.storage import Storage
    from workers.prepare import check_captured, stored_application
    from workers.subject import traces_of, workload_of

    located = _located(named, folder)
    storage = Storage.open(settings.database_url, settings.artifacts_url)
    try:
        storage.upgrade()
        stored = stored_application(storage, located)
        check_captured(stored)
        return _Subject(
            traces_of(storage, stored),
            stored.ranks,
            called_collectives(stored.summary),
            workload_of(stored),
        )
    finally:
        storage.close()


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
