"""MPICH's selection file: a tree of conditions whose leaves are algorithms.

The file takes the place of all that the library has decided, for every operation that it knows, and
a program stops at one that is missing there. So ours is the tree of the installed release, which
its shared library holds as JSON text, with other decisions where a table has some: the release's
own subtree stands wherever the table leaves the choice to the library.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from searchspace.collectives import DEFAULT
from searchspace.collectives.decision_table import DecisionTable, Line, Row, repeated
from searchspace.collectives.equivalents.equivalent import Target
from searchspace.errors import InvalidInput

__all__ = ["NAMED", "own_tree", "selection"]

Tree = dict[str, Any]

_BEGIN = b'{"collective='
_INTRA = "comm_type=intra"
_MARK = "collective=iallgather"
"""What only the tree of all operations has; those of devices have fewer."""

_SIZES: Mapping[str, tuple[str, bool]] = {
    "allgather": ("total_msg_size", True),
    "allreduce": ("avg_msg_size", False),
    "alltoall": ("avg_msg_size", False),
    "bcast": ("avg_msg_size", False),
    "reduce": ("avg_msg_size", False),
    "reduce_scatter": ("total_msg_size", False),
}
"""The size that a condition looks at, and whether that is of the blocks of all ranks together."""

NAMED = frozenset(_SIZES)
"""The collectives whose part of the tree is known."""

_GUARDS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "allreduce": (("is_commutative=no", "is_commutative=yes"),),
    "alltoall": (("is_sendbuf_inplace=yes", "is_sendbuf_inplace=no"),),
    "reduce": (("is_commutative=no", "is_commutative=yes"),),
    "reduce_scatter": (("is_commutative=no", "is_commutative=yes"),),
}
"""Calls that were not simulated, which are left to the library, and all others."""

_WHOLE_PARTS = ("reduce_scatter_allgather", "reduce_scatter_gather")
"""Algorithms for at least as many elements as a power of two ranks, and for operations of MPI."""


def own_tree(library: Path) -> Tree:
    """What a release decides by itself.

    Args:
        library: Its shared library (`libmpich.so`), or the JSON file that its sources have.

    Raises:
        InvalidInput: There is no such tree in the file.
    """
    content = library.read_bytes()
    at = content.find(_BEGIN)
    while at >= 0:
        text, _, _ = content[at:].partition(b"\0")
        if _MARK.encode() in text:
            return _parsed(text, library)
        at = content.find(_BEGIN, at + 1)
    if _MARK.encode() in content:
        return _parsed(content, library)
    raise InvalidInput(f"{library}: no tree of selections of MPICH 4 is in it")


def selection(table: DecisionTable, target: Target, own: Tree) -> Tree:
    """The tree with a table's decisions, for communicators within a group of processes.

    Args:
        table: Of algorithms that the target has (`Target.expressible`).
        target: A release of MPICH.
        own: What the installed release decides (`own_tree`).

    Raises:
        InvalidInput: That tree is none of a release which is known.
    """
    changed = dict(own)
    for collective, rows in table.items():
        if all(line.algorithm == DEFAULT for row in rows for line in row.lines):
            continue
        name = f"collective={collective}"
        if collective not in _SIZES or _INTRA not in own.get(name, {}):
            raise InvalidInput(f"the library's tree does not tell how it chooses {collective}")
        before = own[name][_INTRA]
        whole = tuple(repeated(rows)) if _SIZES[collective][1] else rows
        found = _by_ranks(collective, whole, target, before)
        for left, others in reversed(_GUARDS.get(collective, ())):
            found = {left: before, others: found}
        changed[name] = {**own[name], _INTRA: found}
    return changed


def _by_ranks(collective: str, rows: tuple[Row, ...], target: Target, own: Tree) -> Tree:
    tree: Tree = {f"comm_size<{rows[0].ranks}": own}
    for row, after in itertools.zip_longest(rows, rows[1:]):
        condition = f"comm_size<{after.ranks}" if after else "comm_size=any"
        tree[condition] = _by_bytes(collective, row, target, own)
    return tree


def _by_bytes(collective: str, row: Row, target: Target, own: Tree) -> Tree:
    key, is_of_all = _SIZES[collective]
    factor = row.ranks if is_of_all else 1
    tree: Tree = {}
    for line, after in itertools.zip_longest(row.lines, row.lines[1:]):
        condition = f"{key}<{after.bytes * factor}" if after else f"{key}=any"
        tree[condition] = _leaf(collective, line, row.ranks, target, own)
    return tree


def _leaf(collective: str, line: Line, ranks: int, target: Target, own: Tree) -> Tree:
    if line.algorithm == DEFAULT:
        return own
    name = target.equivalent(collective, line.algorithm, (ranks,)).algorithm
    if not name:
        raise InvalidInput(
            f"{target.title} has no {line.algorithm} of {collective} in {ranks} ranks"
        )
    leaf: Tree = {f"algorithm=MPIR_{collective.capitalize()}_intra_{name}": {}}
    if name not in _WHOLE_PARTS:
        return leaf
    return {
        "is_op_built_in=no": own,
        "is_op_built_in=yes": {"count<pow2": own, "count=any": leaf},
    }


def _parsed(text: bytes, library: Path) -> Tree:
    try:
        tree = json.loads(text)
    except ValueError as error:
        raise InvalidInput(f"{library}: its tree of selections is no JSON: {error}") from None
    if not isinstance(tree, dict) or not all(isinstance(one, dict) for one in tree.values()):
        raise InvalidInput(f"{library}: its tree of selections is no tree of JSON objects")
    return tree
