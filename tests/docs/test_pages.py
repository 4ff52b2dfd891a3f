"""What the documentation names is there: pages, files, commands, options, and all of each kind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import click
import pytest

from cli.commands import TABLE
from cli.refine import refine
from searchspace.builtins import BUILTINS
from searchspace.collectives.equivalents import TARGETS
from searchspace.mapping import MAPPERS
from searchspace.ordering import ORDERINGS
from searchspace.topology import FAMILIES
from service.exports.registry import EXPORTERS

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
ROOMS = {path.name for path in ROOT.iterdir() if path.is_dir()}

_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_CODE = re.compile(r"`([^`\n]+)`")
_FILE = re.compile(r"[\w./-]+/[\w.-]+\.(?:py|cpp|hpp|c|h|sh|yaml|json|toml|cmake)\b")
_ANY = re.compile(r"NAME|LIBRARY")
_COMMAND = re.compile(r"(?:^|[\s`(\"'/])hamtune ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*)*)")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def text(page: Path) -> str:
    return page.read_text()


def test_there_are_pages() -> None:
    assert len(PAGES) > 50


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    targets = [one for one in _LINK.findall(text(page)) if "://" not in one]
    assert [one for one in targets if not (page.parent / one).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_files_of_the_repository_are_there(page: Path) -> None:
    files = [one for code in _CODE.findall(text(page)) for one in _FILE.findall(code)]
    ours = [one for one in files if one.partition("/")[0] in ROOMS - {"build", "demo", "dist"}]
    assert [one for one in ours if not (ROOT / one).exists() and not _ANY.search(one)] == []


@cache
def command(name: str) -> click.Command:
    module = import_module(f"cli.{TABLE[name][0]}")
    found: click.Command = next(one for one in module.COMMANDS if one.name == name)
    return found


def used(page: Path) -> Iterator[tuple[str, str]]:
    """The words after `hamtune` wherever a command is shown, and what stands behind them."""
    for line in text(page).replace("\\\n", " ").splitlines():
        starts = list(_COMMAND.finditer(line))
        ends = [*(later.start() for later in starts[1:]), len(line)]
        for match, end in zip(starts, ends[: len(starts)], strict=True):
            rest = re.sub(r"\"[^\"]*\"|'[^']*'", "", line[match.end() : end])
            yield match[1], re.split(r"[`|;#]| -- ", rest)[0]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_commands_and_their_options_exist(page: Path) -> None:
    wrong = []
    for words, rest in used(page):
        name, *others = words.split()
        if name not in TABLE:
            wrong.append(name)
            continue
        found = refine if words.startswith("map refine") else command(name)
        if isinstance(found, click.Group) and others:
            if others[0] not in found.commands:
                wrong.append(f"{name} {others[0]}")
                continue
            found = found.commands[others[0]]
        if isinstance(found, click.Group):
            continue
        known = {option for one in found.params for option in (*one.opts, *one.secondary_opts)}
        options = [one for one in _OPTION.findall(rest) if one not in {*known, "--help"}]
        wrong += [f"{name} {option}" for option in options]
    assert wrong == []


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("docs/mappings/README.md", MAPPERS),
        ("docs/networks/orderings.md", ORDERINGS),
        ("docs/networks", FAMILIES),
        ("docs/exports.md", [*EXPORTERS, *TARGETS]),
        ("docs/applications", BUILTINS),
    ],
)
def test_all_of_a_kind_are_told(page: str, names: list[str]) -> None:
    pages = [one for one in PAGES if one.is_relative_to(ROOT / page)]
    told = "".join(map(text, pages))
    own = {one.stem for one in pages}
    assert [name for name in names if name not in own and f"`{name}`" not in told] == []
