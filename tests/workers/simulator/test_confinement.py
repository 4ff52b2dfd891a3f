"""The simulator reads what strangers wrote: no mistake in it may become a way into the worker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.processes import children
from tests.workers.simulator.runs import Server, on_a_line


def status_of(process: int) -> dict[str, str]:
    """What the kernel says of a process."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def test_server_and_children_may_make_few_system_calls(
    serve: Callable[..., Server], message: Path
) -> None:
    server = serve(message)
    for _ in range(3):  # from the second one on children stand ready for the next
        assert server.ask(on_a_line(0, 1))["status"] == "completed"
    started = children(server.process.pid)
    assert started
    for process in (server.process.pid, *started):
        status = status_of(process)
        assert (status["Seccomp"], status["NoNewPrivs"]) == ("2", "1")
