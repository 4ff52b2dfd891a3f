"""Requests that the OpenAPI description allows, and near misses: no answer is a failure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode

from service.app import create_app
from service.runtime import Runtime
from service.settings import Settings
from tests.service.conftest import SPEC, write_pair

EXAMPLES = 12


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    where = replace(Settings.under(tmp_path_factory.mktemp("data")), upload_limit=64 * 1024)
    with Runtime(where, run=False) as started:
        yield started


def things(runtime: Runtime, folder: Path) -> dict[str, Any]:
    """One of each thing, whose ids may stand in addresses; the job has ended."""
    storage = runtime.storage
    trace = folder / "pair.ht"
    write_pair(trace)
    application = storage.applications.add(
        name="pair", kind="trace", key="trace:1", trace_sha256=storage.artifacts.put(trace),
        ranks=2, summary={},
    )  # fmt: skip
    job = storage.jobs.create(name="j", spec=SPEC, seed=1, application_id=application.id)
    storage.jobs.transition(job.id, "cancelled")
    key = storage.keys.add(
        name="k", role="viewer", scopes=(), sha256="0" * 64, expires_at=None, created_by="t"
    )
    return {
        "job_id": job.id,
        "application_id": application.id,
        "machine_id": storage.machines.add(name="m", description={"nodes": 4}).id,
        "key_id": key.id,
    }


def test_every_operation_answers_as_it_is_described(runtime: Runtime, tmp_path: Path) -> None:
    app = create_app(runtime)
    schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", app)
    known = things(runtime, tmp_path)
    asked: set[str] = set()
    for found in schema.get_all_operations():
        assert isinstance(found, Ok), found
        operation = found.ok()
        described = {int(status) for status in operation.definition.raw["responses"]}
        modes = [
            operation.as_strategy(generation_mode=mode)
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
            if mode is GenerationMode.POSITIVE or _can_be_wrong(operation)
        ]

        @settings(
            max_examples=EXAMPLES, deadline=None, database=None, derandomize=True,
            phases=[Phase.generate], suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=st.one_of(modes), real=st.booleans())
        def ask(case: Any, real: bool) -> None:
            if real:
                for name in set(case.path_parameters) & set(known):
                    case.path_parameters[name] = known[name]
            response = case.call()
            line = f"{case.method} {case.path}: {response.status_code} {response.text[:300]}"
            assert response.status_code < 500, line
            assert response.status_code in described | {405}, line  # noqa: B023
            asked.add(f"{case.method} {case.path}")

        ask()
    assert len(asked) == len(list(schema.get_all_operations()))


def _can_be_wrong(operation: Any) -> bool:
    return bool(operation.path_parameters or operation.query or operation.headers or operation.body)
