"""What the sections of a job demand of each other."""

from __future__ import annotations

from searchspace.collectives.equivalents import TARGETS
from searchspace.jobspec.application import Workload
from searchspace.jobspec.document import JobDocument
from searchspace.jobspec.limits import Limits
from searchspace.machine import Machine
from searchspace.platform import GIVEN
from searchspace.validation import field_error, field_errors

__all__ = ["MODEL", "check_consistent", "without_model"]

MODEL = "Surrogate"
"""The search technique that learns a model of simulated time."""


def check_consistent(document: JobDocument) -> None:
    """Raises pydantic's error about the first section that does not go with another one."""
    for check in (
        _check_until,
        _check_cutoff,
        _check_objective,
        _check_learning,
        _check_finalists,
        _check_external,
    ):
        check(document)


def _check_until(document: JobDocument) -> None:
    without = None if document.external == "proposals" else without_model(document)
    if document.budget.until is not None and without is not None:
        raise field_error("; ".join(filter(None, without)), "budget.until")


def _check_cutoff(document: JobDocument) -> None:
    adaptive = document.cutoff == "adaptive"
    if adaptive and document.cutoff_factor is None:
        message = "is adaptive, and without a cutoff_factor every trial runs to its end; set one"
        raise field_error(message, "cutoff")
    if not adaptive and document.completed_share is not None:
        raise field_error("counts only with cutoff: adaptive; add that", "completed_share")


def without_model(document: JobDocument) -> tuple[str, str] | None:
    """Why no model tells what more trials would bring, and what helps; None where one does."""
    if document.external == "proposals":
        return "a script proposes, and no model sees to it", ""
    if any(choice.method is None for choice in document.search.mappers):
        remedy = "leave it out, or search no permutation"
        return "a model says little of permutations", remedy
    if MODEL not in (document.techniques or [MODEL]):
        why = f"needs the technique {MODEL}, whose model tells it"
        return why, "add it to 'techniques'"
    if document.cutoff_factor is not None and document.cutoff_factor <= 1:
        return "a model learns next to nothing where cutoff_factor is not above 1", ""
    if len(document.objective) > 1:
        remedy = "leave it out, or take patience"
        return "a model of time tells nothing of how a front of two objectives grows", remedy
    return None


def _check_objective(document: JobDocument) -> None:
    if len(document.objective) == 1:
        return
    wrong: list[tuple[str, str]] = []
    if any(choice.method is None for choice in document.search.mappers):
        message = "a model of two objectives says little of permutations; search none"
        wrong.append(("search.mapping", message))
    if MODEL not in (document.techniques or [MODEL]):
        message = f"two objectives need {MODEL}, which weighs them; add it"
        wrong.append(("techniques", message))
    if document.fidelity == "auto":
        message = "two objectives need the whole trace for every trial; leave it out"
        wrong.append(("fidelity", message))
    if wrong:
        raise field_errors(wrong)


def _check_learning(document: JobDocument) -> None:
    if document.learn_from == "none":
        return
    permuted = any(choice.method is None for choice in document.search.mappers)
    if MODEL not in (document.techniques or ([] if permuted else [MODEL])):
        message = f"needs the technique {MODEL}, whose model learns; add it to 'techniques'"
        raise field_error(message, "learn_from")


def _check_finalists(document: JobDocument) -> None:
    if document.finalists is None:
        return
    if isinstance(document.application, Workload):
        message = "several applications at once cannot be measured; leave it out"
        raise field_error(message, "finalists")
    given = document.search.topology in (None, [GIVEN])
    if not given or (
        isinstance(document.machine, Machine) and document.machine.given_network is None
    ):
        message = "a cluster has one network: give it as machine.topology, and search no others"
        raise field_error(message, "finalists")
    if document.search.by_size and TARGETS[document.finalists.target].format != "openmpi":
        title = TARGETS[document.finalists.target].title
        message = f"agents do not set algorithms by size for {title}; leave one of the two out"
        raise field_error(message, "search.by_size")


def _check_external(document: JobDocument) -> None:
    if document.external is None:
        return
    proposes = document.external == "proposals"
    wrong = _wrong_with_proposals(document) if proposes else _wrong_with_measurements(document)
    if document.fidelity == "auto":
        wrong.append(("fidelity", "a script is told whole times; leave it out"))
    if document.refinement:
        wrong.append(("refinement", f"is no part of a job with external: {document.external}"))
    if wrong:
        raise field_errors(wrong)


def _wrong_with_proposals(document: JobDocument) -> list[tuple[str, str]]:
    """What makes no sense where a script proposes, as (field, message)."""
    wrong = []
    if document.techniques is not None:
        wrong.append(("techniques", "a script proposes all configurations; leave it out"))
    if document.budget.until is not None:
        wrong.append(("budget.until", "needs the model of our search, and a script proposes"))
    if document.learn_from != "none":
        wrong.append(("learn_from", "a script proposes, and no model learns; leave it out"))
    if len(document.objective) > 1 and document.cutoff_factor is not None:
        message = "what a script proposes has no bound with two objectives; leave it out"
        wrong.append(("cutoff_factor", message))
    return wrong


def _wrong_with_measurements(document: JobDocument) -> list[tuple[str, str]]:
    """What makes no sense where a script measures, as (field, message)."""
    wrong = []
    if document.budget.cpu_seconds is not None:
        wrong.append(("budget.cpu_seconds", "nothing is simulated; use trials or wall_seconds"))
    if document.finalists is not None:
        wrong.append(("finalists", "a script measures every trial; leave it out"))
    if document.concurrency is not None:
        message = "workers evaluate nothing; batch says how many trials a script may have at once"
        wrong.append(("concurrency", message))
    if document.batch == "auto":
        message = "no worker evaluates anything; say how many trials may be out at once"
        wrong.append(("batch", message))
    if document.limits != Limits():
        wrong.append(("limits", "are those of the simulator; let the script limit its runs"))
    return wrong
