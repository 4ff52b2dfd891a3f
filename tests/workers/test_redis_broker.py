"""A worker whose acknowledgement does not arrive goes on once Redis is back."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator

import pytest

from deploy.servers import Redis
from storage.storage import Storage
from workers.celery_app import make_app
from workers.embedded import EmbeddedPool

LONG = 60.0
"""Far longer than any message takes; a test that waits so long fails."""


@pytest.fixture
def server() -> Iterator[Redis]:
    with Redis() as started:
        yield started


@pytest.mark.parametrize("settle", ["ack_log_error", "reject_log_error"])
def test_a_message_is_forgotten_though_redis_does_not_hear_of_it(
    server: Redis, settle: str
) -> None:
    with make_app(server.url).connection_for_read() as connection:
        queue = connection.SimpleQueue("one")
        queue.put({"a": 1})
        qos = queue.channel.qos
        qos.prefetch_count = 1
        message = queue.get(timeout=LONG)
        assert not qos.can_consume()
        server.stop()
        getattr(message, settle)(logging.getLogger(), connection.connection_errors)
        assert qos.can_consume()
        server.start()


def test_a_worker_takes_messages_after_one_that_it_could_not_acknowledge(
    server: Redis, storage: Storage
) -> None:
    app = make_app(server.url)
    began, ended, again = threading.Event(), threading.Event(), threading.Event()
    failed = threading.Event()

    class Heard(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "Couldn't ack" in record.getMessage():
                failed.set()

    @app.task(name="first")  # type: ignore[untyped-decorator]
    def first() -> None:
        began.set()
        assert ended.wait(LONG)

    @app.task(name="second")  # type: ignore[untyped-decorator]
    def second() -> None:
        again.set()

    request = logging.getLogger("celery.worker.request")
    request.addHandler(heard := Heard())
    with EmbeddedPool(app, 1, storage=storage):
        app.send_task("first")
        assert began.wait(LONG)
        server.stop()
        ended.set()
        assert failed.wait(LONG)
        server.start()
        app.send_task("second")
        assert again.wait(LONG)
    request.removeHandler(heard)
