"""Alembic revisions of the tables in `storage.models`."""
