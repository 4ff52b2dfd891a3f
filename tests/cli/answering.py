"""A program on a port of this machine that answers all alike, and tells what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["Answering", "answering"]


@dataclass
class Answering:
    """Where it is, and the requests that it had: method, path and headers."""

    url: str
    asked: list[tuple[str, str, Message]] = field(default_factory=list)


@contextmanager
def answering(body: bytes) -> Iterator[Answering]:
    """One that answers 200 with this body until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            found.asked.append((self.command, self.path, self.headers))
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer

        def log_message(self, *arguments: object) -> None:
            """Nothing to say."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found = Answering(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
