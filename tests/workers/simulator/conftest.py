"""Servers that end with the test that started them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from searchspace.formats.operations import encode
from tests.workers.simulator.runs import Server, write_program


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Starts servers over traces."""
    servers: list[Server] = []

    def start(*traces: Path) -> Server:
        servers.append(Server(*traces))
        return servers[-1]

    yield start
    for server in servers:
        if server.process.poll() is None:
            server.process.kill()
        server.process.communicate()


@pytest.fixture
def message(tmp_path: Path) -> Path:
    """A trace of two ranks: one computes for 1 ms and sends 1000 bytes to the other."""
    return write_program(
        tmp_path / "message.ht",
        [
            [encode("compute", flops=1e6), encode("send", peer=1, tag=7, count=1000, size=1)],
            [encode("recv", peer=0, tag=7, count=1000, size=1)],
        ],
    )
