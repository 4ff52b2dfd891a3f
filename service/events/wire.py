"""Events as Server-Sent Events put them on the wire (HTML standard, section 9.2)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from storage.records import Event

__all__ = ["Line", "encode"]


@dataclass(frozen=True)
class Line:
    """An event, encoded for all who watch."""

    id: int
    kind: str
    data: bytes

    @classmethod
    def of(cls, event: Event) -> Line:
        """A stored event."""
        return cls(event.id, event.kind, encode(event))


def encode(event: Event) -> bytes:
    """One event on the wire: its id is the cursor to come back with."""
    data = json.dumps(
        {
            "id": event.id,
            "job_id": event.job_id,
            "kind": event.kind,
            "at": event.at,
            "data": event.data,
        },
        separators=(",", ":"),
    )
    return f"id: {event.id}\nevent: {event.kind}\ndata: {data}\n\n".encode()
