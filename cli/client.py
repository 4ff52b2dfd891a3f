"""The client of the REST interface, over the network or in this process."""

from __future__ import annotations

import contextlib
import logging
import os
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx

from cli.announced import is_local, live_server
from cli.loading import loading
from cli.logs import log_to_stderr
from searchspace.errors import HamtuneError, InvalidInput
from service.settings import Settings, with_secrets

if TYPE_CHECKING:
    from service.runtime import Runtime

__all__ = ["Client", "NotThere", "connect", "in_process", "live_server", "own"]

PREFIX = "/api/v1"
BAD_INPUT = (400, 413, 415, 422)
NOT_THERE = (404, 409)
NOT_NOW = (429, 502, 503, 504)
PAGE = 200


class Client:
    """Calls of `/api/v1`, with problems turned into errors of one plain line."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    @property
    def url(self) -> str:
        """Where the service is."""
        return str(self._http.base_url)

    @property
    def http(self) -> httpx.Client:
        """The connection, for who speaks to the service in other ways."""
        return self._http

    def close(self) -> None:
        """Let go of the connection; a service in this process ends."""
        self._http.close()

    def get(self, path: str, **query: Any) -> Any:
        """GET a JSON document; parameters that are None are left out."""
        return _document(self._request("GET", path, params=_given(query)))

    def download(self, path: str, **query: Any) -> bytes:
        """GET a file."""
        return self._request("GET", path, params=_given(query)).content

    def fetch(self, path: str, document: Any) -> bytes:
        """POST a JSON document and return the file that is answered."""
        return self._request("POST", path, json=document).content

    def post(
        self,
        path: str,
        document: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Any:
        """POST a JSON document (or nothing) and return the answer; `timeout` in seconds."""
        patience = {} if timeout is None else {"timeout": timeout}
        return _document(self._request("POST", path, json=document, headers=headers, **patience))

    def patch(self, path: str, document: Any) -> Any:
        """PATCH a path; the answer as plain values."""
        return _document(self._request("PATCH", path, json=document))

    def put(self, path: str, document: Any) -> Any:
        """PUT a path; the answer as plain values."""
        return _document(self._request("PUT", path, json=document))

    def delete(self, path: str) -> Any:
        """DELETE something and return the answer; None where it is empty."""
        answer = self._request("DELETE", path)
        return _document(answer) if answer.content else None

    def pages(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """All items of a listing, page by page."""
        cursor = None
        while True:
            page = self.get(path, cursor=cursor, **query)
            yield from page["items"]
            cursor = page["cursor"]
            if cursor is None:
                return

    def create_job(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """Create a job; asking again after a broken connection does not create a second one."""
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        try:
            job = self.post("/jobs", spec, headers=headers)
        except ConnectionBroken:
            job = self.post("/jobs", spec, headers=headers)
        return dict(job)

    def upload_trace(self, path: Path) -> dict[str, Any]:
        """Upload a trace; the application that replays it."""
        with path.open("rb") as file:
            answer = self._request("POST", "/applications", files={"trace": (path.name, file)})
            return dict(_document(answer))

    def upload_source(self, archive: Path, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Upload a source tree and how it is built and run; the application to be captured."""
        texts = {name: str(value) for name, value in fields.items() if value is not None}
        with archive.open("rb") as file:
            files = {"source": ("source.tar.gz", file)}
            answer = self._request("POST", "/applications", data=texts, files=files)
            return dict(_document(answer))

    def get_application(self, identifier: str) -> dict[str, Any]:
        """The application with this id."""
        return dict(self.get(f"/applications/{_part(identifier)}"))

    def find_job(self, reference: str, *, deleted: bool = False) -> dict[str, Any]:
        """The job with this id, or the only one with this name; with `deleted`, in the trash.

        Raises:
            HamtuneError: There is none, or several have the name.
        """
        wanted = {"deleted": "only"} if deleted else {"archived": "include"}
        named = self.get("/jobs", name=reference, **wanted, limit=20)["items"]
        if len(named) == 1:
            return dict(named[0])
        if named:
            ids = ", ".join(job["id"] for job in named[:5])
            raise HamtuneError(
                f"{len(named)} {'deleted ' if deleted else ''}jobs are called {reference!r}; say "
                f"which by id, newest first: {ids}"
            )
        if deleted:
            return self._deleted_job(reference)
        try:
            return dict(self.get(f"/jobs/{_part(reference)}"))
        except NotThere as error:
            gone = self.get("/jobs", name=reference, deleted="only", limit=1)["items"]
            if not gone:
                raise
            raise NotThere(
                f"{error}, but a deleted one is called so: 'hamtune restore {gone[0]['id']}' "
                "brings it back"
            ) from None

    def _deleted_job(self, identifier: str) -> dict[str, Any]:
        for job in self.pages("/jobs", search=identifier, deleted="only", limit=PAGE):
            if job["id"] == identifier:
                return job
        for job in self.get("/jobs", name=identifier, archived="include", limit=1)["items"]:
            raise HamtuneError(f"{job['name']} ({job['id']}) is not deleted")
        raise NotThere(
            f"there is no deleted job {identifier}; 'hamtune jobs --deleted' lists those that can "
            "be restored"
        )

    def _request(self, method: str, path: str, **arguments: Any) -> httpx.Response:
        try:
            response = self._http.request(method, PREFIX + path, **arguments)
        except httpx.ConnectError as error:
            raise ConnectionBroken(
                f"no service answers at {self.url}; start one with 'hamtune up' or check --server"
            ) from error
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise ConnectionBroken(f"the connection to {self.url} broke: {error}") from error
        if response.is_success:
            return response
        detail = _detail(response)
        if response.status_code in BAD_INPUT:
            raise InvalidInput(detail)
        if response.status_code in NOT_NOW:
            raise ConnectionBroken(detail)
        raise NotThere(detail) if response.status_code in NOT_THERE else HamtuneError(detail)


class NotThere(HamtuneError):
    """The service does not have what was asked for, or not in the state that its job is in."""


class ConnectionBroken(HamtuneError):
    """The service did not answer, or not now; it may or may not have done what was asked."""


@contextlib.contextmanager
def connect(server: str | None, settings: Settings, *, existing: bool = False) -> Iterator[Client]:
    """The service to ask: the one named, else the one over the data directory, else our own.

    Our own reads and changes the data directory but runs nothing: jobs go on when a
    `hamtune up` or `hamtune run` takes them up.

    Args:
        server: Its URL, where one is named.
        settings: With the data directory.
        existing: Whether only what there is already is asked for, so that no directory is made.

    Raises:
        InvalidInput: `server` is not an http URL.
        HamtuneError: There is no data directory, where it is to exist.
    """
    url = server or live_server(settings.data)
    if url is not None:
        if not url.startswith(("http://", "https://")):
            raise InvalidInput(f"--server {url!r} is not a URL such as http://localhost:8080")
        base, proxies = url.rstrip("/"), not is_local(url)
        client = Client(
            httpx.Client(base_url=base, timeout=60.0, headers=_key(), trust_env=proxies)
        )
    elif existing and settings.keeps_database_in_data and not settings.data.exists():
        raise HamtuneError(
            f"there is no data at {settings.data}; name the directory with --data or HAMTUNE_DATA, "
            "or a service with --server"
        )
    else:
        client = own(settings)
    with contextlib.closing(client):
        yield client


def own(settings: Settings) -> Client:
    """A client of a service of our own over the data directory, which runs nothing."""
    with loading():
        from service.runtime import Runtime

        return in_process(Runtime(settings, run=False))


def in_process(runtime: Runtime, **options: Any) -> Client:
    """A client of a service of its own in this process, which ends with it.

    Args:
        runtime: What the service is over.
        options: Further ones of `service.app.create_app`.
    """
    # The service takes a second to load, which other commands should not pay for.
    from cli.in_process import InProcess
    from service.app import create_app

    # What goes wrong reaches the user in answers, jobs and trials; the log would say it again.
    log_to_stderr(logging.CRITICAL)
    transport = InProcess(create_app(runtime, operator=True, **options))
    return Client(httpx.Client(transport=transport, base_url="http://localhost"))


def _key() -> dict[str, str]:
    """The header with the user's key, where they have set one."""
    key = with_secrets(os.environ).get("HAMTUNE_API_KEY")
    return {"Authorization": f"Bearer {key}"} if key else {}


def _given(query: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in query.items() if value is not None}


def _part(text: str) -> str:
    return quote(text, safe="")


def _document(response: httpx.Response) -> Any:
    """The JSON document that was answered.

    Raises:
        HamtuneError: It is none, as of another program at that address.
    """
    try:
        return response.json()
    except ValueError:
        raise HamtuneError(
            f"{response.url} answers no JSON, so that it is no service of Hamtune; check --server"
        ) from None


def _detail(response: httpx.Response) -> str:
    """What went wrong in the service's words, or in the status's if it is not our service."""
    try:
        return str(response.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return f"{response.url} answers {response.status_code} {response.reason_phrase}"
