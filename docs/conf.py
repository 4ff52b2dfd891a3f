"""How Sphinx makes the site of these pages: `make docs`."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click
    from sphinx.application import Sphinx

_ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(_ROOT))  # the client's reference is made of its docstrings
sys.path.insert(0, str(_ROOT / "docs"))

project = "Hamtune"
author = "The Hamtune contributors"
copyright = author
release = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]["version"]

extensions = [
    "myst_parser",
    "notebook_pages",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
]
source_suffix = {".md": "markdown"}  # and notebooks: notebook_pages.py
root_doc = "index"
exclude_patterns = ["page/**", "**/.ipynb_checkpoints/**"]
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_google_docstring = True

smartquotes = False  # they make dashes of options

man_pages = [("commands", "hamtune", "tune MPI applications and their networks", author, 1)]

html_theme = "furo"
html_title = f"Hamtune {release}"
html_copy_source = False
html_show_sphinx = False


def _examples_as_typed(app: Sphinx, context: click.Context, lines: list[str]) -> None:
    """Show what follows the options of a command letter by letter."""
    rows = [row for row in (context.command.epilog or "").splitlines() if row.strip() != "\b"]
    lines[:] = ["", "::", "", *(f"   {row}" for row in rows), ""] if rows else []


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("sphinx-click-process-epilog", _examples_as_typed)
