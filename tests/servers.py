"""Real servers for tests: each in a temporary directory, on a free port of the loopback interface.

They are ended by their process id, and by the kernel should the test process be killed.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

START_SECONDS = 60.0
STOP_SECONDS = 30.0


@contextmanager
def postgresql() -> Iterator[str]:
    """A PostgreSQL server; yields the URL of an empty database in it."""
    binaries = postgresql_binaries()
    # PostgreSQL refuses to run as root.
    account = _unprivileged_account() if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="hamtune-postgresql-") as directory:
        if account is not None:
            shutil.chown(directory, account.pw_name, account.pw_gid)
        data = Path(directory) / "data"
        initdb = [str(binaries / "initdb"), "-D", str(data), "-U", "hamtune", "-A", "trust"]
        initdb += ["--no-sync", "-E", "UTF8", "--locale=C"]
        done = subprocess.run(
            _as_user(account, initdb), cwd=directory, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        port = free_port()
        command = [str(binaries / "postgres"), "-D", str(data), "-p", str(port)]
        for setting in (
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "max_connections=200",
            "fsync=off",
        ):
            command += ["-c", setting]
        ready = [str(binaries / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
        ready += ["-d", "postgres"]
        with _running(
            _as_user(account, command),
            directory,
            lambda: subprocess.run(ready, check=False).returncode == 0,
            stop=signal.SIGQUIT,  # at once: nobody will want the data again
        ):
            url = f"postgresql+psycopg://hamtune@127.0.0.1:{port}"
            create = [str(binaries / "createdb"), "-h", "127.0.0.1", "-p", str(port)]
            subprocess.run([*create, "-U", "hamtune", "hamtune"], check=True)
            yield f"{url}/hamtune"


@contextmanager
def redis(port: int | None = None) -> Iterator[str]:
    """A Redis server that keeps nothing on disk; yields its URL."""
    program = shutil.which("redis-server")
    assert program is not None, "redis-server is missing; run ./setup.sh --test"
    with tempfile.TemporaryDirectory(prefix="hamtune-redis-") as directory:
        port = port or free_port()
        command = [program, "--port", str(port), "--bind", "127.0.0.1"]
        command += ["--save", "", "--appendonly", "no", "--dir", directory]
        with _running(_as_user(None, command), directory, lambda: _answers(port), signal.SIGTERM):
            yield f"redis://127.0.0.1:{port}/0"


@contextmanager
def s3() -> Iterator[dict[str, str]]:
    """A server that speaks S3, without buckets; yields the environment that leads there."""
    with tempfile.TemporaryDirectory(prefix="hamtune-s3-") as directory:
        port = free_port()
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]

        def answers() -> bool:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
            except OSError:
                return False
            return True

        with _running(_as_user(None, command), directory, answers, signal.SIGTERM):
            yield {
                "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
                "AWS_ACCESS_KEY_ID": "test",
                "AWS_SECRET_ACCESS_KEY": "test",
                "AWS_DEFAULT_REGION": "us-east-1",
            }


@contextmanager
def _running(
    command: list[str], directory: str, is_ready: Callable[[], bool], stop: signal.Signals
) -> Iterator[None]:
    log = Path(directory) / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=directory, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not is_ready():
            assert process.poll() is None, f"{command} ended:\n{log.read_text()}"
            assert time.monotonic() < deadline, f"{command} did not start:\n{log.read_text()}"
            time.sleep(0.05)
        yield
    finally:
        if process.poll() is None:
            process.send_signal(stop)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _as_user(account: pwd.struct_passwd | None, command: list[str]) -> list[str]:
    prefix = ["setpriv", "--pdeathsig", "TERM"]
    if account is not None:
        prefix += [f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups"]
    return [*prefix, *command]


def _unprivileged_account() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")


def postgresql_binaries() -> Path:
    # Debian keeps the server's programs out of the path, one directory a version.
    versions = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3])
    )
    if versions:
        return versions[-1].parent
    program = shutil.which("postgres")
    assert program is not None, "PostgreSQL is missing; run ./setup.sh --test"
    return Path(program).resolve().parent


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1.0) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
    except OSError:
        return False
