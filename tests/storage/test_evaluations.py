from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.records import Outcome
from storage.storage import Storage
from storage.trial_rows import packed_result

KEY = "a" * 64
COMPLETED = Outcome(
    status="completed",
    value=2.0,
    result={"rank_finish_times": [2.0]},
    cpu_seconds=9.0,
    wall_seconds=9.0,
    peak_rss_bytes=5,
)


def censored(cutoff: float) -> Outcome:
    return Outcome(status="censored", value=cutoff, cpu_seconds=1.0)


def failed(kind: str) -> Outcome:
    return Outcome(status="failed", reason={"kind": kind, "message": "what happened"})


def test_nothing_is_known_of_a_key_never_put(storage: Storage) -> None:
    assert storage.evaluations.find(KEY, None) is None


@pytest.mark.parametrize("cutoff", [None, 2.0, 3.0])
def test_a_completed_outcome_answers_free_of_cost(storage: Storage, cutoff: float | None) -> None:
    storage.evaluations.put(KEY, COMPLETED, None)

    known = storage.evaluations.find(KEY, cutoff)

    assert known == Outcome(
        status="completed",
        value=2.0,
        result={"rank_finish_times": [2.0]},
        peak_rss_bytes=5,
        cached=True,
    )


def test_a_completed_outcome_above_the_cutoff_answers_as_censored(storage: Storage) -> None:
    storage.evaluations.put(KEY, COMPLETED, None)

    known = storage.evaluations.find(KEY, 1.5)

    assert known is not None
    assert (known.status, known.value, known.result) == ("censored", 1.5, None)


def test_several_are_found_at_once_with_their_results_as_they_are_kept(storage: Storage) -> None:
    storage.evaluations.put(KEY, COMPLETED, None)
    storage.evaluations.put("b" * 64, censored(1.0), 1.0)

    asked = [(KEY, None), ("c" * 64, None), ("b" * 64, 2.0), (KEY, 1.5), ("b" * 64, 1.0)]
    whole, missing, too_far, above, near = storage.evaluations.find_several(asked)

    assert whole is not None
    assert (whole.status, whole.value, whole.result) == ("completed", 2.0, None)
    assert packed_result(whole) == packed_result(COMPLETED)
    assert missing is None
    assert too_far is None
    assert above is not None
    assert (above.status, above.value, packed_result(above)) == ("censored", 1.5, None)
    assert near is not None
    assert (near.status, near.value) == ("censored", 1.0)


def test_a_censored_outcome_answers_up_to_its_cutoff_only(storage: Storage) -> None:
    storage.evaluations.put(KEY, censored(1.0), 1.0)

    nearer = storage.evaluations.find(KEY, 0.5)
    assert nearer is not None
    assert (nearer.status, nearer.value) == ("censored", 0.5)
    assert storage.evaluations.find(KEY, 1.0) is not None
    assert storage.evaluations.find(KEY, 1.5) is None
    assert storage.evaluations.find(KEY, None) is None


def test_the_outcome_that_answers_most_is_kept_in_any_order_of_arrival(storage: Storage) -> None:
    arrivals = [(censored(0.5), 0.5), (censored(1.0), 1.0), (COMPLETED, 3.0)]
    for number, order in enumerate(itertools.permutations(arrivals)):
        key = f"{number:064d}"
        for outcome, cutoff in order:
            storage.evaluations.put(key, outcome, cutoff)
        known = storage.evaluations.find(key, None)
        assert known is not None
        assert known.status == "completed"


@pytest.mark.parametrize("kind", ["crash", "deadlock", "invalid"])
def test_failures_that_every_run_meets_are_kept(storage: Storage, kind: str) -> None:
    storage.evaluations.put(KEY, failed(kind), 2.0)

    known = storage.evaluations.find(KEY, None)
    assert known is not None
    assert (known.status, known.reason) == ("failed", failed(kind).reason)
    assert storage.evaluations.find(KEY, 2.0) is not None
    # With a nearer cutoff the run might have been stopped before it failed.
    assert storage.evaluations.find(KEY, 1.0) is None


@pytest.mark.parametrize("kind", ["wall", "memory"])
def test_failures_that_depend_on_limits_are_not_kept(storage: Storage, kind: str) -> None:
    storage.evaluations.put(KEY, failed(kind), None)

    assert storage.evaluations.find(KEY, None) is None


def test_an_infeasible_configuration_is_infeasible_under_any_cutoff(storage: Storage) -> None:
    reason = {"kind": "infeasible", "message": "more ranks than cores"}
    storage.evaluations.put(KEY, Outcome(status="infeasible", reason=reason), 1.0)

    for cutoff in (None, 0.5, 2.0):
        known = storage.evaluations.find(KEY, cutoff)
        assert known is not None
        assert (known.status, known.reason) == ("infeasible", reason)


def test_an_answer_of_the_cache_is_not_put_back(storage: Storage) -> None:
    storage.evaluations.put(KEY, Outcome(status="completed", value=1.0, cached=True), None)

    assert storage.evaluations.find(KEY, None) is None


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    value=st.floats(0.1, 10.0),
    cutoffs=st.lists(st.none() | st.floats(0.1, 10.0), min_size=1, max_size=5),
    asked=st.none() | st.floats(0.1, 10.0),
)
def test_a_cached_answer_is_what_a_fresh_run_would_give(
    tmp_path_factory: pytest.TempPathFactory,
    value: float,
    cutoffs: list[float | None],
    asked: float | None,
) -> None:
    storage = _sqlite(tmp_path_factory.getbasetemp() / "cache")
    key = f"{abs(hash((value, tuple(cutoffs), asked))):064x}"

    def run(cutoff: float | None) -> tuple[str, float | None]:
        return ("completed", value) if cutoff is None or value <= cutoff else ("censored", cutoff)

    for cutoff in cutoffs:
        status, seen = run(cutoff)
        storage.evaluations.put(key, Outcome(status=status, value=seen), cutoff)  # type: ignore[arg-type]
    known = storage.evaluations.find(key, asked)
    storage.close()

    if known is not None:
        assert (known.status, known.value) == run(asked)
    if asked in cutoffs:
        assert known is not None


def _sqlite(directory: Path) -> Storage:
    storage = Storage.open(f"sqlite:///{directory}/hamtune.db", str(directory / "artifacts"))
    storage.upgrade()
    return storage
