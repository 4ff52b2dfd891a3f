"""The stored applications that jobs name: captured, written or extrapolated once, then kept."""

from __future__ import annotations

import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from searchspace.collectives import non_commutative_reductions
from searchspace.collectives.by_size import merged_sizes, sizes_called
from searchspace.configuration import canonical_json, sha256_of
from searchspace.errors import InvalidInput
from searchspace.extrapolation import EDITION
from searchspace.formats.patterns import Pattern, pattern_trace
from searchspace.formats.plain_file import check_file
from searchspace.formats.source_archive import pack
from searchspace.formats.trace import describe_trace
from searchspace.jobspec import Application as AnyApplication
from searchspace.jobspec import (
    BuiltinApplication,
    ExtrapolatedApplication,
    SingleApplication,
    SourceApplication,
    TraceApplication,
    Workload,
)
from searchspace.kernels import trace_summary
from searchspace.workload import communicators
from storage.records import Application, ApplicationKind
from storage.traces import traces_of
from storage.view import StorageView
from workers.capture import builtin_sha256, capture_builtin
from workers.capture_source import check_run
from workers.extrapolating import extrapolate_within

__all__ = [
    "add_source",
    "add_trace",
    "builtin_application",
    "check_captured",
    "extrapolated_application",
    "pattern_application",
    "stored_application",
    "with_sizes",
    "workload",
]

_SUMMED = ("operations", "messages", "bytes", "flops")


def stored_application(
    storage: StorageView, named: AnyApplication, stop: threading.Event | None = None
) -> Application:
    """The stored one of what a job names; a built-in program is captured the first time.

    One made from a source tree may be yet to be captured.

    Raises:
        InvalidInput: The program or the trace cannot be used.
        CaptureFailed: The program could not be compiled or run.
        NotFound: It refers to an application that is not stored.
        Interrupted: It was stopped.
    """
    if isinstance(named, Workload):
        return workload(storage, named, stop)
    return _single_application(storage, named, stop)


def _single_application(
    storage: StorageView, named: SingleApplication, stop: threading.Event | None = None
) -> Application:
    if isinstance(named, BuiltinApplication):
        return builtin_application(storage, named, stop)
    if isinstance(named, TraceApplication):
        return add_trace(storage, Path(named.trace))
    if isinstance(named, SourceApplication):
        return add_source(storage, Path(named.source), named)[0]
    if isinstance(named, Pattern):
        return pattern_application(storage, named)
    if isinstance(named, ExtrapolatedApplication):
        return extrapolated_application(storage, named, stop)
    return storage.applications.get(named.id)


def workload(storage: StorageView, named: Workload, stop: threading.Event | None) -> Application:
    """The stored application that stands for several: a list of their traces.

    Raises:
        As `stored_application`; InvalidInput also where one of them is a workload itself, or
            has no trace yet.
    """
    parts = []
    stored = []
    calls: Counter[str] = Counter()
    sums: Counter[str] = Counter()
    for part in named.applications:
        application = _single_application(storage, part.application, stop)
        if application.kind == "workload":
            raise InvalidInput(f"'{part.name}' is itself several", field="applications")
        check_captured(application)
        stored.append(application)
        parts.append(
            {
                "name": part.name,
                "application": application.name,
                "trace_sha256": application.trace_sha256,
                "ranks": application.ranks,
                "start": part.start,
                "weight": part.weight if named.objective == "weighted" else 1.0,
            }
        )
        calls.update(application.summary["calls"])
        sums.update({name: application.summary.get(name, 0) for name in _SUMMED})
    objective = "last" if named.objective == "max" else "mean"
    listing = {"applications": parts, "objective": objective}
    with tempfile.TemporaryDirectory(prefix="hamtune-prepare-") as directory:
        file = Path(directory) / "workload.json"
        file.write_text(canonical_json(listing))
        digest = storage.artifacts.put(file)
    return storage.applications.add(
        name=" + ".join(str(part["application"]) for part in parts),
        kind="workload",
        key=f"workload:{digest}",
        trace_sha256=digest,
        ranks=sum(int(str(part["ranks"])) for part in parts),
        summary={
            **sums,
            "calls": dict(calls),
            "communicators": communicators([application.summary for application in stored]),
            **_non_commutative(stored),
            **listing,
        },
    )


def _non_commutative(stored: Sequence[Application]) -> dict[str, list[str]]:
    """The reductions that do not commute in one of several; nothing where one does not tell."""
    named = [non_commutative_reductions(one.summary) for one in stored]
    known = [names for names in named if names is not None]
    if len(known) < len(named):
        return {}
    return {"non_commutative": sorted(frozenset[str]().union(*known))}


def with_sizes(storage: StorageView, application: Application) -> Application:
    """The application with the sizes at which it calls collectives in its summary.

    Programs that were stored before these were listed, and several at once, get them here.

    Raises:
        HamtuneError: A trace is not there or cannot be read.
    """
    if sizes_called(application.summary) is not None:
        return application
    found = [trace_summary(path)["sizes"] for path in traces_of(storage, application)]
    return storage.applications.add_to_summary(application.id, sizes=merged_sizes(found))


def check_captured(application: Application) -> None:
    """Check that an application has its trace.

    Raises:
        InvalidInput: It has none yet.
    """
    if application.state != "ready":
        raise InvalidInput(
            f"application {application.id} is {application.state}: it has no trace yet; run a job "
            "with it, or 'hamtune capture --source'"
        )


def builtin_application(
    storage: StorageView, named: BuiltinApplication, stop: threading.Event | None = None
) -> Application:
    """The stored application of a built-in program, captured the first time it is named.

    Raises:
        InvalidInput: The program refuses its parameters or ranks.
        CaptureFailed: It could not be run.
    """
    run = named.run

    def capture(trace: Path) -> _Made:
        parameters = dict(run.parameters)
        class_ = parameters.pop("class", None)
        size = None if class_ is None else str(class_)
        capture_builtin(run.program, size, run.ranks, parameters, trace, stop=stop)
        return _Made(run.key)

    key = f"{run.key}:program={builtin_sha256(run.program)}"
    return _made_once(storage, "builtin", key, capture)


def pattern_application(storage: StorageView, named: Pattern) -> Application:
    """The stored application of a synthetic workload, whose trace is written once.

    Raises:
        InvalidInput: Its trace would be too large.
    """

    def write(trace: Path) -> _Made:
        try:
            pattern_trace(named, trace)
        except InvalidInput as error:
            raise InvalidInput(error.message, field="application") from error
        return _Made(named.key)

    return _made_once(storage, "pattern", f"pattern:{named.key}", write)


def extrapolated_application(
    storage: StorageView, named: ExtrapolatedApplication, stop: threading.Event | None = None
) -> Application:
    """The stored application that follows from smaller captures, whose trace is written once.

    Raises:
        As `stored_application`; InvalidInput also where the captures follow no pattern,
            CaptureFailed where looking for it met a limit.
    """
    captures = [
        _single_application(storage, capture, stop) for capture in named.extrapolate.captures
    ]
    for capture in captures:
        if capture.kind == "workload":
            raise InvalidInput(f"'{capture.name}' is several", field="application.extrapolate")
        check_captured(capture)
    digests = sorted(capture.trace_sha256 for capture in captures)

    def follow(trace: Path) -> _Made:
        try:
            made = extrapolate_within(
                [storage.artifacts.path(digest) for digest in digests],
                named.ranks,
                trace,
                stop=stop,
            )
        except InvalidInput as error:
            raise InvalidInput(error.message, field="application.extrapolate") from error
        return _Made(f"{{program}}, extrapolated to {named.ranks} ranks", {"extrapolated": made})

    key = f"extrapolated:{sha256_of([EDITION, named.ranks, digests])}"
    return _made_once(storage, "extrapolated", key, follow)


@dataclass(frozen=True)
class _Made:
    """What is said of a trace that was made: a name with `{program}` in it, and more to tell."""

    name: str
    more: Mapping[str, Any] = field(default_factory=dict)


def _made_once(
    storage: StorageView, kind: ApplicationKind, key: str, make: Callable[[Path], _Made]
) -> Application:
    """The stored application of that key, whose trace is made and kept where there is none."""
    known = storage.applications.find(key)
    if known is not None:
        return known
    with tempfile.TemporaryDirectory(prefix="hamtune-prepare-") as directory:
        trace = Path(directory) / "trace.ht"
        made = make(trace)
        summary = describe_trace(trace)
        return storage.applications.add(
            name=made.name.replace("{program}", summary["program"]),
            kind=kind,
            key=key,
            trace_sha256=storage.artifacts.put(trace),
            ranks=summary["ranks"],
            summary={**summary, **made.more},
        )


def add_trace(storage: StorageView, trace: Path) -> Application:
    """Check a trace and store it as an application, named by its program.

    Raises:
        InvalidInput: The file does not exist, is no trace, or cannot be replayed.
    """
    check_file(trace, field="application.trace")
    summary = describe_trace(trace)
    digest = storage.artifacts.put(trace)
    return storage.applications.add(
        name=summary["program"],
        kind="trace",
        key=f"trace:{digest}",
        trace_sha256=digest,
        ranks=summary["ranks"],
        summary=summary,
    )


def add_source(
    storage: StorageView, source: Path, named: SourceApplication, *, name: str | None = None
) -> tuple[Application, bool]:
    """Store a source tree and the application that is to be captured from it.

    Args:
        storage: Where to.
        source: A directory or an archive.
        named: How it is built and run; the path in it is not looked at.
        name: What to call the application; by default the program's name.

    Returns:
        The application, which may be an old one, and whether it is new.

    Raises:
        InvalidInput: The source cannot be used.
    """
    program = check_run(named.run)
    with tempfile.TemporaryDirectory(prefix="hamtune-source-") as directory:
        packed = Path(directory) / "source.tar.gz"
        try:
            pack(source, packed)
        except InvalidInput as error:
            raise InvalidInput(error.message, field="source") from error
        recipe = named.recipe(storage.artifacts.put(packed))
    key = f"source:{sha256_of(recipe)}"
    known = storage.applications.find(key)
    if known is not None:
        return known, False
    added = storage.applications.add_source(
        name=name or Path(program).name, key=key, recipe=recipe, ranks=recipe["ranks"]
    )
    return added, True
