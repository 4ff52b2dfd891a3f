"""The same code over PostgreSQL and Redis in separate processes, chosen by URLs alone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from tests.cli.conftest import Hamtune


def test_separate_processes_find_the_same_trials(
    hamtune: Hamtune,
    another: Callable[[], Hamtune],
    job: dict[str, Any],
    create_database: Callable[[], str],
    redis_url: str,
) -> None:
    embedded = another()
    expected = embedded.json("run", embedded.job_file(job))

    hamtune.environment = {
        "HAMTUNE_DATABASE_URL": create_database(),
        "HAMTUNE_BROKER_URL": redis_url,
        "HAMTUNE_ARTIFACTS_URL": (hamtune.directory / "artifacts").as_uri(),
    }
    with ExitStack() as processes:
        api = processes.enter_context(
            hamtune.running("api", "--port", "0", ready="serving http://")
        )
        processes.enter_context(hamtune.running("coordinator"))
        for _ in range(2):
            processes.enter_context(hamtune.running("worker", "--concurrency", "1"))
        ended = hamtune.json("submit", hamtune.job_file(job), "--server", api.url, "--watch")
        trials = hamtune.trials(ended["id"], api.url)

    assert ended["state"] == "completed"
    assert trials == embedded.trials(expected["job"]["id"])
