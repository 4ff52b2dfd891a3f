"""Scripts that propose and measure, by the client, with a service in a process of its own."""

from __future__ import annotations

import asyncio
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import optuna
import pytest

from benchmarks.machines import designed
from hamtune_client import AsyncClient, Client, Job, Refused
from tests.service.live import Server, started

ROOT = Path(__file__).parents[2]
SPEC: dict[str, Any] = {
    "name": "mm-4",
    "application": {"builtin": "mm", "n": 64, "ranks": 4},
    "machine": designed(8, 3, network="fluid"),
    "search": {
        "topology": [{"family": "random", "instances": 20}, "mesh-2d"],
        "ordering": ["original", "hamorder"],
        "collectives": {"bcast": "all"},
    },
    "budget": {"trials": 6},
    "seed": 1,
}
MESH = {"topology": "mesh-2d", "ordering": "original", "mapping": "by-order", "mpi": "default"}


def seconds(configuration: dict[str, Any]) -> float:
    """What a cluster would take, as a script here has it: a formula."""
    slow = configuration["collectives"]["bcast"] == "default"
    return float(2.0 + slow - 0.01 * configuration.get("topology_seed", 30))


def configuration(seed: int) -> dict[str, Any]:
    return {**MESH, "topology": "random", "topology_seed": seed, "collectives.bcast": "default"}


def examples(page: str) -> list[str]:
    """The Python in a page of the documentation."""
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)


def example(word: str) -> str:
    (found,) = [text for text in examples("client.md") if word in text]
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with started(tmp_path_factory.mktemp("data"), run=True) as running:
        yield running


def submit(client: Client, **changes: Any) -> Job:
    return client.submit({**SPEC, **changes})


def test_optuna_proposes_as_the_documentation_shows(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    job_file = tmp_path / "job.yaml"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HAMTUNE_SERVER", server.url)
    job_file.write_text((ROOT / "examples" / "quick.yaml").read_text() + "external: proposals\n")
    names: dict[str, Any] = {}
    exec(example("import optuna").replace("n_trials=40", "n_trials=40, n_jobs=2"), names)
    study, job = names["study"], names["job"]
    job.wait(timeout=300)
    assert (job.state, job.record.ended_because) == ("completed", "trials")
    trials = [trial for trial in job.trials() if trial.kind == "search"]
    assert len(trials) == 40 == len(study.trials)
    assert {trial.technique for trial in trials} == {"script"}
    assert study.best_value == min(trial.value for trial in trials if trial.value)
    assert job.best().value <= study.best_value
    assert job.export("openmpi")


def test_several_configurations_are_evaluated_at_once(server: Server) -> None:
    with Client(server.url) as client, ThreadPoolExecutor(3) as pool:
        job = submit(client, external="proposals")
        space = job.space()
        assert {one.name for one in space.parameters} >= {"topology", "collectives.bcast"}
        topology = next(one for one in space.parameters if one.name == "topology")
        assert topology.choices == ["random", "mesh-2d"]
        found = list(pool.map(job.evaluate, [configuration(seed) for seed in range(1, 7)]))
        assert [one.configuration["topology_seed"] for one in found] == list(range(1, 7))
        assert {one.state for one in found} == {"completed"}
        assert job.wait(timeout=300).state == "completed"
        with pytest.raises(Refused, match="it has no further trials"):
            job.propose(configuration(7))


def test_a_script_measures_what_the_search_asks_as_the_documentation_shows(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HAMTUNE_SERVER", server.url)
    spec = (ROOT / "examples" / "quick.yaml").read_text() + "external: measurements\n"
    (tmp_path / "job.yaml").write_text(spec.replace("trials: 40", "trials: 6"))
    (tmp_path / "measure.sh").write_text("#!/bin/sh\necho 1.5\n")
    (tmp_path / "measure.sh").chmod(0o755)
    names: dict[str, Any] = {}
    exec(example("job.ask()"), names)
    job = names["job"].wait(timeout=300)
    assert job.state == "completed"
    trials = list(job.trials())
    assert {(trial.state, trial.value) for trial in trials} == {("completed", 1.5)}
    assert sum(trial.kind == "search" for trial in trials) == 6
    assert job.best().decided_by == "script"


def test_a_trial_to_be_measured_is_exported_for_the_library_that_runs_it(server: Server) -> None:
    with Client(server.url) as client:
        job = submit(client, external="measurements")
        asked = job.ask()
        assert asked is not None
        files = job.export("openmpi", trial=asked.number, name="README.txt").decode()
        assert f"trial {asked.number}: to be measured" in files
        with pytest.raises(Refused, match="is not measured yet"):
            job.export("json", trial=asked.number)
        asked.tell(1.5)
        told = job.export("openmpi", trial=asked.number, name="README.txt").decode()
        assert "1.5 s measured by a script" in told
        assert "s simulated" not in told
        job.cancel()


def measured(client: Client, job: Job, most: int | None = None) -> list[Any]:
    """Measure so many trials or all."""
    done = 0
    while (most is None or done < most) and (asked := job.ask()) is not None:
        asked.tell(seconds(asked.configuration))
        done += 1
    return [(t.number, t.configuration, t.technique, t.cutoff, t.value) for t in job.trials()]


def test_a_service_that_is_killed_amid_asks_goes_on_with_the_same_trials(tmp_path: Path) -> None:
    changes = {"external": "measurements", "batch": 2, "budget": {"trials": 8}}
    with started(tmp_path / "whole", run=True) as server, Client(server.url) as client:
        undisturbed = measured(client, submit(client, **changes))

    with ExitStack() as stack:
        server = stack.enter_context(started(tmp_path / "killed", run=True))
        client = stack.enter_context(Client(server.url))
        job = submit(client, **changes)
        measured(client, job, most=7)
        held = job.ask(key="mine")
        assert held is not None
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()

        server = stack.enter_context(started(tmp_path / "killed", run=True))
        client = stack.enter_context(Client(server.url))
        job = client.job(job.id)
        again = job.ask(key="mine")
        assert again is not None
        assert again.asked == held.asked
        assert again.release().state == "pending"
        again = job.ask()
        assert again is not None
        assert again.number == held.number
        again.tell(seconds(again.configuration))
        again.tell(seconds(again.configuration))
        assert measured(client, job) == undisturbed


def test_the_asynchronous_client_proposes_and_measures(server: Server) -> None:
    async def use() -> list[Any]:
        async with AsyncClient(server.url) as client:
            job = await client.submit({**SPEC, "external": "proposals", "budget": {"trials": 2}})
            found = await asyncio.gather(*(job.evaluate(configuration(n)) for n in (1, 2)))
            other = await client.submit(
                {**SPEC, "external": "measurements", "budget": {"trials": 1}}
            )
            states = []
            while (asked := await other.ask(asker="me")) is not None:
                if asked.kind == "baseline":
                    states.append((await asked.fail("no such network", infeasible=True)).state)
                else:
                    states.append((await asked.tell(1.5, stopped=False)).state)
            return [[one.state for one in found], set(states), (await other.wait()).state]

    assert asyncio.run(use()) == [
        ["completed", "completed"], {"infeasible", "completed"}, "completed",
    ]  # fmt: skip
