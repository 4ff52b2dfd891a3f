import csv
import io
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from cli.__main__ import main
from cli.trials import FORMATS
from searchspace.configuration import Configuration
from searchspace.job import load_job
from service.runtime import Runtime
from service.settings import Settings
from service.tables.files import FILES
from storage.records import Outcome
from tests.service.conftest import SPEC


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with a job of one trial."""
    with Runtime(Settings.under(tmp_path), run=False) as runtime:
        storage = runtime.storage
        job = storage.create_job(name="cg-16", spec=load_job(SPEC).canonical(), seed=1)
        leased = storage.acquire_lease("test", 60.0, job.id)
        assert leased is not None
        configuration = Configuration({"topology": "random", "topology_seed": 1})
        trial = storage.propose_trial(
            job.id,
            leased.lease_token,
            number=1,
            kind="search",
            label=None,
            configuration=configuration.to_dict(),
            configuration_sha256=configuration.sha256,
            technique="PureRandom",
            cutoff=None,
        )
        storage.settle_trial(trial.id, leased.lease_token, Outcome(status="completed", value=0.25))
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
