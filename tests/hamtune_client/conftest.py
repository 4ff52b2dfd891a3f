"""The service of the tests of `service`, under the Python client."""

from tests.service.conftest import add_trials, client, create_job, runtime, storage

__all__ = ["add_trials", "client", "create_job", "runtime", "storage"]
