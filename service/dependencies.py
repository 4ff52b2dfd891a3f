"""What endpoints are handed: what of the storage the caller may use, and the settings."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from service.auth.access import PrincipalDependency, storage_of
from service.events.feed import EventFeed
from service.settings import Settings
from storage.storage import Storage
from storage.view import StorageView

__all__ = ["FeedDependency", "SettingsDependency", "StorageDependency"]


# None of these waits for anything; what is not async costs a hand-over to a thread each.
async def _storage(request: Request, principal: PrincipalDependency) -> StorageView:
    storage = request.app.state.runtime.storage
    assert isinstance(storage, Storage)
    return storage_of(principal, storage)


async def _settings(request: Request) -> Settings:
    settings = request.app.state.runtime.settings
    assert isinstance(settings, Settings)
    return settings


async def _feed(request: Request) -> EventFeed:
    feed = request.app.state.feed
    assert isinstance(feed, EventFeed)
    return feed


StorageDependency = Annotated[StorageView, Depends(_storage)]
SettingsDependency = Annotated[Settings, Depends(_settings)]
FeedDependency = Annotated[EventFeed, Depends(_feed)]
