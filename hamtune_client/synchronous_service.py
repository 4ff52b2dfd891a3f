# Written by `python -m deploy.client` from asynchronous_service.py; change that.
"""What there is at a service beside its jobs: programs, machines, names to choose from, keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from hamtune_client import documents, service_calls
from hamtune_client.records import (
    AuditEntry,
    Check,
    Key,
    MachineFiles,
    MachineRecord,
    NewKey,
    ProjectRecord,
    Session,
)
from hamtune_client.synchronous_applications import Application
from hamtune_client.synchronous_subscriptions import Subscriptions

__all__ = ["Service"]


class Service(Subscriptions):
    """Calls that are about no single job."""

    def check(self, spec: Mapping[str, Any] | str | Path) -> Check:
        """What a job file would become, with the same messages; no job is created.

        Args:
            spec: As for `submit`. Traces and source trees that it names are uploaded.

        Raises:
            Refused: It cannot be used; `errors` names the fields.
        """
        return self.call(service_calls.check(self.document(spec)))

    def document(self, spec: Mapping[str, Any] | str | Path) -> dict[str, Any]:
        """The content of a job file as the service takes it: files of this machine are uploaded.

        Args:
            spec: Its content, its YAML text, or its path, to which the files are relative that it
                names.

        Raises:
            Refused: It is no YAML, or a program in it cannot be used.
            HamtuneClientError: A file is missing, or it is no job file at all.
        """
        given = documents.job_file(spec)
        read = given.document
        if read is None:
            read = self.call(service_calls.read_job_file(given.text or ""))
        content = documents.plain(read)
        ids = []
        for part in documents.local_programs(content):
            if "trace" in part:
                stored = self.upload_trace(given.folder / str(part["trace"]))
            else:
                recipe = documents.recipe(part)
                stored = self._store_source(given.folder / str(part["source"]), recipe)
            ids.append(stored.id)
        return documents.with_programs(content, ids, given.folder)

    def upload_trace(self, trace: str | Path, *, name: str | None = None) -> Application:
        """Store a trace (`.ht`), as `hamtune capture` and the recorder write it.

        Args:
            trace: Its path.
            name: What to call the application; by default the program's name.
        """
        path = Path(trace)
        with documents.opened(path) as content:
            call = service_calls.upload_trace(path.name, content, name)
            return Application(self, self.call(call))

    def upload_source(
        self, source: str | Path, *, build: str, run: str, ranks: int, **more: Any
    ) -> Application:
        """Store the source tree of a program, which a job will have built, run and captured.

        Args:
            source: A folder, or a tar, tar.gz or zip archive.
            build: The shell command that builds it there.
            run: The program that this leaves, and its arguments.
            ranks: Of the run.
            more: `captures`, `computation`, `host_speed_of_capture`, as in a job file.

        Raises:
            Refused: It cannot be used.
            HamtuneClientError: It is not there, or its files hold more than 1 GiB.
        """
        recipe = {"build": build, "run": run, "ranks": ranks, **more}
        return self._store_source(Path(source), recipe)

    def _store_source(self, source: Path, recipe: Mapping[str, Any]) -> Application:
        with documents.packed(source) as archive:
            call = service_calls.upload_source(archive, recipe)
            return Application(self, self.call(call))

    def applications(self) -> Iterator[Application]:
        """Programs at the service, newest first."""
        cursor = None
        while True:
            page, cursor = self.call(service_calls.list_applications(cursor))
            for record in page:
                yield Application(self, record)
            if cursor is None:
                return

    def application(self, application_id: str) -> Application:
        """The program with this id."""
        return Application(self, self.call(service_calls.application(application_id)))

    def add_machine(self, name: str, description: Mapping[str, Any]) -> MachineRecord:
        """Store a machine, to be named by jobs as `machine: {id: ...}`.

        Args:
            name: For people.
            description: What a job file has under `machine`.

        Raises:
            Refused: It cannot be used; `errors` names the fields.
        """
        return self.call(service_calls.add_machine(name, description))

    def upload_machine(
        self,
        fabric: str | Path | None = None,
        *,
        host: str | Path | None = None,
        base: str | None = None,
        name: str | None = None,
        **numbers: Any,
    ) -> MachineFiles:
        """Store the machine that files of a cluster tell of.

        Args:
            fabric: The network there is, such as the output of `ibnetdiscover`.
            host: The inside of a host, as `lstopo host.xml` writes it.
            base: The id of a stored machine that says what these do not.
            name: For people; by default that of the file.
            numbers: `host_speed`, `link_bandwidth`, `link_latency`, `switch_latency`, ..., as in a
                job file; they count before the files.

        Raises:
            Refused: A file holds none; `errors` names which.
            HamtuneClientError: A file is not there.
        """
        with documents.all_opened({"fabric": fabric, "host": host}) as files:
            said = {"name": name, "base": base, **numbers}
            return self.call(service_calls.upload_machine(files, said))

    def machines(self) -> Iterator[MachineRecord]:
        """Stored machines, newest first."""
        cursor = None
        while True:
            page, cursor = self.call(service_calls.list_machines(cursor))
            yield from page
            if cursor is None:
                return

    def machine(self, machine_id: str) -> MachineRecord:
        """The machine with this id."""
        return self.call(service_calls.machine(machine_id))

    def schema(self, kind: Literal["job", "machine"] = "job") -> dict[str, Any]:
        """The JSON schema of job or machine files, for editors and programs that write one."""
        return self.call(service_calls.schema(kind))

    def catalogue(self) -> dict[str, Any]:
        """What job files may choose from: programs, networks, orderings, formats, by kind."""
        return self.call(service_calls.catalogue())

    def curves(self, job_ids: Sequence[str]) -> list[dict[str, Any]]:
        """How jobs converged, as steps, to compare them; 50 jobs at most."""
        return self.call(service_calls.curves(job_ids))

    def session(self) -> Session:
        """Who the service takes one for, and what one may."""
        return self.call(service_calls.session())

    def keys(self) -> Iterator[Key]:
        """Keys of one's project, newest first, without their secrets."""
        cursor = None
        while True:
            page, cursor = self.call(service_calls.keys(cursor))
            yield from page
            if cursor is None:
                return

    def create_key(
        self,
        name: str,
        role: str,
        *,
        scopes: Sequence[str] = (),
        expires_in: float | None = None,
        project: str | None = None,
    ) -> NewKey:
        """Make a key; its secret, in `key`, is never told again.

        Args:
            name: For people and the audit log.
            role: What it may at most: `viewer`, `submitter`, ...
            scopes: To what the role is narrowed.
            expires_in: Seconds until it ends; None for never.
            project: Whose it is; only an operator may name another than their own.
        """
        body = {"name": name, "role": role, "scopes": list(scopes), "expires_in": expires_in}
        if project is not None:
            body["project"] = project
        return self.call(service_calls.create_key(body))

    def rotate_key(
        self, key_id: str, *, grace: float = 0.0, expires_in: float | None = None
    ) -> NewKey:
        """Give a key another secret; the old one is good for `grace` seconds yet."""
        body = {"grace": grace, "expires_in": expires_in}
        return self.call(service_calls.rotate_key(key_id, body))

    def revoke_key(self, key_id: str) -> Key:
        """End a key for good."""
        return self.call(service_calls.revoke_key(key_id))

    def audit(self) -> Iterator[AuditEntry]:
        """What was changed in one's project and by whom, newest first."""
        cursor = None
        while True:
            page, cursor = self.call(service_calls.audit(cursor))
            yield from page
            if cursor is None:
                return

    def projects(self) -> list[ProjectRecord]:
        """One's own project; for an operator all of them."""
        return self.call(service_calls.projects())

    def project(self, name: str) -> ProjectRecord:
        """What a project may use of the service, and what it has used."""
        return self.call(service_calls.project(name))

    def change_project(self, name: str, **changes: Any) -> ProjectRecord:
        """Set `weight`, `priority` and `quotas` of a project; only an operator may."""
        return self.call(service_calls.change_project(name, changes))
