"""A service that asks for keys, with two projects in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.auth.principal import LOCAL
from service.auth.service import create
from service.auth.settings import AuthSettings
from service.runtime import Runtime
from service.settings import Settings
from storage.storage import Storage


@dataclass(frozen=True)
class Guarded:
    """A service that asks for keys."""

    client: TestClient
    storage: Storage

    def key(self, project: str = "ours", role: str = "admin", **more: Any) -> dict[str, str]:
        """The header with a fresh key."""
        document = {"name": role, "role": role, "project": project, **more}
        _, token = create(self.storage, LOCAL, document)
        return {"Authorization": f"Bearer {token}"}


@pytest.fixture
def guard(tmp_path: Path) -> Iterator[Callable[..., Guarded]]:
    """Starts services with the given settings of authentication."""
    started: list[Runtime] = []

    def start(**settings: Any) -> Guarded:
        where = replace(
            Settings.under(tmp_path / f"data-{len(started)}"),
            auth=AuthSettings(required=True, **settings),
            upload_limit=64 * 1024,
        )
        runtime = Runtime(where, run=False)
        runtime.start()
        started.append(runtime)
        client = TestClient(create_app(runtime), raise_server_exceptions=False)
        return Guarded(client, runtime.storage)

    yield start
    for runtime in started:
        runtime.stop()


@pytest.fixture
def guarded(guard: Callable[..., Guarded]) -> Guarded:
    """A service that asks for keys, and does not count requests."""
    return guard(rate=None)
