"""Tables: every configuration of a space with its simulated time, and what they were made of."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.search.spaces import SPACES, TRANSFER
from searchspace.collectives import Groups, called_collectives
from searchspace.configuration import Configuration, Value, canonical_json, sha256_of
from searchspace.formats.trace import describe_trace
from searchspace.formats.trace_traffic import TracesTraffic
from searchspace.job import BuiltSpace, JobSpec, build_space, load_job
from searchspace.platform import complete
from searchspace.workload import communicators

__all__ = ["COMPLETED", "FAILED", "INFEASIBLE", "UNKNOWN", "Case", "Table", "digest_of"]

COMPLETED, FAILED, INFEASIBLE, UNKNOWN = range(4)
"""What became of a point of a table."""


def described(name: str) -> dict[str, Any]:
    """The job of a space, without a name and a budget."""
    return SPACES[name] if name in SPACES else TRANSFER[name]


@dataclass(frozen=True)
class Case:
    """A space and the traces of its application, in a directory of their own.

    Attributes:
        name: A key of `SPACES` or `TRANSFER`.
        directory: Where its traces and its table are.
    """

    name: str
    directory: Path

    @functools.cached_property
    def spec(self) -> JobSpec:
        """The job."""
        return load_job({"name": self.name, "budget": {"trials": 100}, **described(self.name)})

    @property
    def traces(self) -> tuple[Path, ...]:
        """One an application."""
        return tuple(self.directory / f"trace-{i}.ht" for i in range(len(self.spec.parts)))

    @functools.cached_property
    def summaries(self) -> list[dict[str, Any]]:
        """Of its traces."""
        return [describe_trace(path) for path in self.traces]

    @property
    def ranks(self) -> int:
        """Of all applications together."""
        return sum(summary["ranks"] for summary in self.summaries)

    @functools.cached_property
    def called(self) -> dict[str, Groups]:
        """The collectives that are called, and on which communicators."""
        if len(self.summaries) == 1:
            return called_collectives(self.summaries[0])
        calls = {name for summary in self.summaries for name in summary["calls"]}
        return called_collectives(
            {"calls": dict.fromkeys(calls, 1), "communicators": communicators(self.summaries)}
        )

    @functools.cached_property
    def built(self) -> BuiltSpace:
        """The space, as a job has it."""
        return build_space(self.spec, self.ranks, self.called)

    @functools.cached_property
    def traffic(self) -> TracesTraffic:
        """What the ranks exchange."""
        return TracesTraffic(self.traces)


def digest_of(case: Case, configuration: Mapping[str, Value]) -> int:
    """What a table finds a configuration by: the beginning of its identity."""
    whole = complete(Configuration(configuration), case.spec.described_machine)
    return int(whole.sha256[:16], 16)


@dataclass(frozen=True)
class Table:
    """What was simulated of a space.

    Attributes:
        digests: Of the configurations (`digest_of`), in the order in which the space lists them.
        values: Simulated seconds; not a number where there are none.
        states: `COMPLETED`, `FAILED`, `INFEASIBLE`, or `UNKNOWN` while it is being built.
        version: The simulator's.
    """

    digests: NDArray[np.uint64]
    values: NDArray[np.float64]
    states: NDArray[np.uint8]
    version: str

    @property
    def best(self) -> float:
        """The least simulated seconds."""
        return float(np.nanmin(self.values))

    @functools.cached_property
    def places(self) -> dict[int, int]:
        """Where each digest stands."""
        return {int(digest): place for place, digest in enumerate(self.digests)}

    def identity(self, name: str) -> str:
        """The SHA-256 of the space and all that is known of it."""
        return sha256_of(
            [canonical_json(described(name)), self.version, self.values.tobytes().hex()]
        )

    def save(self, path: Path) -> None:
        """Writes it; the file appears whole or not at all."""
        beside = path.with_suffix(".new.npz")
        np.savez_compressed(
            beside,
            digests=self.digests,
            values=self.values,
            states=self.states,
            version=np.array(self.version),
        )
        beside.replace(path)

    @classmethod
    def load(cls, path: Path) -> Table:
        """Reads it back."""
        with np.load(path) as stored:
            return cls(
                stored["digests"], stored["values"], stored["states"], str(stored["version"])
            )
