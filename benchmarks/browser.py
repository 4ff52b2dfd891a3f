"""The browser that tests and benchmarks of the page drive: Debian's Chromium without its windows.

The same engine as the whole browser's, without tabs, menus and their own pages, which take as much
CPU as the pages that are tested.
"""

from __future__ import annotations

import shutil

from playwright.sync_api import Browser, Playwright

__all__ = ["launched"]

_PROGRAM = "chromium-headless-shell"


def launched(playwright: Playwright) -> Browser:
    """Start it.

    Raises:
        FileNotFoundError: It is not installed; says what installs it.
    """
    program = shutil.which(_PROGRAM)
    if program is None:
        raise FileNotFoundError(f"{_PROGRAM} is missing; run ./setup.sh --test")
    return playwright.chromium.launch(
        executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"]
    )
