"""A trial to be stored and evaluated, as a coordinator or a script asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from searchspace.configuration import Configuration
from storage.records import TrialKind

__all__ = ["Proposal"]


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A trial to be stored and evaluated.

    Attributes:
        number: 1, 2, ... in ask order.
        kind: A baseline, or a trial of the search.
        label: The name of a baseline.
        inside: Whether it may be the best: see `Trial.inside`.
        configuration: What to evaluate.
        configuration_sha256: Its identity.
        technique: Whose idea it was.
        cutoff: Simulated seconds at which it may be stopped.
    """

    number: int
    kind: TrialKind
    label: str | None = None
    inside: bool = True
    configuration: dict[str, Any]
    configuration_sha256: str
    technique: str | None = None
    cutoff: float | None = None

    @classmethod
    def of(
        cls,
        configuration: Configuration,
        *,
        number: int,
        kind: TrialKind,
        label: str | None = None,
        inside: bool = True,
        technique: str | None = None,
        cutoff: float | None = None,
    ) -> Proposal:
        """The proposal of a configuration, with its identity."""
        return cls(
            number=number,
            kind=kind,
            label=label,
            inside=inside,
            configuration=configuration.to_dict(),
            configuration_sha256=configuration.sha256,
            technique=technique,
            cutoff=cutoff,
        )
