"""`hamtune validate`: trials of a job are measured on an emulated cluster, and kept."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli.__main__ import main
from cli.client import Client
from measuring.sampling import Sample, Take
from measuring.validation import Candidate
from searchspace.errors import HamtuneError
from tests.cli.conftest import Hamtune

MACHINE = (
    "{nodes: 4, host_speed: 2Gf, link_bandwidth: 20Mbps, network: packets,"
    " topology: {edges: [[0, 1], [1, 2], [2, 3], [0, 3]]}}"
)
JOB = f"""
name: validated
application: {{builtin: is, class: S, ranks: 4}}
machine: {MACHINE}
search:
  target: openmpi-4.1
  mapping: [by-order, random]
  collectives: {{alltoall: all, allreduce: all}}
budget: {{trials: 4}}
seed: 1
"""


@pytest.fixture
def hamtune(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hamtune:
    monkeypatch.setenv("HAMTUNE_TESTBEDS", str(tmp_path / "testbeds"))
    return Hamtune(tmp_path)


@pytest.mark.alone
def test_trials_are_measured_beside_what_was_simulated(hamtune: Hamtune, tmp_path: Path) -> None:
    checks = {check["name"]: check for check in hamtune.json("testbed", "doctor")["checks"]}
    if checks["namespaces"]["status"] == "failed":
        pytest.skip(checks["namespaces"]["text"])
    # A testbed can do what a launcher cannot: measure from a directory that preloading cannot name.
    hamtune = replace(hamtune, directory=tmp_path / "of mine")
    hamtune.directory.mkdir()
    (hamtune.directory / "job.yaml").write_text(JOB)
    hamtune("run", "job.yaml")
    try:
        hamtune("testbed", "up", MACHINE, "--scale", "1", "--name", "four")
        found = hamtune.json(
            *("validate", "validated", "--testbed", "four", "--top", "1", "--spread", "1"),
            *("--precision", "1"),
        )
    finally:
        hamtune("testbed", "down", "four")
    *trials, defaults = found["configurations"]
    assert defaults["label"] == "the library's defaults"
    assert len(trials) >= 2
    assert all(trial["simulated"] > 0 for trial in trials)
    unknown = [trial for trial in trials if trial["measured"] is None]
    if unknown:  # only where other work left no core to the ranks, and each run says so
        assert os.getloadavg()[0] > (os.cpu_count() or 1), unknown
        assert all(trial["failures"] == [] and trial["doubts"] for trial in unknown)
        assert all("the cores of this host" in doubt for t in unknown for doubt in t["doubts"])
    else:
        assert all(trial["measured"] > 0 for trial in trials)
        assert found["regret"] >= 1
        assert found["chosen"] == min(trials, key=lambda trial: trial["simulated"])["label"]
    kept = hamtune.json("measured", "validated")["items"]
    assert [one["label"] for one in kept] == [one["label"] for one in found["configurations"]]
    assert {one["purpose"] for one in kept} == {"validation"}
    if unknown:
        pytest.skip("other work left no core to the ranks, and so no run of a trial counts")


LAUNCHER = shlex.join(["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"])
BEST = Sample([0.5, 0.25], [Take(0.75, ["the cores were busy"])], ["it crashed"])
"""What was measured of the best trial."""


def validate(
    hamtune: Hamtune,
    monkeypatch: pytest.MonkeyPatch,
    *samples: Sample,
    more: tuple[str, ...] = (),
    measure: Callable[..., Any] | None = None,
) -> int:
    """The status of a validation that measures these of the first candidates."""

    def measure_first(
        _cluster: Any, _program: Any, candidates: list[Candidate], *_: Any, **__: Any
    ) -> dict[Candidate, Sample]:
        rest = [Sample() for _ in candidates]
        return dict(zip(candidates, [*samples, *rest], strict=False))

    (hamtune.directory / "job.yaml").write_text(JOB)
    (hamtune.directory / "hosts").write_text("localhost\n" * 4)
    hamtune("run", "job.yaml")
    monkeypatch.chdir(hamtune.directory)
    monkeypatch.setattr("measuring.trials.measure_candidates", measure or measure_first)
    where = ("--mpirun", LAUNCHER, "--hosts", "hosts", "--data", str(hamtune.data))
    return main(["validate", "validated", "--top", "2", "--spread", "0", *where, *more])


def test_a_candidate_that_was_not_run_is_shown_and_not_stored(
    hamtune: Hamtune, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert validate(hamtune, monkeypatch, BEST) == 0
    _, best, *others = capsys.readouterr().out.splitlines()
    assert "375ms" in best.replace(" ", "")
    assert "not run" in others[0]
    (kept,) = hamtune.json("measured", "validated")["items"]
    assert best.startswith(kept["label"])
    assert [run["seconds"] for run in kept["runs"]] == [0.5, 0.25, 0.75, None]


def test_an_interrupt_keeps_the_runs_so_far(
    hamtune: Hamtune, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(
        _cluster: Any, _program: Any, candidates: list[Candidate], *_: Any, **more: Any
    ) -> None:
        more["say"](candidates[0], BEST)
        raise KeyboardInterrupt

    assert validate(hamtune, monkeypatch, measure=interrupt) == 130
    told = capsys.readouterr()
    assert "375ms" in told.out.splitlines()[1].replace(" ", "")
    assert "interrupted: the runs so far are told, and kept" in told.err
    (kept,) = hamtune.json("measured", "validated")["items"]
    assert [run["seconds"] for run in kept["runs"]] == [0.5, 0.25, 0.75, None]


def test_what_was_measured_is_told_although_some_of_it_cannot_be_stored(
    hamtune: Hamtune, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    post = Client.post
    refused: list[str] = []

    def refuse_first(client: Client, path: str, document: Any = None, **more: Any) -> Any:
        if path.endswith("/measured") and not refused:
            refused.append(document["label"])
            raise HamtuneError("the disk is full")
        return post(client, path, document, **more)

    monkeypatch.setattr(Client, "post", refuse_first)
    assert validate(hamtune, monkeypatch, BEST, Sample([0.5]), more=("--json",)) == 1
    told = capsys.readouterr()
    assert [one["runs"] for one in json.loads(told.out)["configurations"]][:2] == [4, 1]
    last = told.err.splitlines()[-1]
    assert f"not kept with the job are the runs of {refused[0]} (the disk is full)" in last
    (kept,) = hamtune.json("measured", "validated")["items"]
    assert kept["label"] not in refused


def test_a_directory_that_nothing_can_be_preloaded_from_is_refused(tmp_path: Path) -> None:
    hamtune = Hamtune(tmp_path / "of mine", {"HAMTUNE_DATA": str(tmp_path / "data")})
    hamtune.directory.mkdir()
    (hamtune.directory / "hosts").write_text("localhost\n")
    where = ("--mpirun", LAUNCHER, "--hosts", "hosts")
    line = hamtune.refused("validate", "validated", *where)
    assert "nothing can be preloaded into programs from" in line
    assert "measure from a directory without them" in line


@pytest.mark.parametrize("option", ["--minutes", "--precision"])
@pytest.mark.parametrize("value", ["inf", "nan"])
def test_a_bound_is_a_finite_number(hamtune: Hamtune, option: str, value: str) -> None:
    line = hamtune.refused("validate", "validated", option, value)
    assert f"'{option}'" in line
    assert value in line


def test_a_cluster_must_be_named(hamtune: Hamtune) -> None:
    done = hamtune("validate", "validated")
    assert done.returncode == 2
    assert "name a cluster: either --testbed, or --mpirun with --hosts" in done.stderr
