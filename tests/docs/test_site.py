"""What `make docs` makes: no warning, every page, every command, every class of the client."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import hamtune_client
from cli.commands import TABLE

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md"))


def make(builder: str, place: Path) -> Path:
    """What a builder of Sphinx makes, which stops at a warning; `place` keeps what was read."""
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", builder]
    command += ["-d", str(place / "read"), "docs", str(place / builder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return place / builder


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("docs")


@pytest.fixture(scope="module")
def site(place: Path) -> Path:
    return make("html", place)


def test_every_page_is_there_and_in_the_contents(site: Path) -> None:
    contents = (site / "index.html").read_text()
    for page in PAGES:
        html = str(page.with_suffix(".html"))
        assert (site / html).exists()
        assert page.name == "index.md" or f'href="{html}"' in contents, html


def test_it_can_be_searched_without_a_server(site: Path) -> None:
    word = "libseccomp"  # in the text of a page and no heading or name
    assert word in (ROOT / "docs/packaging.md").read_text()
    assert word in (site / "searchindex.js").read_text()


def test_every_command_is_told(site: Path) -> None:
    html = (site / "commands.html").read_text()
    assert [name for name in TABLE if f'id="hamtune-{name}"' not in html] == []


def test_the_client_is_told(site: Path) -> None:
    html = (site / "client.html").read_text()
    told = [name for name in hamtune_client.__all__ if not name.startswith("Async")]
    missing = [name for name in told if f'hamtune_client.{name}"' not in html]
    modules = ("models", "records")
    assert [
        name for name in missing if not any(f'{room}.{name}"' in html for room in modules)
    ] == []
    methods = ("submit", "upload_source", "add_machine", "create_key")
    assert [name for name in methods if f'hamtune_client.Client.{name}"' not in html] == []


def test_notebooks_are_pages_with_their_code_and_the_file(site: Path) -> None:
    for notebook in (ROOT / "docs/notebooks").glob("*.ipynb"):
        html = (site / "notebooks" / f"{notebook.stem}.html").read_text()
        assert "hamtune_client" in html and "highlight-python" in html
        assert f"/{notebook.name}" in html and 'class="reference download' in html
        assert list(site.glob(f"_downloads/*/{notebook.name}"))


def test_there_is_a_man_page(site: Path, place: Path) -> None:
    page = (make("man", place) / "hamtune.1").read_text()
    assert all(
        f"hamtune {name} [OPTIONS]" in page.replace("\\-", "-") for name in ("run", "export")
    )
