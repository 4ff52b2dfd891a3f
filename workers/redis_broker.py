"""Kombu's Redis broker, whose workers go on after an acknowledgement that did not arrive.

A worker takes so many messages until it acknowledges some. Kombu forgets one only when Redis has
done so, and swallows the error where the connection broke meanwhile: the message counts for ever,
the worker asks for no other, and has no connection whose loss it could notice.
"""

from __future__ import annotations

from typing import Any

from kombu.transport import redis, virtual

__all__ = ["Transport"]


class _QoS(redis.QoS):
    """Forgets a message whether or not Redis hears of it.

    One that Redis was not told of is delivered again, to a worker that finds its attempt taken.
    """

    def ack(self, delivery_tag: Any) -> None:
        try:
            self._remove_from_indices(delivery_tag).execute()  # type: ignore[no-untyped-call]
        finally:
            virtual.QoS.ack(self, delivery_tag)

    def reject(self, delivery_tag: Any, requeue: bool = False) -> None:
        try:
            if requeue:
                self.restore_by_tag(delivery_tag, leftmost=True)  # type: ignore[no-untyped-call]
            else:
                self._remove_from_indices(delivery_tag).execute()  # type: ignore[no-untyped-call]
        finally:
            virtual.QoS.ack(self, delivery_tag)


class _Channel(redis.Channel):
    QoS = _QoS


class Transport(redis.Transport):
    """For connections to `redis://` and `rediss://` (`workers.celery_app`)."""

    Channel = _Channel
