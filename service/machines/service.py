"""Storing machine descriptions."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import StringConstraints

from searchspace import machine
from searchspace.validation import Description, check
from storage.records import Machine
from storage.view import StorageView

__all__ = ["NewMachine", "create"]


class NewMachine(Description):
    """A machine description and what to call it."""

    name: Annotated[
        str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]+$")
    ]
    """For people; need not be unique."""
    machine: machine.Machine
    """The description; quantities may have units."""


def create(storage: StorageView, document: Any) -> Machine:
    """Check a document and store its machine under its name.

    Raises:
        InvalidInput: A field is missing, unknown or wrong.
    """
    new = check(NewMachine, document)
    return storage.machines.add(name=new.name, description=new.machine.canonical())
