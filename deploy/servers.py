"""Real servers for tests and benchmarks: each in a temporary directory, on a free loopback port.

They are ended by their process id, and by the kernel should the process die that started them.
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
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Self

START_SECONDS = 300.0
STOP_SECONDS = 30.0


class Server(ABC):
    """A server in a directory of its own, on a port that is its own also while it is stopped."""

    def __init__(self, *, stop: signal.Signals, port: int | None = None) -> None:
        self._reserved: ReservedPort | None = None
        if port is None:
            self._reserved = ReservedPort()
            port = self._reserved.number
        self.port = port
        self._stop = stop
        self._directory = tempfile.TemporaryDirectory(prefix="hamtune-server-")
        self.directory = Path(self._directory.name)
        self._process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def command(self) -> list[str]:
        """What to run."""

    @abstractmethod
    def answers(self) -> bool:
        """Whether it is ready."""

    def start(self) -> None:
        """Start it and wait until it is ready."""
        command, log = self.command(), self.directory / "log"
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command,
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            assert self._process.poll() is None, f"{command} ended:\n{log.read_text()}"
            assert time.monotonic() < deadline, f"{command} did not start:\n{log.read_text()}"
            time.sleep(0.05)

    @property
    def pid(self) -> int:
        """Of its first process."""
        assert self._process is not None
        return self._process.pid

    def stop(self, number: signal.Signals | None = None) -> None:
        """End it with a signal, by default the one by which it ends soon."""
        process = self._process
        if process is not None and process.poll() is None:
            process.send_signal(number or self._stop)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            Server.__exit__(self)
            raise
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()
        if self._reserved is not None:
            self._reserved.close()
        self._directory.cleanup()


class PostgreSQL(Server):
    """A PostgreSQL server with an empty database.

    Args:
        durable: Whether a commit waits for the disk, as in production; tests do without.
    """

    def __init__(self, *, durable: bool = False) -> None:
        super().__init__(stop=signal.SIGQUIT)  # at once: nobody will want the data again
        self._durable = durable
        self._binaries = postgresql_binaries()
        # PostgreSQL refuses to run as root.
        self._account = _unprivileged_account() if os.geteuid() == 0 else None
        if self._account is not None:
            shutil.chown(self.directory, self._account.pw_name, self._account.pw_gid)
        initdb = [self._binary("initdb"), "-D", self._data, "-U", "hamtune", "-A", "trust"]
        initdb += ["--no-sync", "-E", "UTF8", "--locale=C"]
        done = subprocess.run(
            _as_user(self._account, initdb), cwd=self.directory, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr

    @property
    def url(self) -> str:
        """Of the database."""
        return f"postgresql+psycopg://hamtune@127.0.0.1:{self.port}/hamtune"

    @property
    def _data(self) -> str:
        return str(self.directory / "data")

    def _binary(self, name: str) -> str:
        return str(self._binaries / name)

    def command(self) -> list[str]:
        """See `Server`."""
        command = [self._binary("postgres"), "-D", self._data, "-p", str(self.port)]
        for setting in (
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "max_connections=200",
            f"fsync={'on' if self._durable else 'off'}",
        ):
            command += ["-c", setting]
        return _as_user(self._account, command)

    def answers(self) -> bool:
        """See `Server`."""
        ready = [self._binary("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run([*ready, "-d", "postgres"], check=False).returncode == 0

    def __enter__(self) -> Self:
        super().__enter__()
        create = [self._binary("createdb"), "-h", "127.0.0.1", "-p", str(self.port)]
        try:
            subprocess.run([*create, "-U", "hamtune", "hamtune"], check=True)
        except BaseException:
            self.__exit__()
            raise
        return self


class Redis(Server):
    """A Redis server that keeps nothing on disk: once started again, it is empty."""

    def __init__(self, port: int | None = None) -> None:
        super().__init__(stop=signal.SIGTERM, port=port)

    @property
    def url(self) -> str:
        """Of its first database."""
        return f"redis://127.0.0.1:{self.port}/0"

    def command(self) -> list[str]:
        """See `Server`."""
        program = shutil.which("redis-server")
        assert program is not None, "redis-server is missing; run ./setup.sh --test"
        command = [program, "--port", str(self.port), "--bind", "127.0.0.1"]
        command += ["--save", "", "--appendonly", "no", "--dir", str(self.directory)]
        return _as_user(None, command)

    def answers(self) -> bool:
        """See `Server`."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1.0) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False


class S3(Server):
    """A server that speaks S3, without buckets."""

    def __init__(self) -> None:
        super().__init__(stop=signal.SIGTERM)

    @property
    def environment(self) -> dict[str, str]:
        """What leads clients there."""
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def command(self) -> list[str]:
        """See `Server`."""
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]
        return _as_user(None, command)

    def answers(self) -> bool:
        """See `Server`."""
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1.0).close()
        except OSError:
            return False
        return True


class ReservedPort:
    """A port of the loopback interface that the kernel gives to nobody else while this is held.

    Who connects to it is refused, until a server listens on it: those that name the port may take
    it, for they set SO_REUSEADDR, as this does, which never listens.
    """

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", 0))
        self.number = int(self._socket.getsockname()[1])

    def close(self) -> None:
        """Give it back."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


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
    """Where the programs of the newest installed server are."""
    # Debian keeps the server's programs out of the path, one directory a version.
    versions = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3])
    )
    if versions:
        return versions[-1].parent
    program = shutil.which("postgres")
    assert program is not None, "PostgreSQL is missing; run ./setup.sh --test"
    return Path(program).resolve().parent
