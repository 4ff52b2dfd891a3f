"""Whether an error is about the worker's own host, which no other worker need meet."""

from __future__ import annotations

import errno
import os
import tempfile

__all__ = ["host_error"]

_OF_THE_HOST = {
    errno.EAGAIN,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EIO,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOMEM,
    errno.ENOSPC,
    errno.EROFS,
}
_PROBE_BYTES = 4096


def host_error(error: Exception) -> str | None:
    """What this host lacks, such as room on its disk, if an error may have come of that.

    A program that was run says in its own words that a disk is full, so that is tried out.

    Returns:
        In a few words what is wrong; None where the error is about what was asked for.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in _OF_THE_HOST:
            return os.strerror(cause.errno)
        cause = cause.__cause__
    try:
        with tempfile.TemporaryFile() as probe:
            probe.write(bytes(_PROBE_BYTES))
    except OSError as problem:
        return problem.strerror
    return None
