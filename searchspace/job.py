"""Reading jobs: new ones, as users write them, and those that are stored.

What a job leaves open means in a new one what is best today, and in a stored one what it meant when
it was stored. Stored jobs say all that may change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from searchspace.documents import read_document
from searchspace.errors import InvalidDocument, InvalidInput
from searchspace.jobspace import BuiltSpace, build_space
from searchspace.jobspec import JobSpec, Reference, Workload
from searchspace.terms import asks_for_prices
from searchspace.units import memory_limit
from searchspace.validation import check
from searchspace.workload import worlds

__all__ = [
    "NEW_NETWORK",
    "BuiltSpace",
    "JobSpec",
    "build_space",
    "load_job",
    "load_new_job",
    "with_parts",
]

NEW_NETWORK = "auto"
"""`machine.network` of new jobs that do not say one."""


def load_new_job(document: str | bytes | Mapping[str, Any]) -> JobSpec:
    """Reads a job that somebody hands in, as `load_job` does.

    Where it describes a machine and not its network model, that is `auto`; where it asks for the
    price of networks and does not say that of parts, that is as in a machine's empty `parts`. A
    machine that it refers to stays as it was stored (and `with_parts` adds what parts cost). Its
    limit of memory is at least `LEAST_MEMORY`, below which no simulator fits.

    Raises:
        InvalidInput: As `load_job` does.
    """
    if isinstance(document, str | bytes):
        document = read_document(document)
    if isinstance(document, Mapping):
        machine = document.get("machine")
        if isinstance(machine, Mapping) and "id" not in machine:
            machine = {"network": NEW_NETWORK, **machine}
            if asks_for_prices(document):
                machine = {"parts": {}, **machine}  # with what they are today
            document = {**document, "machine": machine}
    spec = load_job(document)
    try:
        memory_limit(spec.limits.memory)  # of stored jobs it may be less
    except InvalidInput as error:
        raise InvalidInput(error.message, field="limits.memory") from None
    return spec


def with_parts(spec: JobSpec) -> JobSpec:
    """A job that asks for the price of networks with that of parts, as it is today.

    For one whose machine was stored without them: a job that is stored says all that may change.

    Raises:
        InvalidInput: As `load_job` does.
    """
    document = spec.canonical()
    if not asks_for_prices(document) or spec.described_machine.parts is not None:
        return spec
    return load_job({**document, "machine": {**document["machine"], "parts": {}}})


def load_job(document: str | bytes | Mapping[str, Any]) -> JobSpec:
    """Reads a stored job and checks all that can be checked without what it refers to by id.

    Args:
        document: YAML or JSON text, or what is in it.

    Raises:
        InvalidInput: It is not a job that can be run; one line that names the field and what is
            allowed there.
    """
    if isinstance(document, str | bytes):
        document = read_document(document)
    if not isinstance(document, Mapping):
        raise InvalidInput("a job is a group of fields: name, application, machine, search, budget")
    try:
        spec = check(JobSpec, dict(document))
    except InvalidInput as error:
        raise _as_written(error, document) from None
    known = spec.known_worlds
    if known is not None and not isinstance(spec.machine, Reference):
        several = isinstance(spec.application, Workload)
        build_space(spec, sum(known), worlds(known) if several else None)
    return spec


def _as_written(error: InvalidInput, document: Mapping[str, Any]) -> InvalidInput:
    """Names fields as the document does, which may have several applications at its top."""
    if "applications" not in document or "application" in document:
        return error
    mistakes = error.errors if isinstance(error, InvalidDocument) else (error,)
    named = [
        InvalidInput(one.message, field=one.field and one.field.removeprefix("application."))
        for one in mistakes
    ]
    return InvalidDocument(named) if len(named) > 1 else named[0]
