"""The files that runs of a captured program left: which there are, and what is in one."""

from __future__ import annotations

import tarfile
from urllib.parse import quote

from fastapi import Response

from service.applications.schemas import FilesView
from storage.errors import NotFound
from storage.view import StorageView

__all__ = ["file_of", "files_of"]


def files_of(storage: StorageView, application_id: str) -> FilesView:
    """The files of an application.

    Raises:
        NotFound: There is no such application, or no run of it has ended.
    """
    return FilesView.model_validate(storage.applications.output_files(application_id))


def file_of(storage: StorageView, application_id: str, path: str) -> Response:
    """A file of an application, to be saved and never shown by a browser: a stranger wrote it.

    Raises:
        NotFound: There is no such application or file.
    """
    kept = storage.applications.output_files(application_id)
    if path not in {file["path"] for file in kept["files"]}:
        raise NotFound(f"application {application_id} has no file {path!r}")
    with tarfile.open(storage.artifacts.path(kept["sha256"])) as tar:
        content = tar.extractfile(path)
        assert content is not None  # only plain files are packed
        name = quote(path.rsplit("/", 1)[-1])
        return Response(
            content.read(),
            media_type="application/octet-stream",
            headers={"Content-Disposition": f"attachment; filename*=UTF-8''{name}"},
        )
