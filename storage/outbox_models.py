"""The tables of who wants to hear of jobs, and of what is sent to them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from storage.identifiers import ID_LENGTH
from storage.models import Base

__all__ = ["AllowanceRow", "DeliveryRow", "SubscriptionRow"]


class AllowanceRow(Base):
    """How many tests somebody may still send: a token bucket, and those that are being sent.

    `under_way` has when each of these counts as ended even if nobody says so.
    """

    __tablename__ = "test_allowances"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    project: Mapped[str] = mapped_column(String(63))
    principal: Mapped[str]
    level: Mapped[float]
    at: Mapped[float]
    under_way: Mapped[dict[str, float]] = mapped_column(JSON)

    __table_args__ = (Index(None, "project", "principal", unique=True),)


class SubscriptionRow(Base):
    """A subscription. The secret is kept as it is: each message is signed with it."""

    __tablename__ = "subscriptions"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    project: Mapped[str] = mapped_column(String(63))
    owner: Mapped[str]
    name: Mapped[str]
    job_id: Mapped[str | None] = mapped_column(
        ForeignKey("jobs.id", ondelete="CASCADE"), index=True
    )
    kind: Mapped[str] = mapped_column(String(16))
    target: Mapped[str]
    secret: Mapped[str | None]
    events: Mapped[list[str]] = mapped_column(JSON)
    pause_seconds: Mapped[float]
    created_at: Mapped[float]

    __table_args__ = (Index(None, "project", "id"),)


class DeliveryRow(Base):
    """A message of the outbox: it is stored with the change that it tells of."""

    __tablename__ = "deliveries"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    subscription_id: Mapped[str] = mapped_column(ForeignKey("subscriptions.id", ondelete="CASCADE"))
    project: Mapped[str] = mapped_column(String(63))
    job_id: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    event: Mapped[str] = mapped_column(String(16))
    message: Mapped[dict[str, Any]]
    state: Mapped[str] = mapped_column(String(16))
    tries: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[float]
    due_at: Mapped[float]
    next_at: Mapped[float]
    claimed_by: Mapped[str | None]
    claimed_until: Mapped[float | None]
    tried_at: Mapped[float | None]
    answer: Mapped[str | None]

    __table_args__ = (
        Index(None, "subscription_id", "id"),
        Index(None, "state", "next_at"),
        Index(None, "claimed_until"),
    )
