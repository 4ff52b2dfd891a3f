"""`hamtune agent`: measures the finalists of jobs on a cluster, for a service elsewhere."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import socket
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click
import httpx
from pydantic import BeforeValidator, Field, field_validator, model_validator

from cli.announced import is_local
from cli.client import Client
from cli.options import example, print_json, say
from searchspace.documents import read_document
from searchspace.errors import HamtuneError, InvalidInput
from searchspace.validation import Description, check, field_error
from storage.identifiers import new_id

if TYPE_CHECKING:
    from measuring.agent import Agent, Program
    from measuring.clusters import Cluster

__all__ = ["COMMANDS", "Configuration", "measuring_on_testbed"]


def _words(value: Any) -> Any:
    return shlex.split(value) if isinstance(value, str) else value


Command = Annotated[list[str], BeforeValidator(_words), Field(min_length=1)]


class Application(Description):
    """A program of the cluster's."""

    command: Command
    """The program and its arguments, as a line or a list."""
    time_from: str | None = None
    """A regular expression; its first group is the seconds. By default those of the whole run."""

    @field_validator("time_from")
    @classmethod
    def _check_expression(cls, expression: str | None) -> str | None:
        if expression is not None:
            try:
                groups = re.compile(expression).groups
            except re.error as error:
                raise ValueError(f"is no regular expression: {error}") from None
            if groups < 1:
                raise ValueError("needs a group (...) around the seconds")
        return expression


class Configuration(Description):
    """All that an agent does on a cluster: what it is not told here, it does not run."""

    cluster: str = Field(min_length=1, max_length=200)
    """A name for the cluster: all times of a job are of one."""
    mpirun: Command = Field(default_factory=lambda: ["mpirun"])
    """The launcher with options of the cluster's own: `mpirun --mca btl tcp,self`."""
    library: Literal["openmpi", "mpich"] = "openmpi"
    """The kind of MPI library that programs are built with."""
    hosts: list[Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]] = Field(
        default_factory=list
    )
    """Names of the hosts, in the order of the machine that jobs describe."""
    testbed: str | None = None
    """The name of an emulated cluster of this host, in place of hosts and mpirun."""
    cores_per_host: int = Field(default=1, ge=1)
    """How many ranks a host takes."""
    applications: dict[str, Application] = Field(min_length=1)
    """What may be run, by the names that jobs call it."""
    run_seconds: float = Field(default=3600.0, gt=0, allow_inf_nan=False)
    """When any run is given up."""

    @model_validator(mode="after")
    def _check_hosts(self) -> Configuration:
        if bool(self.hosts) == (self.testbed is not None):
            raise field_error("must be given, or testbed in its place", "hosts")
        return self

    def connect(self) -> Cluster:
        """The cluster.

        Raises:
            InvalidInput: It is not there, or its launcher is another library's.
        """
        from measuring.mpirun_cluster import MpirunCluster
        from measuring.testbed_cluster import TestbedCluster
        from testbed.clusters import find

        if self.testbed is not None:
            return TestbedCluster(find(self.testbed))
        cluster = MpirunCluster(self.mpirun, self.hosts, self.cores_per_host)
        if cluster.library != self.library:
            raise InvalidInput(f"{self.mpirun[0]} is of {cluster.library}", field="library")
        return cluster


@click.command(
    epilog=example(
        "hamtune agent agent.yaml --server https://tuner.example.org --key-file agent.key",
        "hamtune agent agent.yaml --until-idle          ends when there is nothing to do",
    )
)
@click.argument("configuration", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--server", envvar="HAMTUNE_SERVER", required=True, help="URL of the service.")
@click.option(
    "--key-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File with the key; one with the scope agents:write is enough.",
)
@click.option("--until-idle", is_flag=True, help="End when there is nothing to do.")
@click.option("--json", "as_json", is_flag=True, help="Print how many runs were done, as JSON.")
def agent(
    configuration: Path, server: str, key_file: Path | None, until_idle: bool, as_json: bool
) -> None:
    """Measure the finalists of jobs on this cluster, as CONFIGURATION allows.

    It asks the service for runs and listens to nobody. The service names hosts by number and sets
    parameters of the library's algorithms and transport; commands are those of CONFIGURATION alone.
    """
    from measuring.agent import Agent, Refused

    wanted = _read(configuration)
    if not server.startswith(("http://", "https://")):
        raise InvalidInput(f"--server {server!r} is not a URL such as http://localhost:8080")
    cluster = wanted.connect()
    stop = threading.Event()
    with httpx.Client(
        base_url=server.rstrip("/"),
        headers=_key(key_file),
        timeout=60.0,
        trust_env=not is_local(server),
    ) as http:
        serving = Agent(
            http,
            name=_own_name(),
            cluster_name=wanted.cluster,
            cluster=cluster,
            library=wanted.library,
            programs=_programs(wanted.applications),
            testbed=wanted.testbed,
            most_seconds=wanted.run_seconds,
        )
        try:
            done = serving.serve(stop, until_idle=until_idle, said=say)
        except Refused as error:
            raise HamtuneError(f"{server} refuses: {error}") from None
    if as_json:
        print_json({"runs": done})


COMMANDS = [agent]


@contextlib.contextmanager
def measuring_on_testbed(client: Client, job: Mapping[str, Any]) -> Iterator[None]:
    """Measure a job's finalists meanwhile, where it names a testbed of this host.

    The built-in program of the job is compiled here; others need an agent of their own.

    Raises:
        InvalidInput: There is no such testbed, or the program is none of ours.
    """
    wished = job["spec"].get("finalists")
    if wished is None or wished["on"] != "testbed":
        yield
        return
    stop = threading.Event()
    with tempfile.TemporaryDirectory(prefix="hamtune-programs-") as directory:
        serving = _on_testbed(client, job["spec"], Path(directory))
        thread = threading.Thread(target=_serve, args=(serving, stop), name="agent", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
        thread.join()  # not after Ctrl-C: a run may take an hour, and ends with this process


def _serve(serving: Agent, stop: threading.Event) -> None:
    try:
        serving.serve(stop, said=say)
    except HamtuneError as error:
        say(f"hamtune: measuring on the testbed ended: {error}")


def _on_testbed(client: Client, spec: Mapping[str, Any], directory: Path) -> Agent:
    from measuring.agent import Agent, Program
    from measuring.building import build_builtin
    from measuring.testbed_cluster import TestbedCluster
    from searchspace.collectives.equivalents import TARGETS
    from searchspace.jobspec import BuiltinApplication, check_application
    from testbed.clusters import find

    wished = spec["finalists"]
    application = check_application(spec["application"])
    if not isinstance(application, BuiltinApplication):
        raise InvalidInput(
            "on a testbed the finalists of built-in programs are measured; start 'hamtune agent' "
            "for others, and say on: agent",
            field="finalists.on",
        )
    library: Literal["openmpi", "mpich"] = (
        "openmpi" if TARGETS[wished["target"]].format == "openmpi" else "mpich"
    )
    cluster = TestbedCluster(find(wished["testbed"]))
    program = Program(tuple(build_builtin(application.run, library, directory)))
    return Agent(
        client.http,
        name=_own_name(),
        cluster_name=f"testbed {wished['testbed']}",
        cluster=cluster,
        library=library,
        programs=_Any(program),
        testbed=wished["testbed"],
    )


class _Any:
    """The one program of a job, whatever it is called."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def get(self, _name: str, /) -> Program:
        return self._program


def _programs(applications: Mapping[str, Application]) -> dict[str, Program]:
    from measuring.agent import Program

    return {
        name: Program(
            tuple(one.command), None if one.time_from is None else re.compile(one.time_from)
        )
        for name, one in applications.items()
    }


def _read(path: Path) -> Configuration:
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror}") from None
    document = read_document(text)
    try:
        return check(Configuration, document if isinstance(document, dict) else {})
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None


def _key(path: Path | None) -> dict[str, str]:
    if path is None:
        key = os.environ.get("HAMTUNE_API_KEY")
        return {"Authorization": f"Bearer {key}"} if key else {}
    try:
        key = path.read_text().strip()
    except OSError as error:
        raise InvalidInput(f"--key-file {path}: {error.strerror}") from None
    return {"Authorization": f"Bearer {key}"}


def _own_name() -> str:
    return f"{socket.gethostname()}-{os.getpid()}-{new_id()}"
