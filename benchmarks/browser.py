"""The browser that tests and benchmarks of the page drive: Debian's Chromium without its windows.

The same engine as the whole browser's, without tabs, menus and their own pages, which take as much
CPU as the pages that are tested.
"""

from __future__ import annotations

import shutil
import sys

from playwright.sync_api import Browser, Playwright

__all__ = ["launched", "require"]

_PROGRAM = "chromium-headless-shell"


def require() -> str:
    """Where it is; where it is not, ends the program with a line that says what installs it."""
    program = shutil.which(_PROGRAM)
    if program is None:
        sys.exit(f"{_PROGRAM} is missing; run ./setup.sh --test")
    return program


def launched(playwright: Playwright) -> Browser:
    """Start it, where it is installed (`require`)."""
    return playwright.chromium.launch(
        executable_path=require(), args=["--no-sandbox", "--disable-dev-shm-usage"]
    )
