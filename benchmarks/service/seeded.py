"""Long jobs that have ended, written straight into the database."""

from __future__ import annotations

import json

import psycopg

from benchmarks.service.bars import short_job
from benchmarks.service.installation import Installation
from searchspace.job import load_job

CONFIGURATION = {
    "topology": {"family": "random", "instance": 17},
    "ordering": "hamorder",
    "mapping": "by-order",
    "mpi": "mpich",
    "collectives": {"allreduce": "rdb", "bcast": "binomial_tree"},
}

_INSERT = """
INSERT INTO trials (job_id, number, kind, inside, configuration_sha256, technique, state, cutoff,
    value, cached, cpu_seconds, wall_seconds, peak_rss_bytes, worker, created_at, started_at,
    finished_at, configuration)
SELECT %(job)s, n, 'search', true, md5(n::text) || md5(n::text), 'UniformGreedyMutation',
    'completed', 2.0, 1.0 + 0.5 * abs(sin(n)) + 50.0 / (n + 100), false, 0.31, 0.32, 20000000,
    'node-' || n %% 8, at + n - 1, at + n - 0.9, at + n, %(configuration)s
FROM generate_series(1, %(trials)s) AS n, (SELECT %(at)s::double precision AS at) AS began
"""


def ended_job(installation: Installation, trials: int) -> str:
    """A completed job with so many trials; its id. No coordinator may run meanwhile."""
    storage = installation.storage
    spec = load_job(short_job(f"long-{trials}", trials)).canonical()
    job = storage.jobs.create(name=f"long-{trials}", spec=spec, seed=1)
    leased = storage.leases.acquire("benchmark", 60.0, job.id)
    assert leased is not None, "nobody else takes it"
    for state in ("preparing", "running"):
        storage.jobs.transition(job.id, state, token=leased.lease_token)
    values = {
        "job": job.id,
        "trials": trials,
        "at": job.created_at,
        "configuration": json.dumps(CONFIGURATION),
    }
    conninfo = installation.postgresql.url.replace("+psycopg", "")
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(_INSERT, values)
        connection.execute("ANALYZE trials")
    storage.jobs.transition(job.id, "completed", token=leased.lease_token, ended_because="trials")
    return job.id
