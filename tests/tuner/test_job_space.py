"""What is read back of a stored job."""

from pathlib import Path

import pytest

from storage.errors import NotFound
from tests.tuner.analytic import SPEC, create_job, open_storage, prepare
from tuner.job_space import read_job, space_of


def test_a_stored_machine_is_looked_up(tmp_path: Path) -> None:
    storage = open_storage(tmp_path)
    described = create_job(storage)
    machine = storage.machines.add(name="m", description=described.spec["machine"])
    job = create_job(storage, machine={"id": machine.id})
    prepare(storage, described.id)
    application_id = storage.jobs.get(described.id).application_id
    assert application_id is not None
    storage.jobs.set_prepared(job.id, application_id=application_id, space={})
    job = storage.jobs.get(job.id)
    spec = read_job(storage, job)
    assert spec.described_machine.nodes == SPEC["machine"]["nodes"]
    assert space_of(storage, job, spec).space.size > 1000
    storage.close()


@pytest.mark.parametrize(("family", "is_needed"), [("tailored", True), ("optimised", False)])
def test_prices_that_need_a_trace_which_is_gone_stop_the_job(
    tmp_path: Path, family: str, is_needed: bool
) -> None:
    """Without them it would go on with other cutoffs, and ask other trials than it did."""
    storage = open_storage(tmp_path)
    search = {"topology": [family, "random"], "ordering": ["original", "hamorder"]}
    job = create_job(storage, search=search, constraints={"diameter": 4})
    gone = storage.applications.add(
        name="cg",
        kind="builtin",
        key="gone",
        trace_sha256="0" * 64,
        ranks=16,
        summary={"calls": {}},
    )
    storage.jobs.set_prepared(job.id, application_id=gone.id, space={})
    job = storage.jobs.get(job.id)
    spec = read_job(storage, job)
    if is_needed:
        with pytest.raises(NotFound):
            space_of(storage, job, spec)
    else:
        assert space_of(storage, job, spec).bills is not None
    storage.close()
