"""`TunerSession`: ask and tell over OpenTuner, which runs in a child process."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from searchspace.insight import Experience, Insight
from searchspace.space import SearchSpace
from tuner import parameters
from tuner.errors import SearchProcessFailed
from tuner.outlook import Expectation
from tuner.search_process import SearchProcess
from tuner.techniques import choose

__all__ = ["Proposal", "Status", "TunerSession", "opening_of", "proposal_of"]

Status = Literal["completed", "censored", "failed", "infeasible"]


@dataclass(frozen=True)
class Proposal:
    """What OpenTuner wants to be evaluated.

    Attributes:
        id: For `tell`.
        values: A value for every parameter of the space, also for those that do not count.
        technique: Which technique wants it.
        probability: That some point not told yet is better than the best by more than `until`; None
            where it is not known.
        expectation: Of a model that was made for this proposal; None where none was.
        weights: How much each job counts that is learned from, from 0 to 1; None where nothing is
            known of that.
    """

    id: int
    values: dict[str, Any]
    technique: str
    probability: float | None
    expectation: Expectation | None = None
    weights: tuple[float, ...] | None = None


def proposal_of(answer: Mapping[str, Any], constants: Mapping[str, Any]) -> Proposal:
    """A proposal as the conversation tells it.

    Args:
        answer: With an id.
        constants: Values of the parameters that OpenTuner does not know of.
    """
    told, weights = answer["expectation"], answer["weights"]
    return Proposal(
        id=answer["id"],
        values={**constants, **answer["values"]},
        technique=answer["technique"],
        probability=answer["probability"],
        expectation=None if told is None else Expectation(**told),
        weights=None if weights is None else tuple(weights),
    )


def opening_of(
    space: SearchSpace,
    seed: int,
    techniques: Sequence[str] | None,
    insight: Insight | None,
    until: float | None,
    experiences: Sequence[Experience],
) -> dict[str, Any]:
    """What a conversation with OpenTuner begins with, as JSON: see `TunerSession`.

    Raises:
        InvalidInput: A technique is unknown or does not suit the space.
    """
    return {
        "seed": seed,
        "parameters": parameters.describe(space),
        "techniques": list(choose(parameters.kinds(space), techniques)),
        "space": space.describe()["parameters"],
        "insight": None if insight is None else insight.to_json(),
        "until": until,
        "experiences": [one.to_json() for one in experiences],
    }


class TunerSession:
    """One search by OpenTuner, in a child process that dies with this one. Not for several threads.

    The same seed and the same tells between the same asks give the same proposals, on every
    machine and in every process: this is what replay rests on. Any number of proposals may be open.

    Args:
        space: What to search.
        seed: Of all random choices.
        techniques: Names as in `tuner.techniques`; None for a choice by the kinds of parameters.
        insight: What is known of the application and the machine; None where nothing is.
        until: A part of the best value, for `Proposal.probability`; None where nobody asks.
        experiences: Of the finished jobs that it learns from.

    Raises:
        InvalidInput: A technique is unknown or does not suit the space.
        SearchProcessFailed: The process did not start.
    """

    def __init__(
        self,
        space: SearchSpace,
        seed: int,
        techniques: Sequence[str] | None = None,
        insight: Insight | None = None,
        until: float | None = None,
        experiences: Sequence[Experience] = (),
    ) -> None:
        opening = opening_of(space, seed, techniques, insight, until, experiences)
        self._constants = parameters.constants(space)
        self._nothing_varies = not opening["parameters"]
        self._process = SearchProcess()
        self._send({"do": "open", **opening})
        self._flush()

    def ask(self) -> Proposal | None:
        """The next proposal; None where OpenTuner has none until it is told more, or for good.

        The first one waits for OpenTuner to be imported, a second or two in each coordinator.

        Raises:
            SearchProcessFailed: The process failed.
        """
        if self._nothing_varies:
            return None
        self._send({"do": "ask"})
        self._flush()
        answer = self._answer()
        if answer["id"] is None:
            return None
        return proposal_of(answer, self._constants)

    def tell(
        self,
        proposal_id: int,
        value: float | None,
        status: Status,
        bound: float | None = None,
    ) -> None:
        """Tell the result of a proposal, once.

        Args:
            proposal_id: Of an open proposal.
            value: The objective of a completed trial; None for the others.
            status: What became of it. A result that is not `completed` never becomes the best and
                loses every comparison.
            bound: What a censored trial takes at least, where that is known.

        Raises:
            ValueError: The value is missing, superfluous or not finite.
            SearchProcessFailed: The process failed.
        """
        _check(value, status)
        request = {"do": "tell", "id": proposal_id, "value": value, "status": status}
        self._send({**request, "bound": bound})

    def inject(
        self,
        values: Mapping[str, Any],
        value: float | None,
        status: Status,
        bound: float | None = None,
    ) -> None:
        """Tell a result that OpenTuner did not ask for.

        Args:
            values: A value for every varied parameter (`tuner.parameters.complete_values`).
            value: As for `tell`.
            status: As for `tell`.
            bound: As for `tell`.

        Raises:
            ValueError: As for `tell`.
            SearchProcessFailed: The process failed.
        """
        _check(value, status)
        if not self._nothing_varies:
            request = {"do": "inject", "values": dict(values), "value": value, "status": status}
            self._send({**request, "bound": bound})

    def close(self) -> None:
        """End the process."""
        self._process.close()

    def __enter__(self) -> TunerSession:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _answer(self) -> dict[str, Any]:
        try:
            answer = self._process.receive()
        except EOFError:
            raise self._failure() from None
        if "error" in answer:
            raise SearchProcessFailed(f"the search failed: {answer['error']}")
        return answer

    def _send(self, request: dict[str, Any]) -> None:
        """Send a request, at the latest with the next question: most are not answered."""
        try:
            self._process.send(request)
        except BrokenPipeError:
            raise self._failure() from None

    def _flush(self) -> None:
        try:
            self._process.flush()
        except BrokenPipeError:
            raise self._failure() from None

    def _failure(self) -> SearchProcessFailed:
        return SearchProcessFailed(f"the search process {self._process.last_words()}")


def _check(value: float | None, status: Status) -> None:
    if status == "completed":
        if value is None or not math.isfinite(value):
            raise ValueError(f"a completed trial has a finite value, not {value}")
    elif value is not None:
        raise ValueError(f"a trial that is {status} has no value to tell")
