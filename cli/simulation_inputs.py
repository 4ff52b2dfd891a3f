"""What a command is told to simulate: an application, and documents in files or written out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.application_files import with_files
from cli.machine_files import read_description, with_network
from searchspace.builtins import BUILTINS
from searchspace.collectives import Groups, called_collectives, non_commutative_reductions
from searchspace.collectives.by_size import SizeBins, sizes_called
from searchspace.configuration import Configuration
from searchspace.documents import read_document
from searchspace.errors import InvalidInput
from searchspace.formats.plain_file import check_file, check_plain
from searchspace.jobspec import (
    Application,
    ExtrapolatedApplication,
    SourceApplication,
    TraceApplication,
    check_application,
)
from searchspace.jobspec import Workload as JobWorkload
from searchspace.kernels import trace_summary
from searchspace.machine import Machine, parse_machine
from service.settings import Settings

if TYPE_CHECKING:
    from storage.records import Application as StoredApplication
    from storage.storage import Storage
    from workers.tuning_problem import Workload

__all__ = [
    "NotCaptured",
    "TracedApplication",
    "application_option",
    "located",
    "located_application",
    "machine_option",
    "read_application",
    "read_configuration",
    "read_machine",
    "read_quantity",
    "traced_application",
]

application_option = click.option(
    "--application",
    metavar="A",
    required=True,
    help="A trace file, a built-in program as NAME.CLASS.RANKS, or what a job file has under "
    "'application', in a file or written out.",
)
machine_option = click.option(
    "--machine",
    metavar="M",
    required=True,
    help="What a job file has under 'machine', in a file or written out.",
)


@dataclass(frozen=True)
class TracedApplication:
    """What is simulated: the traces, and the applications where there are several.

    Those of its reductions that are `non_commutative` have operations that do not commute; None
    where that is not known, as the `sizes` at which it calls collectives may not be. All ranks
    together make `mpi_calls`.
    """

    traces: tuple[Path, ...]
    ranks: int
    calls: Mapping[str, Groups]
    mpi_calls: int
    non_commutative: frozenset[str] | None = None
    workload: Workload | None = None
    sizes: Mapping[str, SizeBins] | None = None


def read_application(text: str, settings: Settings) -> TracedApplication:
    """Reads `--application`: a trace, the short form of a built-in program, or a document.

    Raises:
        InvalidInput: It is none of these, or has no trace yet.
    """
    with _naming("--application"):
        return _application(text, settings)


def _application(text: str, settings: Settings) -> TracedApplication:
    document: Any
    if _is_file(text) and Path(text).read_bytes()[:8] == b"HAMTRACE":
        document, folder = {"trace": text}, Path()
    elif (short := text.split("."))[0] in BUILTINS and not _is_file(text):
        document, folder = _short_form(short), Path()
    else:
        document, folder = _read_given(text)
        if isinstance(document, list):
            document = {"applications": document}
    return located_application(check_application(with_files(document, folder)), folder, settings)


def located_application(named: Application, folder: Path, settings: Settings) -> TracedApplication:
    """The traces of an application; a built-in program is captured once.

    Args:
        named: What is described.
        folder: Where its relative paths begin.
        settings: Where captures are kept.

    Raises:
        InvalidInput: It has no trace yet.
    """
    if isinstance(named, TraceApplication):
        trace = _existing(folder, named)
        summary = trace_summary(trace)
        return _traced((trace,), summary["ranks"], summary)
    return _stored(named, folder, settings)


def _existing(folder: Path, named: TraceApplication) -> Path:
    trace = folder / named.trace
    check_file(trace, field="trace")
    return trace


class NotCaptured(InvalidInput):
    """The application is a program of one's own that has no trace yet."""


def located(named: Application, folder: Path) -> Application:
    """The same with the paths of its traces seen from here.

    Raises:
        NotCaptured: A program is yet to be captured.
        InvalidInput: A trace or a source tree is not there.
    """
    if isinstance(named, SourceApplication):
        if not (folder / named.source).exists():
            raise InvalidInput(f"there is no directory {named.source}", field="source")
        raise NotCaptured("capture it first ('hamtune capture --source')", field="source")
    if isinstance(named, TraceApplication):
        return named.model_copy(update={"trace": str(_existing(folder, named))})
    if isinstance(named, ExtrapolatedApplication):
        captures = [located(capture, folder) for capture in named.extrapolate.captures]
        smaller = named.extrapolate.model_copy(update={"captures": captures})
        return named.model_copy(update={"extrapolate": smaller})
    if isinstance(named, JobWorkload):
        parts = [
            part.model_copy(update={"application": located(part.application, folder)})
            for part in named.applications
        ]
        return named.model_copy(update={"applications": parts})
    return named


def _stored(named: Application, folder: Path, settings: Settings) -> TracedApplication:
    """The application in the data directory; a built-in program is captured there once."""
    from storage.storage import Storage
    from workers.applications import check_captured, stored_application

    found = located(named, folder)
    storage = Storage.open(settings.database_url, settings.artifacts_url, cache=settings.cache)
    try:
        storage.upgrade()
        stored = stored_application(storage, found)
        check_captured(stored)
        return traced_application(storage, stored)
    finally:
        storage.close()


def traced_application(storage: Storage, stored: StoredApplication) -> TracedApplication:
    """The traces of an application in a data directory.

    Raises:
        HamtuneError: One is not there.
    """
    from storage.traces import traces_of
    from workers.tuning_problem import workload_of

    traces = traces_of(storage, stored)
    return _traced(traces, stored.ranks, stored.summary, workload_of(stored))


def _traced(
    traces: tuple[Path, ...],
    ranks: int,
    summary: Mapping[str, Any],
    workload: Workload | None = None,
) -> TracedApplication:
    return TracedApplication(
        traces,
        ranks,
        called_collectives(summary),
        sum(summary["calls"].values()),
        non_commutative_reductions(summary),
        workload,
        sizes_called(summary),
    )


def _short_form(words: list[str]) -> dict[str, Any]:
    """`cg.S.16` and, for the program without classes, `mm.16` or `mm.500.16`."""
    name, *rest = words
    if not rest or not rest[-1].isdigit() or len(rest) > 2:
        raise InvalidInput(f"write a built-in program as {name}.CLASS.RANKS, such as cg.A.64")
    document: dict[str, Any] = {"builtin": name, "ranks": int(rest[-1])}
    if len(rest) == 2:
        document |= {"n": int(rest[0])} if rest[0].isdigit() else {"class": rest[0]}
    return document


def read_machine(text: str, *, argument: str = "--machine", instead: str = "") -> Machine:
    """Reads `--machine`: what a job file has under `machine`, with the files that it names.

    Args:
        text: The name of a file, or the description itself.
        argument: What it is called on the command line.
        instead: What else the command takes that one may mean who gives a job file.

    Raises:
        InvalidInput: It is no machine.
    """
    is_file = _is_file(text)
    with _naming(argument):
        if is_file:
            document = read_description(Path(text).read_bytes(), text, of="machine")
        else:
            document = _read_given(text)[0]
        if isinstance(document, Mapping) and {"machine", "application"} & document.keys():
            what = text if is_file else "this"
            raise InvalidInput(f"{what} is a job file; give what it has under 'machine'{instead}")
        return parse_machine(with_network(document, Path(text).parent if is_file else Path()))


def read_configuration(text: str) -> Configuration:
    """Reads `--configuration`: parameters and values, or the answer of `hamtune best`.

    Raises:
        InvalidInput: It is no configuration.
    """
    with _naming("--configuration"):
        chosen = _read_given(text)[0]
        if isinstance(chosen, Mapping) and isinstance(chosen.get("configuration"), Mapping):
            chosen = chosen["configuration"]
        return Configuration.from_json(chosen)


def _read_given(text: str) -> tuple[Any, Path]:
    """A YAML or JSON document in a file or written out, and the folder that its paths are in."""
    if _is_file(text):
        return read_document(Path(text).read_bytes()), Path(text).parent
    if text.lstrip().startswith(("{", "[")):
        return read_document(text), Path()
    raise InvalidInput(f"there is no file {text}, and it is not written out as {{name: value}}")


def _is_file(text: str) -> bool:
    check_plain(Path(text))
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def read_quantity(option: str, parse: Any, text: str | None) -> Any:
    """Reads an option with a unit; None where it is not given.

    Raises:
        InvalidInput: It is not above zero.
    """
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
