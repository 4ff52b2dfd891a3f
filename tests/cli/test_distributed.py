"""The same code over PostgreSQL and Redis in separate processes, chosen by URLs alone."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from hamtune_client import Client
from tests.cli.conftest import SECONDS, Hamtune, Running


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
        coordinator = processes.enter_context(hamtune.running("coordinator"))
        workers = [
            processes.enter_context(hamtune.running("worker", "--concurrency", "1"))
            for _ in range(2)
        ]
        ended = hamtune.json("submit", hamtune.job_file(job), "--server", api.url, "--watch")
        trials = hamtune.trials(ended["id"], api.url)
        driven = log_of(coordinator)
        worked = [line for worker in workers for line in log_of(worker)]

    assert ended["state"] == "completed"
    assert trials == embedded.trials(expected["job"]["id"])

    of_job = f"hamtune.tuner job={ended['id']}: "
    assert f"INFO {of_job}the job is running" in driven
    assert f"INFO {of_job}the job is completed: trials" in driven
    of_job = f"INFO hamtune.workers job={ended['id']}"
    assert [line for line in worked if line.startswith(f"{of_job}: the job is prepared")]
    for trial in trials:
        told = f"{of_job} trial={ended['id']}-{trial['number']}: {trial['state']}"
        assert len([line for line in worked if line.startswith(told)]) == 1


def test_scripts_propose_and_measure_over_separate_processes(
    hamtune: Hamtune,
    job: dict[str, Any],
    create_database: Callable[[], str],
    redis_url: str,
) -> None:
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
        processes.enter_context(hamtune.running("worker", "--concurrency", "1"))
        client = processes.enter_context(Client(api.url))
        budget = {"budget": {"trials": 3}}
        proposing = client.submit({**job, **budget, "external": "proposals"})
        parameters = proposing.space().parameters
        first = {one.name: one.choices[0] if one.choices else one.low for one in parameters}
        for key in ("a", "b", "c"):
            assert proposing.evaluate(first, key=key).state == "completed"
        assert proposing.wait(timeout=SECONDS).state == "completed"

        measuring = client.submit({**job, **budget, "external": "measurements"})
        values = []
        while (asked := measuring.ask(asker="here")) is not None:
            values.append(1.0 + 0.1 * asked.number)
            asked.tell(values[-1])
        told = [(trial.value, trial.worker) for trial in measuring.trials()]
        assert measuring.wait(timeout=SECONDS).state == "completed"
    assert told == [(value, "here") for value in values]


def log_of(running: Running) -> list[str]:
    """What a process logged, which is ended: level, logger, job, trial and message."""
    running.process.send_signal(signal.SIGTERM)
    _, said = running.process.communicate(timeout=SECONDS)
    assert running.process.returncode == 0
    lines = [line for line in said.splitlines() if not line.startswith("hamtune: ")]
    for line in lines:
        assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d (INFO|WARNING) [a-z.]+( job=\w+)?", line)
    return [line.partition(" ")[2] for line in lines]
