import json
import os
import signal
import socket
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import httpx
import pytest

from searchspace.errors import HamtuneError, InvalidInput
from service.processes import run_api, run_coordinator, run_worker, serve
from service.runtime import Runtime
from service.settings import Settings
from storage.storage import Storage
from tests.service.live import SECONDS, Server, started


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with started(tmp_path, run=False) as running:
        yield running


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_an_address_that_others_can_reach_is_refused(tmp_path: Path, host: str) -> None:
    with (
        Runtime(Settings.under(tmp_path), run=False) as runtime,
        pytest.raises(InvalidInput, match="without authentication"),
    ):
        serve(runtime, host, 0)


def test_a_port_in_use_or_out_of_range_is_named(tmp_path: Path) -> None:
    with (
        Runtime(Settings.under(tmp_path), run=False) as runtime,
        socket.create_server(("127.0.0.1", 0)) as taken,
    ):
        port = taken.getsockname()[1]
        with pytest.raises(HamtuneError, match=f"cannot listen on 127.0.0.1 port {port}: "):
            serve(runtime, "127.0.0.1", port)
        with pytest.raises(InvalidInput, match="70000 is not a port"):
            serve(runtime, "127.0.0.1", 70000)


def test_separate_processes_need_a_broker(tmp_path: Path) -> None:
    settings = Settings.under(tmp_path)
    with pytest.raises(InvalidInput, match="set HAMTUNE_BROKER_URL"):
        run_api(settings, "127.0.0.1", 0, stop=Event())
    with pytest.raises(InvalidInput, match="set HAMTUNE_BROKER_URL"):
        run_coordinator(settings, Event())
    with pytest.raises(InvalidInput, match="set HAMTUNE_BROKER_URL"):
        run_worker(settings, Event())


def test_two_embedded_runtimes_do_not_run_over_the_same_data(tmp_path: Path) -> None:
    settings = replace(Settings.under(tmp_path), concurrency=1)
    with (
        Runtime(settings),
        pytest.raises(HamtuneError, match=f"process {os.getpid()} already runs on"),
    ):
        Runtime(settings).start()
    with Runtime(settings):
        pass


def test_a_signal_before_it_serves_is_not_lost(tmp_path: Path) -> None:
    stop = Event()
    stop.set()
    with Runtime(Settings.under(tmp_path), run=False) as runtime:
        serve(runtime, "127.0.0.1", 0, stop=stop, on_ready=lambda _: pytest.fail("it serves"))


def test_it_answers_only_to_loopback_names(server: Server) -> None:
    jobs = f"{server.url}/api/v1/jobs"
    assert httpx.get(jobs).status_code == 200
    response = httpx.get(jobs, headers={"Host": "evil.example"})
    assert response.status_code == 403
    assert response.headers["content-type"] == "application/problem+json"


def test_a_length_that_lies_does_not_help(server: Server) -> None:
    port = int(server.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as client:
        client.sendall(
            b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        )
        for _ in range(16):
            client.sendall(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
        # All that fits has been sent when the byte comes that does not: nothing is cut short.
        client.sendall(b"1\r\n \r\n")
        assert client.recv(12) == b"HTTP/1.1 413"


def test_sigterm_ends_event_streams_and_the_server(server: Server, tmp_path: Path) -> None:
    storage = Storage.open(f"sqlite:///{tmp_path}/hamtune.db", str(tmp_path / "artifacts"))
    job = storage.jobs.create(name="test", spec={}, seed=1)
    with urllib.request.urlopen(
        f"{server.url}/api/v1/jobs/{job.id}/events", timeout=SECONDS
    ) as stream:
        # Comments come in silence, which a busy machine may fill with them.
        lines = (line for line in stream if not line.startswith(b":"))
        for line in lines:
            if line.startswith(b"data: "):
                break
        # An event that comes later arrives without being asked for.
        storage.events.append(job.id, "message", {"text": "hello"})
        for line in lines:
            if line.startswith(b"data: "):
                assert json.loads(line[6:])["data"] == {"text": "hello"}
                break
        server.process.send_signal(signal.SIGTERM)
        assert set(lines) <= {b"\n"}
    assert server.process.wait(timeout=SECONDS) == -signal.SIGTERM
    storage.close()


@pytest.mark.parametrize("proxy", [None, "127.0.0.1"])
def test_only_a_proxy_that_was_named_says_where_callers_come_from(
    proxy: str | None, tmp_path: Path
) -> None:
    """With another address for every guess nobody who tries keys would ever have to wait."""
    environment = {} if proxy is None else {"FORWARDED_ALLOW_IPS": proxy}
    with (
        started(tmp_path, run=False, keys=True, environment=environment) as running,
        httpx.Client(base_url=running.url) as client,
    ):
        statuses = {
            client.get("/api/v1/jobs", headers={"X-Forwarded-For": f"192.0.2.{n}"}).status_code
            for n in range(100)
        }
    assert statuses == ({401, 429} if proxy is None else {401})
