from __future__ import annotations

from typing import get_args

import pytest

from storage.errors import Conflict
from storage.records import ACTIVE_JOB_STATES, FINAL_JOB_STATES, JobState
from storage.states import TRANSITIONS, check_transition


def test_the_table_covers_every_state() -> None:
    assert set(TRANSITIONS) == set(get_args(JobState))


def test_a_final_state_is_never_left() -> None:
    assert all(TRANSITIONS[state] == () for state in FINAL_JOB_STATES)


def test_every_active_state_leads_to_cancelled_within_two_changes() -> None:
    for state in (*ACTIVE_JOB_STATES, "paused"):
        reachable = TRANSITIONS[state]
        assert "cancelled" in reachable or "cancelling" in reachable


@pytest.mark.parametrize("state", [s for s in get_args(JobState) if s not in FINAL_JOB_STATES])
def test_every_state_leads_to_an_end(state: JobState) -> None:
    seen, frontier = {state}, [state]
    while frontier:
        for following in TRANSITIONS[frontier.pop()]:
            if following not in seen:
                seen.add(following)
                frontier.append(following)
    assert seen & set(FINAL_JOB_STATES)


def test_a_refusal_says_what_the_job_is_and_what_it_cannot_be() -> None:
    with pytest.raises(Conflict, match="job j is completed; it cannot be resumed"):
        check_transition("j", "completed", "queued", None)
