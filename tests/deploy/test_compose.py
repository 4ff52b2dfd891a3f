"""docker-compose.yml: by the compose specification, and by starting natively what it says.

`compose_spec.json` is the JSON schema of the Compose Specification (Apache License 2.0), taken from
Debian's docker-compose 1.29.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from sqlalchemy import make_url

from deploy import servers
from tests.cli.conftest import SECONDS, Hamtune

ROOT = Path(__file__).parents[2]
OURS = ("api", "coordinator", "migrate", "prepare", "worker")
BINARIES = servers.postgresql_binaries()


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return loaded


def test_the_file_follows_the_specification(compose: dict[str, Any]) -> None:
    schema = json.loads((Path(__file__).parent / "compose_spec.json").read_text())
    valid = jsonschema.Draft201909Validator(schema)
    valid.validate(compose)
    with pytest.raises(jsonschema.ValidationError):
        valid.validate({**compose, "services": {"x": {"comand": []}}})


def test_what_services_refer_to_is_there(compose: dict[str, Any]) -> None:
    assert set(OURS) < set(compose["services"])
    for name, service in compose["services"].items():
        assert set(service["secrets"]) <= set(compose["secrets"]), name
        assert set(service["networks"]) <= set(compose["networks"]), name
        assert set(service.get("depends_on", {})) <= set(compose["services"]), name
        for volume in service.get("volumes", []):
            assert volume.partition(":")[0] in compose["volumes"], name
        for key, value in service.get("environment", {}).items():
            if key.endswith("_FILE"):
                assert value.removeprefix("/run/secrets/") in service["secrets"], name
            assert "://" not in value or value.startswith("file:///"), f"{name}: {key}"


def test_nothing_runs_as_root_or_writes_its_root_or_takes_all_there_is(
    compose: dict[str, Any],
) -> None:
    for name, service in compose["services"].items():
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert {"cpus", "memory"} <= set(service["deploy"]["resources"]["limits"]), name
        assert service["pids_limit"] > 0, name
        assert "healthcheck" in service or name == "migrate"
        assert name in OURS or int(service["user"].partition(":")[0]) > 0, name
        assert ("seccomp=unconfined" in service["security_opt"]) == (name == "prepare")
        options = [option for mount in service["tmpfs"] for option in re.split("[:,]", mount)]
        assert ("exec" in options) == (name == "prepare")  # noexec where nothing is said
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
    assert compose["services"]["database"]["shm_size"] == "256m"  # 64 MB by default
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert re.search(r"^RUN ./setup.sh", dockerfile, re.MULTILINE)  # what CI runs natively
    assert re.search(r"^USER 10001:10001$", dockerfile, re.MULTILINE)


class Native:
    """The services of the file, started without containers: addresses and paths are replaced."""

    def __init__(self, compose: dict[str, Any], hamtune: Hamtune, replaced: dict[str, str]) -> None:
        self.services = compose["services"]
        self.hamtune = hamtune
        self.replaced = replaced

    def text(self, text: str, **more: str) -> str:
        for old, new in {**self.replaced, **more, "$$": "$"}.items():
            text = text.replace(old, new)
        return text

    def environment(self, name: str, **more: str) -> dict[str, str]:
        given = self.services[name]["environment"]
        return {key: self.text(value, **more) for key, value in given.items()}

    def is_healthy(self, name: str, environment: dict[str, str], **more: str) -> bool:
        check = self.services[name]["healthcheck"]
        kind, *command = [self.text(part, **more) for part in check["test"]]
        if kind == "CMD-SHELL":
            command = ["sh", "-c", *command]
        path = f"{BINARIES}:{os.environ['PATH']}"
        done = subprocess.run(
            command, env={**os.environ, **environment, "PATH": path}, capture_output=True
        )
        return done.returncode == 0

    def await_health(self, name: str, **more: str) -> None:
        deadline = time.monotonic() + SECONDS
        while not self.is_healthy(name, {}, **more):
            assert time.monotonic() < deadline, name
            time.sleep(0.2)


@contextmanager
def started(command: list[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(SECONDS)


def test_every_service_starts_and_becomes_healthy(
    compose: dict[str, Any],
    hamtune: Hamtune,
    create_database: Callable[[], str],
    reserve_port: Callable[[], int],
) -> None:
    secrets = hamtune.directory / "secrets"
    subprocess.run([ROOT / "deploy" / "make_secrets.sh", secrets], check=True)
    database = make_url(create_database())
    broker, api = str(reserve_port()), str(reserve_port())
    url = (secrets / "database_url").read_text()
    assert re.fullmatch(r"postgresql\+psycopg://hamtune:[0-9a-f]{64}@database/hamtune", url)
    for name, old, new in (
        ("database_url", "@database/hamtune", f"@127.0.0.1:{database.port}/{database.database}"),
        ("broker_url", "@broker:6379", f"@127.0.0.1:{broker}"),
    ):
        (secrets / name).chmod(0o600)
        (secrets / name).write_text((secrets / name).read_text().replace(old, new))
    native = Native(
        compose,
        hamtune,
        {
            "/run/secrets": str(secrets),
            "/var/lib/hamtune": str(hamtune.data),
            "/opt/hamtune": str(ROOT),
            "0.0.0.0": "127.0.0.1",
            "8080": api,
            "redis-server": f"redis-server --bind 127.0.0.1 --port {broker}",
            "redis-cli": f"redis-cli -p {broker}",
        },
    )
    where = {"PGHOST": "127.0.0.1", "PGPORT": str(database.port)}
    assert native.is_healthy("database", where)
    assert not native.is_healthy("database", {**where, "PGPORT": str(reserve_port())})
    with ExitStack() as running:
        redis = [native.text(part) for part in native.services["broker"]["command"]]
        running.enter_context(started(redis, cwd=hamtune.directory))
        native.await_health("broker")

        hamtune.environment = native.environment("migrate")
        migrated = hamtune(*native.services["migrate"]["command"])
        assert migrated.returncode == 0, migrated.stderr

        ports = {}
        for name in ("api", "coordinator", "worker", "prepare"):
            ports[name] = {"9100": str(reserve_port())}
            hamtune.environment = native.environment(name, **ports[name])
            command = [native.text(part) for part in native.services[name]["command"]]
            running.enter_context(hamtune.running(*command))
        for name, port in ports.items():
            native.await_health(name, **port)

        made = hamtune.json("keys", "create", "--role", "admin", "me")
        hamtune.environment = {"HAMTUNE_API_KEY": made["key"]}
        server = ("--server", f"http://127.0.0.1:{api}")
        assert hamtune.json("jobs", *server) == []
        hamtune.environment = {}
        assert "send a key" in hamtune.refused("jobs", *server, status=1)
