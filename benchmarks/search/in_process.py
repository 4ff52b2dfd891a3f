"""OpenTuner without a process of its own, for runs that would take less time than its start.

Imported where nothing else is done: OpenTuner replaces the formatter of logs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from searchspace.insight import Experience, Insight
from searchspace.space import SearchSpace
from tuner import opentuner_patches, parameters
from tuner.opentuner_conversation import Conversation
from tuner.opentuner_session import Proposal, Status, opening_of, proposal_of

__all__ = ["in_process"]


class _Session:
    """What `TunerSession` is, but for the process."""

    def __init__(
        self,
        space: SearchSpace,
        seed: int,
        techniques: Sequence[str] | None = None,
        insight: Insight | None = None,
        until: float | None = None,
        experiences: Sequence[Experience] = (),
    ) -> None:
        self._constants = parameters.constants(space)
        opening = opening_of(space, seed, techniques, insight, until, experiences)
        self._conversation = Conversation(opening)

    def ask(self) -> Proposal | None:
        answer = self._conversation.ask()
        if answer["id"] is None:
            return None
        return proposal_of(answer, self._constants)

    def tell(
        self, proposal_id: int, value: float | None, status: Status, bound: float | None = None
    ) -> None:
        request = {"id": proposal_id, "value": value, "status": status, "bound": bound}
        self._conversation.tell(request)

    def inject(
        self,
        values: Mapping[str, Any],
        value: float | None,
        status: Status,
        bound: float | None = None,
    ) -> None:
        request = {"values": dict(values), "value": value, "status": status, "bound": bound}
        self._conversation.inject(request)

    def close(self) -> None:
        """Nothing is left behind."""


@contextmanager
def in_process() -> Iterator[None]:
    """While this is entered, searches have no process of their own; they find the same."""
    opentuner_patches.apply()
    with patch("tuner.search.TunerSession", _Session):
        yield
