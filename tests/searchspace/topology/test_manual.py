"""Every family has a page in the manual, with its parameters and a picture."""

from __future__ import annotations

from pathlib import Path

import pytest

from searchspace.formats.network_files import FORMATS
from searchspace.topology import FAMILIES, options_of

PAGES = Path(__file__).resolve().parents[3] / "docs/networks"


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_a_family_has_a_page_with_its_parameters_and_a_picture(name: str) -> None:
    page = next((p for p in (PAGES / f"{name}.md", PAGES / f"{name[:-3]}.md") if p.exists()), None)
    assert page is not None
    text = page.read_text()
    assert f"`{name}`" in text or f"[{name}]" in text or f"family: {name}" in text
    for option in options_of(name):
        assert f"`{option}`" in text
    assert f"({page.stem}.svg)" in text
    assert (PAGES / f"{page.stem}.svg").stat().st_size > 1000
    assert page.name in (PAGES / "README.md").read_text()


def test_every_format_is_in_the_manual() -> None:
    text = (PAGES / "formats.md").read_text()
    assert all(f"`{name}`" in text for name in FORMATS)
