"""A request to end is heard whatever the process does just then, and breaks nothing."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.interrupts import interruptible
from deploy.servers import PostgreSQL, Redis
from tests.cli.conftest import SECONDS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_a_request(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with interruptible() as request:
        assert not request.is_set()
        os.kill(os.getpid(), number)
        assert request.wait(SECONDS)
        assert request.number == number
    assert signal.getsignal(number) == before


def test_a_signal_while_its_own_event_is_looked_at_does_not_block() -> None:
    """Signals meet a thread that does nothing but wait for them."""
    script = """
from cli.interrupts import interruptible
with interruptible() as request:
    for _ in range(300):
        request.clear()
        print("waiting", flush=True)
        while not request.is_set():
            request.wait(0.0)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=ROOT) as one:
        assert one.stdout is not None
        for _ in range(300):
            assert one.stdout.readline() == b"waiting\n"
            one.send_signal(signal.SIGTERM)
        assert one.wait(SECONDS) == 0


def test_a_second_ctrl_c_after_a_while_ends_at_once() -> None:
    script = """
import time
from cli.interrupts import interruptible
with interruptible() as request:
    print("waiting", flush=True)
    request.wait()
    print("ending", flush=True)
    time.sleep(3600)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=ROOT) as one:
        assert one.stdout is not None
        assert one.stdout.readline() == b"waiting\n"
        one.send_signal(signal.SIGINT)
        one.send_signal(signal.SIGINT)  # what the terminal sends may be handed on as well
        assert one.stdout.readline() == b"ending\n"
        assert one.poll() is None
        time.sleep(1.5)
        one.send_signal(signal.SIGINT)
        assert one.wait(SECONDS) == -signal.SIGINT


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    directory = tmp_path_factory.mktemp("terminated")
    with PostgreSQL() as postgresql, Redis() as redis:
        yield os.environ | {
            "HAMTUNE_DATA": str(directory / "data"),
            "HAMTUNE_ARTIFACTS_URL": (directory / "artifacts").as_uri(),
            "HAMTUNE_DATABASE_URL": postgresql.url,
            "HAMTUNE_BROKER_URL": redis.url,
        }


@pytest.mark.parametrize("command", ["api --port 0", "coordinator", "worker --concurrency 1"])
def test_a_process_that_only_just_starts_ends_in_order(
    command: str, environment: dict[str, str]
) -> None:
    rng = random.Random(command)
    for _ in range(6):
        process = subprocess.Popen(
            [sys.executable, "-m", "cli", *command.split()],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        time.sleep(rng.uniform(0.0, 2.0))
        process.terminate()
        said, _ = process.communicate(timeout=SECONDS)
        # Before it serves, the signal ends it as any command.
        assert process.returncode in (0, 130, -signal.SIGTERM), said
        assert "ignored" not in said
        assert "rror" not in said
