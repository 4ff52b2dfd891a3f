"""Servers of tests: one that does not come up leaves nothing."""

from __future__ import annotations

import signal
import sys

import pytest

from deploy.servers import Server
from tests.processes import is_alive


class Sleeping(Server):
    """Nobody may wait for it."""

    def __init__(self) -> None:
        super().__init__(stop=signal.SIGTERM)

    def command(self) -> list[str]:
        return [sys.executable, "-c", "import time; time.sleep(600)"]

    def answers(self) -> bool:
        raise KeyboardInterrupt


def test_a_server_that_is_not_waited_for_is_ended() -> None:
    server = Sleeping()
    with pytest.raises(KeyboardInterrupt), server:
        pass
    assert not is_alive(server.pid)
    assert not server.directory.exists()
