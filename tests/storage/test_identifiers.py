from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from storage.identifiers import (
    ID_LENGTH,
    attempt_id,
    new_id,
    split_attempt_id,
    split_trial_id,
    trial_id,
)


def test_ids_of_a_process_sort_by_the_time_of_their_making() -> None:
    ids = [new_id() for _ in range(1000)]

    assert ids == sorted(set(ids))
    assert all(len(identifier) == ID_LENGTH and identifier.isalnum() for identifier in ids)


def test_threads_never_make_the_same_id() -> None:
    with ThreadPoolExecutor(4) as pool:
        ids = list(pool.map(lambda _: new_id(), range(2000)))

    assert len(set(ids)) == 2000


@given(number=st.integers(1, 10**9), attempt=st.integers(1, 10**6))
def test_ids_of_trials_and_attempts_can_be_taken_apart(number: int, attempt: int) -> None:
    assert split_trial_id(trial_id("j", number)) == ("j", number)
    assert split_attempt_id(attempt_id("j", number, attempt)) == ("j", number, attempt)


@given(st.text())
def test_other_text_is_no_id(text: str) -> None:
    for split in (split_trial_id, split_attempt_id):
        parts = split(text)
        assert parts is None or "-" in text
