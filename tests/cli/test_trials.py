import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import optuna
import pyarrow.parquet as parquet
import pytest
from optuna.storages.journal import JournalFileBackend

from cli.__main__ import main
from cli.trials import FORMATS
from searchspace.configuration import Configuration
from searchspace.job import load_job
from service.runtime import Runtime
from service.settings import Settings
from service.tables.files import FILES
from storage.proposal import Proposal
from storage.records import Outcome
from storage.storage import Storage
from tests.service.conftest import SPEC


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with a job of one trial."""
    with Runtime(Settings.under(tmp_path), run=False) as runtime:
        storage = runtime.storage
        job = storage.jobs.create(name="cg-16", spec=load_job(SPEC).canonical(), seed=1)
        leased = storage.leases.acquire("test", 60.0, job.id)
        assert leased is not None
        configuration = Configuration({"topology": "random", "topology_seed": 1})
        trial = storage.trials.propose(
            job.id,
            leased.lease_token,
            Proposal.of(
                configuration,
                number=1,
                kind="search",
                technique="PureRandom",
            ),
        )
        storage.trials.settle(trial.id, leased.lease_token, Outcome(status="completed", value=0.25))
    return tmp_path


def test_the_formats_are_those_of_the_service() -> None:
    assert list(FILES) == list(FORMATS)


def test_trials_are_printed_as_csv(data: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["trials", "cg-16", "--data", str(data)]) == 0
    (row,) = csv.DictReader(io.StringIO(capfdbinary.readouterr().out.decode()))
    assert (row["number"], row["value"], row["technique"]) == ("1", "0.25", "PureRandom")


def test_trials_are_written_as_parquet(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = data / "trials.parquet"
    asked = ["trials", "cg-16", "--format", "parquet", "-o", str(target), "--data", str(data)]
    assert main(asked) == 0
    assert parquet.read_table(target).column("value").to_pylist() == [0.25]
    assert "1 trials" in capsys.readouterr().err


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A data directory with a job of a baseline and trials of every outcome."""
    with Runtime(Settings.under(tmp_path), run=False) as runtime:
        storage = runtime.storage
        job = storage.jobs.create(name="cg-16", spec=load_job(SPEC).canonical(), seed=1)
        leased = storage.leases.acquire("test", 60.0, job.id)
        assert leased is not None
        for number, outcome in enumerate(OUTCOMES, 1):
            add(storage, job.id, leased.lease_token, number, outcome)
    return tmp_path


def add(storage: Storage, job_id: str, token: int, number: int, outcome: Outcome) -> None:
    """A trial with its outcome; the first is a baseline."""
    chosen = {"topology": "random", "topology_seed": number, "mapping": "by-order"}
    configuration = Configuration(chosen)
    trial = storage.trials.propose(
        job_id,
        token,
        Proposal.of(
            configuration,
            number=number,
            kind="baseline" if number == 1 else "search",
            label="given" if number == 1 else None,
            technique=None if number == 1 else "PureRandom",
        ),
    )
    storage.trials.settle(trial.id, token, outcome)


OUTCOMES = (
    Outcome(status="completed", value=0.25),
    Outcome(status="failed", reason={"kind": "wall", "message": "stopped\nafter 2 s"}),
    Outcome(status="censored", value=0.5),
    Outcome(status="infeasible", reason={"kind": "cores", "message": "too few cores"}),
    Outcome(status="failed", reason={"kind": "crash", "message": "it crashed"}),
)


def test_a_list_says_which_trials_failed_and_why(
    mixed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = ["--state", "failed", "--state", "infeasible"]
    assert main(["trials", "cg-16", *wanted, "--format", "list", "--data", str(mixed)]) == 0
    title, *rows, common = capsys.readouterr().out.splitlines()
    assert title.split() == ["trial", "kind", "state", "time", "why", "configuration"]
    assert [row.split()[:4] for row in rows] == [
        ["2", "search", "failed", "-"],
        ["4", "search", "infeasible", "-"],
        ["5", "search", "failed", "-"],
    ]
    assert "limits.wall_seconds" in rows[0]
    assert "of the job file ended it: stopped after 2 s" in rows[0]
    assert "too few cores" in rows[1]
    assert [row.split()[-2:] for row in rows] == [["topology_seed", n] for n in ("2", "4", "5")]
    assert common == "in all of them: mapping by-order, topology random"


def test_a_list_has_times_bounds_and_labels(
    mixed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = mixed / "trials.txt"
    wanted = ["--state", "completed", "--state", "censored", "--format", "list"]
    assert main(["trials", "cg-16", *wanted, "-o", str(target), "--data", str(mixed)]) == 0
    assert "2 trials" in capsys.readouterr().err
    title, first, second, _ = target.read_text().splitlines()
    assert "why" not in title.split()
    assert first.split()[:6] == ["1", "baseline", "given", "completed", "250", "ms"]
    assert second.split()[:6] == ["3", "search", "censored", ">", "500", "ms"]


def test_what_all_of_a_list_failed_of_is_said_once(
    mixed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = ["--state", "infeasible", "--format", "list", "--data", str(mixed)]
    assert main(["trials", "cg-16", *wanted]) == 0
    title, _ = capsys.readouterr().out.splitlines()
    assert "why" in title.split()  # of one trial it is in its row
    with Runtime(Settings.under(mixed), run=False) as runtime:
        (job,) = runtime.storage.jobs.page().items
        add(runtime.storage, job.id, job.lease_token, 6, OUTCOMES[3])
    assert main(["trials", "cg-16", *wanted]) == 0
    title, *rows, why, _ = capsys.readouterr().out.splitlines()
    assert len(rows) == 2
    assert "why" not in title.split()
    assert why == "all of them: too few cores"


def test_no_trial_in_a_state_is_said(mixed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = ["--state", "running", "--state", "pending", "--format", "list"]
    assert main(["trials", "cg-16", *wanted, "--data", str(mixed)]) == 0
    assert "has no running or pending trial" in capsys.readouterr().out


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_has_the_trials_of_some_states(
    mixed: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    target = mixed / "trials"
    wanted = ["--state", "failed", "--state", "censored", "--format", form, "-o", str(target)]
    assert main(["trials", "cg-16", *wanted, "--data", str(mixed)]) == 0
    assert "3 trials" in capsys.readouterr().err
    assert READ[form](target) == [2, 3, 5]


def from_csv(path: Path) -> list[int]:
    return [int(row["number"]) for row in csv.DictReader(path.open())]


def from_parquet(path: Path) -> list[int]:
    return list(parquet.read_table(path).column("number").to_pylist())


def from_study(path: Path) -> list[int]:
    storage = optuna.storages.JournalStorage(JournalFileBackend(str(path)))
    (name,) = optuna.get_all_study_names(storage)
    study = optuna.load_study(study_name=name, storage=storage)
    return [trial.user_attrs["number_in_job"] for trial in study.trials]


READ: dict[str, Callable[[Path], list[int]]] = {
    "csv": from_csv,
    "parquet": from_parquet,
    "optuna": from_study,
}


def test_json_has_the_trials_as_they_are(mixed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = ["trials", "cg-16", "--json", "--data", str(mixed)]
    assert main([*wanted, "--state", "infeasible"]) == 0
    (trial,) = json.loads(capsys.readouterr().out)
    assert trial["reason"] == {"kind": "cores", "message": "too few cores"}
    assert main([*wanted, "--format", "csv"]) == 2
    assert "leave --format out" in capsys.readouterr().err


def test_a_job_says_in_words_what_failed_and_which_limit_to_raise(
    mixed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Runtime(Settings.under(mixed), run=False) as runtime:
        (job,) = runtime.storage.jobs.page().items
        add(runtime.storage, job.id, job.lease_token, 6, OUTCOMES[1])
    assert main(["show", "cg-16", "--data", str(mixed)]) == 0
    said = capsys.readouterr().out.splitlines()
    (ended,) = (line for line in said if line.startswith("  2 failed: "))
    assert ended.startswith("  2 failed: stopped after 2 s; raise limits.wall_seconds")
    assert "  1 failed: it crashed" in said
    assert main(["jobs", "--data", str(mixed)]) == 0
    assert "3: wall-clock limit" in capsys.readouterr().out
