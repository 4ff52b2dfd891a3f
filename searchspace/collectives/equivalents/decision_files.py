"""A decision table as the file that an MPI library reads, and how it is told to."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from searchspace.collectives import COLLECTIVES
from searchspace.collectives.decision_table import DecisionTable
from searchspace.collectives.equivalents.equivalent import Target
from searchspace.collectives.equivalents.intelmpi_rules import adjustments
from searchspace.collectives.equivalents.mpich_selection import NAMED as NAMED_BY_MPICH
from searchspace.collectives.equivalents.mpich_selection import own_tree, selection
from searchspace.collectives.equivalents.openmpi_rules import (
    WITHOUT_SIZE,
    dynamic_rules_of,
)
from searchspace.errors import InvalidInput

__all__ = ["DECISION_FILES", "DecisionFile"]


@dataclass(frozen=True)
class DecisionFile:
    """How the libraries of one format are told of a table.

    Attributes:
        name: Of the file.
        write: Returns what is in it; takes the table, the target, the lines of its opening comment
            and the library's own file.
        install: What an administrator does with it.
        settings: The same for one run: variables of its environment, with `{file}` for the path;
            empty where the file is a script.
        without_size: Collectives for which the library does not look at the size of messages.
        is_for_commutative_only: Whether the file says nothing of reductions by operations that do
            not commute.
        own_file: What has to be known of the installed library; empty where nothing has to.
        named: The collectives that the file can name.
    """

    name: str
    write: Callable[[DecisionTable, Target, list[str], Path | None], str]
    install: str
    settings: Mapping[str, str] = field(default_factory=dict)
    without_size: tuple[str, ...] = ()
    is_for_commutative_only: bool = False
    own_file: str = ""
    named: Collection[str] = tuple(COLLECTIVES)


def _comment(lines: list[str]) -> str:
    return "".join(f"# {line}\n" for line in lines)


def _openmpi(table: DecisionTable, target: Target, origin: list[str], _own: Path | None) -> str:
    return _comment(origin) + dynamic_rules_of(table, target)


def _intelmpi(table: DecisionTable, target: Target, origin: list[str], _own: Path | None) -> str:
    values = adjustments(table, target)
    return _comment(origin) + "".join(f"export {key}='{value}'\n" for key, value in values.items())


def _mpich(table: DecisionTable, target: Target, origin: list[str], own: Path | None) -> str:
    # JSON has no comments, and the library takes no key that is no condition: no origin.
    if own is None:
        raise InvalidInput("the library's own tree is needed", field="library")
    return json.dumps(selection(table, target, own_tree(own)), indent=1) + "\n"


DECISION_FILES: Mapping[str, DecisionFile] = {
    "openmpi": DecisionFile(
        "dynamic-rules.conf",
        _openmpi,
        """\
In openmpi-mca-params.conf of the installation, or in ~/.openmpi/mca-params.conf of a user:
    coll_tuned_use_dynamic_rules = 1
    coll_tuned_dynamic_rules_filename = /where/it/is/dynamic-rules.conf
    coll_han_priority = 0
The last line is for Open MPI 5, where the component han would choose before tuned does. A file that
is not there is ignored without a word: ompi_info --param coll tuned --level 9 shows what was read.
""",
        settings={
            "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
            "OMPI_MCA_coll_tuned_dynamic_rules_filename": "{file}",
            "OMPI_MCA_coll_han_priority": "0",
        },
        without_size=WITHOUT_SIZE,
    ),
    "mpich": DecisionFile(
        "coll-selection.json",
        _mpich,
        """\
In the environment of programs, as in a module file:
    MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=/where/it/is/coll-selection.json
    MPIR_CVAR_DEVICE_COLLECTIVES=none
The file is for the release whose library was read: others may know other operations, and a program
stops at one that the file has not.
""",
        settings={
            "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": "{file}",
            "MPIR_CVAR_DEVICE_COLLECTIVES": "none",
        },
        without_size=("gather", "scatter"),  # of which its tree tells nothing
        is_for_commutative_only=True,
        own_file="libmpich.so of the cluster, or generic.json of its sources",
        named=NAMED_BY_MPICH,
    ),
    "intelmpi": DecisionFile(
        "adjust.sh",
        _intelmpi,
        """\
Read it where programs are started, as in a module file: . /where/it/is/adjust.sh
The names are those of the reference manual; the library was not run.
""",
    ),
}
"""By `Target.format`; there is none for MVAPICH2, whose ranges have no public form."""
