"""Soryani, Analoui and Zarrinchian 2013: the queueing model, and what it makes of jobs."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from searchspace.hop_machine import HopMachine, Tree
from searchspace.mapping.contention_free import Job, map_jobs
from searchspace.mapping.contention_model import (
    Hardware,
    Load,
    best_hosts,
    slowdown,
    waiting_time,
)
from searchspace.traffic import Traffic

CLUSTER = HopMachine.uniform(Tree((16,)), 16, (4, 4))


def all_to_all(ranks: int, size: int) -> Traffic:
    return Traffic.from_dense(np.full((ranks, ranks), size))


def test_waiting_is_that_of_the_queue_of_random_arrivals() -> None:
    # With random arrivals equation 6 is the mean wait of an M/M/1 queue: rho s / (1 - rho).
    assert waiting_time(50, 0.01, 1.0) == pytest.approx(0.5 * 0.01 / 0.5)
    assert waiting_time(0, 0.01, 1.0) == 0
    assert waiting_time(100, 0.01, 1.0) == math.inf
    assert waiting_time(50, 0.01, 3.0) > waiting_time(50, 0.01, 1.0)


def test_irregular_streams_of_long_messages_demand_more() -> None:
    # Section 4.1, percent: 0.85 x^2 + 0.01 x for large messages and 0.12 x^2 for medium ones.
    assert slowdown(1_000_000, 3) == pytest.approx(1 + 7.68 / 100)
    assert slowdown(64_000, 3) == pytest.approx(1 + 1.08 / 100)
    assert slowdown(1_000, 3) == 1


def test_interfaces_that_cannot_keep_up_spread_a_job() -> None:
    busy = Load(processes=32, adjacency=31, rate=1.0, length=2e6)
    calm = Load(processes=32, adjacency=31, rate=1e-6, length=2e6)

    assert best_hosts(busy, Hardware(), 2, 16) > 2
    assert 2 <= best_hosts(calm, Hardware(), 2, 16) <= 16
    assert best_hosts(Load(1, 0, 0, 1), Hardware(), 1, 16) == 1


def hosts_of(traffic: Traffic, jobs: list[Job], **options: object) -> list[Counter[int]]:
    places = map_jobs(traffic, CLUSTER, jobs, **options)  # type: ignore[arg-type]
    hosts = CLUSTER.place_hosts[places]
    return [Counter(hosts[list(job.ranks)].tolist()) for job in jobs]


def test_an_all_to_all_among_light_jobs_is_spread_and_these_are_packed() -> None:
    # Workload Mixed_1 of table 4: 2000 messages of 64 kB to each receiver, 100 a second.
    blocks = np.zeros((256, 256), dtype=np.int64)
    blocks[:64, :64] = blocks[64, 65:128] = blocks[129:192, 128] = 2000 * 64_000
    blocks[np.arange(192, 255), np.arange(193, 256)] = 2000 * 64_000
    jobs = [
        Job(tuple(range(first, first + 64)), 64_000, adjacency=63 if first == 0 else 63 / 64)
        for first in range(0, 256, 64)
    ]

    spread, *light = hosts_of(Traffic.from_directed(blocks), jobs, duration=20.0)

    assert len(spread) > 8
    assert all(len(hosts) <= 8 for hosts in light)


def test_small_messages_are_packed() -> None:
    job = Job(tuple(range(32)), length=1_000)

    (packed,) = hosts_of(all_to_all(32, 10_000), [job])

    assert sorted(packed.values()) == [16, 16]


def test_severe_contention_between_jobs_packs_all_of_them() -> None:
    jobs = [Job(tuple(range(first, first + 32)), 2e6) for first in range(0, 256, 32)]
    blocks = np.kron(np.eye(8, dtype=np.int64), np.full((32, 32), 10**9))

    new = hosts_of(Traffic.from_dense(blocks), jobs)
    old = hosts_of(Traffic.from_dense(blocks), jobs, version="old")

    assert all(len(hosts) == 2 for hosts in new)
    assert all(len(hosts) == 16 for hosts in old)


def test_senders_of_large_messages_get_sockets_of_their_own() -> None:
    pair = Traffic.from_pairs(4, [0, 0, 0], [1, 2, 3], [10**7] * 3)

    places = map_jobs(pair, CLUSTER, [Job((0, 1, 2, 3), length=2e6)])

    assert len(set((places // 4).tolist())) == 4
    assert len(set(CLUSTER.place_hosts[places].tolist())) == 1
