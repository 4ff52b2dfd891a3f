"""Making a job ready: its application captured or checked, its space built."""

from __future__ import annotations

import logging
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from searchspace.collectives import called_collectives
from searchspace.configuration import canonical_json
from searchspace.errors import HamtuneError, InvalidInput
from searchspace.job import JobSpec, build_space
from searchspace.jobspec import (
    BuiltinApplication,
    SingleApplication,
    TraceApplication,
    Workload,
)
from searchspace.kernels import CannotCut, trace_summary
from searchspace.truncation import truncate
from searchspace.workload import communicators
from storage.errors import Conflict, NotFound, Unavailable
from storage.records import FINAL_JOB_STATES, Application
from storage.storage import Storage
from workers.capture import capture_builtin
from workers.subject import read_spec

__all__ = ["add_trace", "application_of", "builtin_application", "prepare_job"]

_SUMMED = ("operations", "messages", "bytes", "flops")

MOST_SHARE = 0.5
"""The largest part of a trace that may remain for a search on it to be worth its verification."""

log = logging.getLogger("hamtune.workers")


def prepare_job(storage: Storage, job_id: str) -> None:
    """Find a job's application and space and store both; where that fails, so does the job.

    A job that is gone, has ended or is prepared already is left alone, so that a message which
    arrives twice does no harm.
    """
    try:
        job = storage.get_job(job_id)
    except NotFound:
        log.debug("job %s is gone", job_id)
        return
    if job.space is not None or job.state in FINAL_JOB_STATES:
        return
    try:
        spec = read_spec(storage, job)
        application = application_of(storage, spec)
        called = called_collectives(application.summary)
        space = build_space(spec, application.ranks, called).describe()
        if spec.fidelity == "auto":
            space["fidelity"] = truncated_trace(storage, application)
        storage.set_job_prepared(job_id, application_id=application.id, space=space)
    except Unavailable:
        raise
    except Conflict as error:
        log.info("%s", error)
    except HamtuneError as error:
        _fail(storage, job_id, str(error))
    except Exception as error:
        log.exception("job %s cannot be prepared", job_id)
        _fail(storage, job_id, f"internal error: {error!r}")


def truncated_trace(storage: Storage, application: Application) -> dict[str, Any]:
    """Cut the loops of an application's trace short, and store what is left.

    Returns:
        `trace_sha256` (None where only the whole trace will do), `share` of the operations kept,
        and `obstacle`, why the whole trace is needed.
    """
    if application.kind == "workload":
        obstacle = "several applications run at once, whose iterations meet differently every time"
        return {"trace_sha256": None, "share": None, "obstacle": obstacle}
    whole = storage.artifact_path(application.trace_sha256)
    with tempfile.TemporaryDirectory(prefix="hamtune-prepare-") as directory:
        short = Path(directory) / "truncated.ht"
        try:
            share = truncate(whole, short).share
        except CannotCut as error:
            return {"trace_sha256": None, "share": None, "obstacle": str(error)}
        if share > MOST_SHARE:
            obstacle = (
                f"{share:.0%} of the trace would remain, at most {MOST_SHARE:.0%} are worth it"
            )
            return {"trace_sha256": None, "share": share, "obstacle": obstacle}
        digest = storage.put_artifact(short)
    return {"trace_sha256": digest, "share": share, "obstacle": None}


def _fail(storage: Storage, job_id: str, message: str) -> None:
    try:
        storage.transition(job_id, "failed", error=message)
    except (Conflict, NotFound) as late:
        log.info("%s", late)


def application_of(storage: Storage, spec: JobSpec) -> Application:
    """The stored application of a job; a built-in program is captured the first time it is named.

    Raises:
        InvalidInput: The program or the trace cannot be used.
        CaptureFailed: The program could not be compiled or run.
        NotFound: The job refers to an application that is not stored.
    """
    if isinstance(spec.application, Workload):
        return workload(storage, spec.application)
    return _single_application(storage, spec.application)


def _single_application(storage: Storage, named: SingleApplication) -> Application:
    if isinstance(named, BuiltinApplication):
        return builtin_application(storage, named)
    if isinstance(named, TraceApplication):
        return add_trace(storage, Path(named.trace))
    return storage.get_application(named.id)


def workload(storage: Storage, named: Workload) -> Application:
    """The stored application that stands for several: a list of their traces.

    Raises:
        As `application_of`; InvalidInput also where one of them is a workload itself.
    """
    parts = []
    stored = []
    calls: Counter[str] = Counter()
    sums: Counter[str] = Counter()
    for part in named.applications:
        application = _single_application(storage, part.application)
        if application.kind == "workload":
            raise InvalidInput(f"'{part.name}' is itself several", field="applications")
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
        digest = storage.put_artifact(file)
    return storage.add_application(
        name=" + ".join(str(part["application"]) for part in parts),
        kind="workload",
        key=f"workload:{digest}",
        trace_sha256=digest,
        ranks=sum(int(str(part["ranks"])) for part in parts),
        summary={
            **sums,
            "calls": dict(calls),
            "communicators": communicators([application.summary for application in stored]),
            **listing,
        },
    )


def builtin_application(storage: Storage, named: BuiltinApplication) -> Application:
    """The stored application of a built-in program, captured the first time it is named.

    Raises:
        InvalidInput: The program refuses its parameters or ranks.
        CaptureFailed: It could not be compiled or run.
    """
    run = named.run
    known = storage.find_application(run.key)
    if known is not None:
        return known
    with tempfile.TemporaryDirectory(prefix="hamtune-prepare-") as directory:
        trace = Path(directory) / "trace.ht"
        parameters = dict(run.parameters)
        class_ = parameters.pop("class", None)
        capture_builtin(
            run.program, None if class_ is None else str(class_), run.ranks, parameters, trace
        )
        return storage.add_application(
            name=run.key,
            kind="builtin",
            key=run.key,
            trace_sha256=storage.put_artifact(trace),
            ranks=run.ranks,
            summary=dict(trace_summary(trace)),
        )


def add_trace(storage: Storage, trace: Path) -> Application:
    """Check a trace and store it as an application, named by its program.

    Raises:
        InvalidInput: The file does not exist, is no trace, or cannot be replayed.
    """
    if not trace.is_file():
        raise InvalidInput(f"there is no file {trace}", field="application.trace")
    summary = trace_summary(trace)
    digest = storage.put_artifact(trace)
    return storage.add_application(
        name=summary["program"],
        kind="trace",
        key=f"trace:{digest}",
        trace_sha256=digest,
        ranks=summary["ranks"],
        summary=dict(summary),
    )
