"""The applications of Hu (2023), table 1, on 64 nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from studies.laboratory import Laboratory
from studies.recordings import Program

__all__ = ["NODES", "hu_programs"]

NODES = 64

_CLASSES = ("ft", "is", "cg", "bt", "sp", "mg", "lu")


def hu_programs(laboratory: Laboratory, names: Sequence[str]) -> dict[str, Program]:
    """Captures applications of table 1: class A and matrices of 1,000 x 1,000; quick: smaller."""
    quick = laboratory.quick
    sizes: Mapping[str, Mapping[str, Any]] = {
        **{name: {"class": "S" if quick else "A"} for name in _CLASSES},
        "mm": {"n": 250 if quick else 1000},
        "graph500": {"scale": 8, "searches": 4} if quick else {"scale": 12},
    }
    return {name: laboratory.program(name, NODES, **sizes[name]) for name in names}
