"""What is read back of a stored job."""

from pathlib import Path

from tests.tuner.analytic import SPEC, create_job, open_storage, prepare
from tuner.job_space import read_job, space_of


def test_a_stored_machine_is_looked_up(tmp_path: Path) -> None:
    storage = open_storage(tmp_path)
    described = create_job(storage)
    machine = storage.add_machine(name="m", description=described.spec["machine"])
    job = create_job(storage, machine={"id": machine.id})
    prepare(storage, described.id)
    application_id = storage.get_job(described.id).application_id
    assert application_id is not None
    storage.set_job_prepared(job.id, application_id=application_id, space={})
    job = storage.get_job(job.id)
    spec = read_job(storage, job)
    assert spec.described_machine.nodes == SPEC["machine"]["nodes"]
    assert space_of(storage, job, spec).space.size > 1000
    storage.close()
