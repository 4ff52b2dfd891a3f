"""Has Sphinx read notebooks as pages: their text as it is, their code as code, and no output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from myst_parser.parsers.sphinx_ import MystParser

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

__all__ = ["NotebookParser", "as_markdown", "setup"]

_FENCE = "`" * 6  # longer than any in a cell


def as_markdown(notebook: str) -> str:
    """The cells of a notebook (nbformat 4) as one text in MyST's Markdown."""
    parts = []
    for cell in json.loads(notebook)["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code":
            text = f"{_FENCE}{{code-block}} python\n{text}\n{_FENCE}"
        parts.append(text)
    return "\n\n".join(parts) + "\n"


class NotebookParser(MystParser):
    """A notebook, with a link to its file at the end."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Fill a document with what a notebook says."""
        name = Path(str(document["source"])).name
        link = f"\n{{download}}`This page as a notebook <{name}>`\n"
        super().parse(as_markdown(inputstring) + link, document)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True}
