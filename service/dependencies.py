"""What endpoints are handed: the storage and the settings of the runtime that serves them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from service.events.feed import EventFeed
from service.settings import Settings
from storage.storage import Storage

__all__ = ["FeedDependency", "SettingsDependency", "StorageDependency"]


def _storage(request: Request) -> Storage:
    storage = request.app.state.runtime.storage
    assert isinstance(storage, Storage)
    return storage


def _settings(request: Request) -> Settings:
    settings = request.app.state.runtime.settings
    assert isinstance(settings, Settings)
    return settings


def _feed(request: Request) -> EventFeed:
    feed = request.app.state.feed
    assert isinstance(feed, EventFeed)
    return feed


StorageDependency = Annotated[Storage, Depends(_storage)]
SettingsDependency = Annotated[Settings, Depends(_settings)]
FeedDependency = Annotated[EventFeed, Depends(_feed)]
