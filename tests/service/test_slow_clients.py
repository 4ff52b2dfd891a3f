"""Clients that hold connections open without using them, over real sockets.

What time it is, is told to the server: nobody waits for a minute to pass.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import pytest
import uvicorn
from uvicorn.server import ServerState

from service.slow_clients import (
    HEAD_SECONDS,
    STALL_SECONDS,
    WINDOW_BYTES,
    TimedConnection,
    close_slow,
)

HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"
LARGE = 16 << 20


async def application(
    scope: object,
    receive: Callable[[], Awaitable[dict[str, object]]],
    send: Callable[[dict[str, object]], Awaitable[None]],
) -> None:
    """Reads the body, then answers with more than any buffer holds."""
    while (await receive()).get("more_body"):
        pass
    length = [(b"content-length", str(LARGE).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": length})
    await send({"type": "http.response.body", "body": bytes(LARGE)})


@dataclass
class Client:
    """A connection, and the server's list of those that are open."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    state: ServerState

    async def send(self, data: bytes) -> None:
        """Send, and let the server take note."""
        self.writer.write(data)
        await self.writer.drain()
        await asyncio.sleep(0.05)

    def closed_after(self, seconds: float) -> bool:
        """Whether the server closes it if no more comes for so long, looking every second."""
        now = asyncio.get_running_loop().time()
        return any(close_slow(self.state.connections, now + s) for s in range(int(seconds) + 1))


@asynccontextmanager
async def connected() -> AsyncIterator[Client]:
    """A client of a server in this process."""
    loop = asyncio.get_running_loop()
    state = ServerState()
    config = uvicorn.Config(application, http=TimedConnection, lifespan="off", log_config=None)
    server = await loop.create_server(lambda: TimedConnection(config, state, {}), "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        client = Client(reader, writer, state)
        await client.send(b"")
        yield client
        writer.close()
        for connection in list(state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)


def run(act: Callable[[Client], Awaitable[None]]) -> None:
    async def inner() -> None:
        async with connected() as client:
            await act(client)

    asyncio.run(inner())


@pytest.mark.parametrize("head", [b"", b"G", HEAD[:-2], HEAD[:-2] + b"X-A: b\r\n" * 20])
def test_a_request_that_does_not_get_going_is_given_up(head: bytes) -> None:
    async def act(client: Client) -> None:
        await client.send(head)
        assert not client.closed_after(HEAD_SECONDS - 1)
        assert client.closed_after(HEAD_SECONDS + 2)
        with suppress(ConnectionResetError):
            assert await client.reader.read() == b""

    run(act)


def test_a_body_that_does_not_come_on_is_given_up() -> None:
    async def act(client: Client) -> None:
        await client.send(HEAD)
        # A sum of times is rounded: the limit itself may be exceeded by a hair.
        assert not client.closed_after(STALL_SECONDS - 1)
        await client.send(b"x" * (WINDOW_BYTES - 1))
        assert client.closed_after(STALL_SECONDS + 2)

    run(act)


def test_a_body_that_comes_on_slowly_is_waited_for() -> None:
    async def act(client: Client) -> None:
        await client.send(HEAD)
        for minute in range(5):
            await client.send(b"x" * WINDOW_BYTES)
            now = asyncio.get_running_loop().time() + minute * STALL_SECONDS
            assert close_slow(client.state.connections, now) == 0

    run(act)


def test_an_answer_that_nobody_reads_is_given_up() -> None:
    async def act(client: Client) -> None:
        await client.send(HEAD + bytes(1_000_000))
        await client.reader.readuntil(b"\r\n\r\n")
        assert not client.closed_after(STALL_SECONDS - 2)
        assert client.closed_after(STALL_SECONDS + 2)

    run(act)


def test_who_reads_an_answer_is_left_alone_and_may_ask_again() -> None:
    async def act(client: Client) -> None:
        for _ in range(2):
            await client.send(HEAD + bytes(1_000_000))
            assert (await client.reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
            await client.reader.readexactly(LARGE)
            assert not client.closed_after(HEAD_SECONDS - 2)

    run(act)
