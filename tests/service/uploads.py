"""What is uploaded as an application, and what is left of it."""

import zipfile
import zlib
from io import BytesIO
from pathlib import Path

from service.runtime import Runtime

URL = "/api/v1/applications"
RAW = {"Content-Type": "application/octet-stream"}


def archive_with_bad_paths() -> bytes:
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as packed:
        packed.writestr("../../etc/passwd", "root")
    return content.getvalue()


def bomb() -> bytes:
    """A header that declares little over a block that inflates to much."""
    block = zlib.compress(b"\0" * 10_000_000)
    header = (
        b'{"ranks": 1, "program": "bomb", "blocks": '
        b'[{"compressed": %d, "bytes": 10, "operations": 1}]}' % len(block)
    )
    return (
        b"HAMTRACE" + (1).to_bytes(4, "little") + len(header).to_bytes(4, "little") + header + block
    )


def stored_files(runtime: Runtime) -> list[Path]:
    return [path for path in (runtime.settings.data / "artifacts").rglob("*") if path.is_file()]
