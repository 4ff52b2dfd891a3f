"""The Celery application that coordinators send through and workers listen with."""

from __future__ import annotations

import logging
import threading

from celery import Celery
from kombu.entity import Exchange, Queue
from kombu.transport import TRANSPORT_ALIASES

from storage.identifiers import new_id
from storage.messages import PREPARE, PREPARE_QUEUE, QUEUE

__all__ = ["SILENCE_SECONDS", "await_broker", "make_app", "waiting_messages"]

SILENCE_SECONDS = 30.0
"""After so long without an answer a connection to the broker is given up."""

_RETRY_SECONDS = 1.0
_CONNECT_SECONDS = 3.0
_REDIS = "workers.redis_broker:Transport"  # imported where there is Redis

log = logging.getLogger("hamtune.broker")


def make_app(broker_url: str) -> Celery:
    """An application without result backend whose messages are acknowledged when done.

    Nothing depends on a message: one that is lost is sent again by the coordinator, one that
    arrives twice finds its attempt taken.

    Args:
        broker_url: `redis://...`, or `memory://` for a broker within this process. Applications
            with `memory://` have a queue each: sender and workers share the object.
    """
    in_memory = broker_url.startswith("memory:")
    if in_memory:
        broker_url = "memory://localhost"  # kombu warns of a URL without a host
    app = Celery("hamtune", broker=broker_url, set_as_current=False)
    app.conf.update(
        accept_content=["json"],
        task_serializer="json",
        task_ignore_result=True,
        task_acks_late=True,
        task_default_queue=QUEUE,
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
    )
    if in_memory:
        # Queues of this transport belong to the process, not to the application.
        name = f"{QUEUE}.{new_id()}"
        exchange = Exchange(name, "direct")
        own = Queue(name, exchange, routing_key=name, alias=QUEUE)
        app.conf.update(
            task_queues=[own],
            task_default_queue=name,
            broker_transport="workers.memory_broker:Transport",
        )
    else:
        # By the scheme of their URL, so that connections still tell it.
        TRANSPORT_ALIASES.update(redis=_REDIS, rediss=_REDIS)
        app.conf.update(
            task_queues=[Queue(QUEUE), Queue(PREPARE_QUEUE)],
            task_routes={PREPARE: {"queue": PREPARE_QUEUE}},
            # A connection of which nobody says that it is broken: at its end a worker waits for the
            # answer to what it asked last.
            broker_transport_options={"socket_timeout": SILENCE_SECONDS, "socket_keepalive": True},
        )
    return app


def waiting_messages(app: Celery) -> int:
    """How many messages about evaluations wait in the broker; one being worked on does not.

    Raises whatever the broker's client raises where it cannot be reached.
    """
    with app.pool.acquire(block=True) as connection:
        connection.connect()  # else the channel waits for the broker for as long as it is away
        try:
            found = connection.default_channel.queue_declare(
                queue=app.conf.task_default_queue, passive=True
            )
        except connection.channel_errors:
            return 0  # an empty queue does not exist
        return int(found.message_count)


def await_broker(app: Celery, stop: threading.Event) -> None:
    """Wait until the broker answers, and say so where it does not; `stop` ends the waiting."""
    said = False
    while not stop.is_set():
        with app.connection_for_write(connect_timeout=_CONNECT_SECONDS) as connection:
            try:
                connection.connect()
            except (*connection.connection_errors, OSError) as error:
                if not said:
                    log.warning(
                        "the broker %s cannot be reached (%s); waiting for it",
                        connection.as_uri(),
                        error,
                    )
                said = True
                stop.wait(_RETRY_SECONDS)
                continue
        if said:
            log.warning("the broker answers")
        return
