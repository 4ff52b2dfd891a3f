# Written by `python -m deploy.client` from asynchronous_connection.py; change that.
"""A connection to a service, over which calls are sent and events come in."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Self, TypeVar

import httpx

from hamtune_client import calls
from hamtune_client.calls import PAUSE_SECONDS, Call, read, refuse, unreachable
from hamtune_client.models import Event

__all__ = ["Connection"]

T = TypeVar("T")


class Connection:
    """A connection to a service.

    Args:
        url: Where it is; `HAMTUNE_SERVER`, else the service that runs over the data directory
            (`HAMTUNE_DATA`), else this machine, port 8080.
        key: If it asks for one; `HAMTUNE_API_KEY` where nothing is said.
        transport: Of httpx, for tests and proxies.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._http = httpx.Client(transport=transport, **calls.settings(url, key))

    def call(self, call: Call[T]) -> T:
        """Send a call; one that may be repeated is, after a broken connection or a "not now".

        Raises:
            Refused: The service said no.
            Unreachable: It did not answer.
            HamtuneClientError: It answered what Hamtune does not.
        """
        for attempt in range(1, call.tries + 1):
            try:
                response = self._http.request(**call.arguments())
            except httpx.TransportError as error:
                if attempt == call.tries or not call.safe:
                    raise unreachable(self._http.base_url, error) from None
                time.sleep(PAUSE_SECONDS * attempt)
                continue
            if response.is_success:
                return read(call, response)
            pause = call.pause(response, attempt)
            if pause is None:
                raise refuse(response)
            time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def stream(self, job_id: str, after: int) -> Iterator[Event]:
        """The events of one connection; it ends with the job, or breaks."""
        with self._http.stream(
            "GET", calls.events_path(job_id), params={"after": after}, timeout=30.0
        ) as response:
            if not response.is_success:
                response.read()
                raise refuse(response)
            for line in response.iter_lines():
                event = calls.read_event(line)
                if event is not None:
                    yield event

    def close(self) -> None:
        """Let go of the connection."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
