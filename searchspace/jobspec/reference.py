"""What a job refers to by id instead of describing it."""

from __future__ import annotations

from pydantic import Field

from searchspace.validation import Description

__all__ = ["Reference"]


class Reference(Description):
    """Something that the service stores."""

    id: str = Field(min_length=1)
    """Its id."""
