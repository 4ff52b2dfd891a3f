from __future__ import annotations

import heapq
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from storage.fair_share import HALF_LIFE, Contender, Queued, by_turn, driving_order


def one(job: str, project: str = "p", **values: object) -> Contender:
    return Contender(job=job, project=project, **{"waited": 1.0, "cost": 1.0, **values})  # type: ignore[arg-type]


def turns(*contenders: Contender) -> list[str]:
    return [contender.job for contender in by_turn(contenders)]


def test_who_used_less_lately_for_its_weight_goes_first() -> None:
    assert turns(one("a", "p", used=9.0), one("b", "q", used=5.0)) == ["b", "a"]
    assert turns(one("a", "p", used=9.0, weight=2.0), one("b", "q", used=5.0)) == ["a", "b"]


def test_what_runs_counts_as_if_it_were_paid() -> None:
    assert turns(one("a", "p", running=3), one("b", "q", running=1, used=1.5)) == ["b", "a"]
    # Also what other jobs of the project have running, though they want nothing more.
    busy = one("c", "q", running=5, waited=None)
    assert turns(one("a", "p", running=3), one("b", "q", running=1, used=1.5), busy) == ["a", "b"]


def test_priority_counts_among_ones_own_and_among_others_where_it_may() -> None:
    assert turns(one("a"), one("b", priority=1)) == ["b", "a"]
    assert turns(one("a", "p"), one("b", "q", priority=1, used=1.0)) == ["a", "b"]
    assert turns(one("a", "p"), one("b", "q", priority=1, highest=1, used=1.0)) == ["b", "a"]
    assert turns(one("a", "p", priority=-1), one("b", "q", used=9.0)) == ["b", "a"]


def test_cheap_jobs_go_first_until_dear_ones_have_waited_long() -> None:
    assert turns(one("dear", cost=50.0), one("cheap", cost=0.5)) == ["cheap", "dear"]
    assert turns(one("dear", cost=50.0, waited=201.0), one("cheap", cost=0.5)) == ["dear", "cheap"]
    assert turns(one("a", cost=0.5), one("unknown", cost=None)) == ["unknown", "a"]


def test_a_job_at_its_concurrency_and_one_that_wants_nothing_have_no_turn() -> None:
    assert turns(one("a", running=2, concurrency=2), one("b", waited=None)) == []
    assert turns(one("a", running=1, concurrency=2)) == ["a"]


LOADS = st.lists(
    st.tuples(st.floats(0.25, 4.0), st.floats(5.0, 40.0), st.floats(0.0, 2000.0)),
    min_size=2,
    max_size=4,
)


@settings(max_examples=10, deadline=None)
@given(loads=LOADS, slots=st.integers(1, 4))
def test_shares_converge_to_the_weights_and_nobody_starves(
    loads: list[tuple[float, float, float]], slots: int
) -> None:
    """Projects that always have work, with different costs and pasts, on some workers."""
    jobs = [
        Contender(job=str(i), project=str(i), weight=weight, cost=cost, used=used, waited=1.0)
        for i, (weight, cost, used) in enumerate(loads)
    ]
    total = sum(job.weight for job in jobs)
    dearest = max(cost for _, cost, _ in loads)
    # By then what was used before is forgotten, or made up for.
    settled, end = 8 * HALF_LIFE, 24 * HALF_LIFE
    served: dict[str, float] = {}
    latest = {job.job: 0.0 for job in jobs}
    ends: list[tuple[float, int]] = []
    now = 0.0
    while now < end:
        while len(ends) < slots:
            index = int(by_turn(jobs)[0].job)
            chosen = jobs[index]
            assert chosen.cost is not None
            jobs[index] = replace(chosen, running=chosen.running + 1)
            latest[chosen.job] = now
            heapq.heappush(ends, (now + chosen.cost, index))
        then, index = heapq.heappop(ends)
        left = 0.5 ** ((then - now) / HALF_LIFE)
        jobs = [replace(job, used=job.used * left) for job in jobs]
        now, done = then, jobs[index]
        cost = done.cost or 0.0
        jobs[index] = replace(done, used=done.used + cost, running=done.running - 1)
        if now > settled:
            served[done.job] = served.get(done.job, 0.0) + cost
    for job in jobs:
        share = served.get(job.job, 0.0) / sum(served.values())
        # A project cannot be served in parts of an evaluation.
        whole = slots * (end - settled)
        assert abs(share - job.weight / total) < 0.03 + 2 * slots * dearest / whole
        assert now - latest[job.job] < 4 * dearest * total / job.weight


def test_coordinators_take_a_job_of_each_project_in_turn() -> None:
    many = [Queued(job=f"a{i}", project="a", created_at=i) for i in range(4)]
    few = [Queued(job="b0", project="b", created_at=9.0)]
    assert driving_order([*many, *few], {}) == ["a0", "b0", "a1", "a2", "a3"]
    assert driving_order([*many, *few], {"a": 1}) == ["b0", "a0", "a1", "a2", "a3"]
    heavy = [replace(job, weight=3.0) for job in many]
    assert driving_order([*heavy, *few], {}) == ["a0", "b0", "a1", "a2", "a3"]
    assert driving_order([*heavy, *few], {"b": 1})[:3] == ["a0", "a1", "a2"]


def test_among_jobs_of_a_project_priority_and_age_decide() -> None:
    jobs = [
        Queued(job="old", project="a", created_at=1.0),
        Queued(job="high", project="a", created_at=2.0, priority=1),
        Queued(job="low", project="a", created_at=0.0, priority=-1),
        Queued(job="other", project="b", created_at=3.0, used=5.0),
    ]
    assert driving_order(jobs, {}) == ["high", "other", "old", "low"]


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(-1, 1), st.floats(0, 100)), max_size=30)
)
def test_every_queued_job_has_one_place(jobs: list[tuple[str, int, float]]) -> None:
    queued = [
        Queued(job=str(i), project=project, priority=priority, created_at=created)
        for i, (project, priority, created) in enumerate(jobs)
    ]
    assert sorted(driving_order(queued, {"a": 2})) == sorted(job.job for job in queued)
