"""What becomes of each feature of MPI-3.1 in a capture: `features.c`, run one by one.

`python -m benchmarks.programs.gallery` measures all and writes the table of docs/programs.md.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.programs.comparing import Outcome, compare
from benchmarks.tables_in_docs import write_table
from workers.capture_build import WRAPPERS

__all__ = ["CHAPTERS", "FEATURES", "RANKS", "Feature", "build_features", "table"]

RANKS = 8
SOURCE = Path(__file__).with_name("features.c")

_MEANING = {
    "exact": "works exactly",
    "works": "works",
    "refused": "refused by name",
    "failed": "fails",
}

CHAPTERS: dict[str, dict[str, tuple[str, ...]]] = {
    "3 Point to point": {
        "exact": (
            *("standard_send", "buffered_send", "synchronous_send", "ready_send"),
            *("send_and_receive", "send_and_receive_in_place", "null_process", "any_source"),
            *("immediate", "wait_all", "wait_any", "request_free"),
        ),
        "works": (
            *("probe", "immediate_probe", "matched_probe", "wait_some", "test", "test_all"),
            *("test_any", "test_some", "persistent"),
        ),
        "refused": ("matched_immediate_receive", "cancel"),
    },
    "4 Datatypes": {
        "exact": (
            *("contiguous_type", "vector_type", "indexed_type", "struct_type", "subarray_type"),
            *("resized_type", "empty_type", "pack", "vector_broadcast"),
        ),
    },
    "5 Collectives": {
        "exact": (
            *("barrier", "broadcast", "gather", "scatter", "allgather", "alltoall", "reduce"),
            *("allreduce", "scan", "exscan", "reduce_scatter_block", "gatherv", "scatterv"),
            *("allgatherv", "reduce_scatter", "alltoallv", "alltoallw", "in_place"),
            *("own_operator", "pairs", "reduction_of_types", "nonblocking_collectives"),
        ),
    },
    "6 Groups and communicators": {
        "exact": ("duplicate", "split", "split_type", "of_group", "of_group_alone", "attributes"),
        "works": ("duplicate_later",),
        "refused": ("intercommunicator",),
    },
    "7 Topologies": {
        "exact": ("cartesian", "cartesian_part"),
        "works": ("graph", "neighbours"),
        "refused": ("neighbours_of_types",),
    },
    "8 Environment": {
        "exact": ("clocks", "error_handler"),
        "refused": ("failing_call", "abort_of_all"),
    },
    "9 Info": {"exact": ("info",)},
    "10 Processes": {"refused": ("spawn",)},
    "11 One-sided": {"refused": ("window", "shared_window", "dynamic_window")},
    "12 External interfaces": {"refused": ("second_thread", "generalised_request")},
    "13 Files": {"refused": ("file",)},
    "14 Tools": {"works": ("pcontrol",)},
}
"""The features of each chapter of the standard by what becomes of them."""


@dataclass(frozen=True)
class Feature:
    """A feature of the standard.

    Attributes:
        chapter: Where the standard has it.
        name: Of the function in `features.c`.
        state: What becomes of it, as `Outcome` has it.
    """

    chapter: str
    name: str
    state: str


FEATURES = [
    Feature(chapter, name, state)
    for chapter, states in CHAPTERS.items()
    for state, names in states.items()
    for name in names
]


def build_features(directory: Path) -> tuple[Path, Path]:
    """The program of all features, with the recorder in it and without."""
    built = (directory / "features", directory / "plain")
    for compiler, program in zip((WRAPPERS / "hamtune-mpicc", "smpicc"), built, strict=True):
        flags = ["-O1", "-pthread", "-o", str(program)]
        subprocess.run([str(compiler), str(SOURCE), *flags], check=True)
    return built


def table(outcomes: dict[str, Outcome]) -> str:
    """The features as a table in Markdown."""
    lines = ["| Chapter | Feature | State | Why |", "|---|---|---|---|"]
    for feature in FEATURES:
        outcome = outcomes[feature.name]
        shown = feature.name.replace("_", " ")
        state = _MEANING[outcome.state]
        lines.append(f"| {feature.chapter} | {shown} | {state} | {outcome.reason} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure every feature and write the table."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    outcomes = {}
    with tempfile.TemporaryDirectory(prefix="hamtune-gallery-") as place:
        recorded, plain = build_features(Path(place))
        for feature in FEATURES:
            name = feature.name
            outcome = compare([str(recorded), name], [str(plain), name], RANKS, Path(place))
            if outcome.reason == "the program called MPI_Abort":
                outcome = Outcome("refused", outcome.reason)
            outcomes[name] = outcome
            changed = "" if outcome.state == feature.state else f"  (listed as {feature.state})"
            print(f"{name}: {_MEANING[outcome.state]} {outcome.reason}{changed}", flush=True)
    write_table("programs.md", "features", table(outcomes))


if __name__ == "__main__":
    main()
