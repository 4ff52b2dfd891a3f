"""The house keeps its bars: short files and functions, shallow nesting, no circles of imports.

Files are those of Python, C++ and TypeScript; functions, nesting and imports are those of Python
but for tests. An exception stands below with its reason, and is itself held against the tree: one
that is no longer needed fails.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MADE = {"build", "demo", "dist"}
"""Top-level folders that are no sources."""

FILE_LINES = 500
FUNCTION_LINES = 50
"""Without the docstring: what a function promises may take as many words as it needs."""
NESTED = 4
"""Compound statements in each other; branches of one `if` count once."""

LONG_FILES: dict[str, str] = {}
_APPLIED = "a revision that databases have applied never changes"
LONG_FUNCTIONS = {
    "migrations/versions/0001_first_tables.py:upgrade": _APPLIED,
    "migrations/versions/0006_projects.py:upgrade": _APPLIED,
    "migrations/versions/0011_measured_runs.py:upgrade": _APPLIED,
}
DEEP_FUNCTIONS: dict[str, str] = {}

_COMPOUND = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.TryStar,
    ast.Match,
)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def sources(*endings: str, tests: bool = False) -> tuple[Path, ...]:
    """Our sources with these endings, tests among them or not."""
    others = MADE if tests else MADE | {"tests"}
    rooms = [
        room
        for room in ROOT.iterdir()
        if room.is_dir() and room.name not in others and not room.name.startswith(".")
    ]
    found = (path for room in rooms for path in room.rglob("*") if path.suffix in endings)
    return tuple(sorted(path for path in found if "node_modules" not in path.parts))


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def functions(count: Callable[[_Function], int], bar: int) -> dict[str, int]:
    """Functions that count more than a bar; of several of one name in a file, the one with most."""
    found: dict[str, int] = {}
    for path in sources(".py"):
        for node in ast.walk(parsed(path)):
            if isinstance(node, _Function) and (counted := count(node)) > bar:
                name = f"{named(path)}:{node.name}"
                found[name] = max(counted, found.get(name, 0))
    return found


def lines_of(function: _Function) -> int:
    """From `def` to the last line, without the docstring."""
    assert function.end_lineno is not None
    lines = function.end_lineno - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function) is not None and first.end_lineno is not None:
        lines -= first.end_lineno - first.lineno + 1
    return lines


def depth_of(node: ast.AST, depth: int = 0) -> int:
    """How many compound statements stand in each other, functions inside not counted."""
    deepest = depth
    for name, value in ast.iter_fields(node):
        children = value if isinstance(value, list) else [value]
        branch = isinstance(node, ast.If) and name == "orelse" and len(children) == 1
        for child in children:
            if isinstance(child, ast.AST) and not isinstance(child, _SCOPES):
                again = branch and isinstance(child, ast.If)
                below = depth + (isinstance(child, _COMPOUND) and not again)
                deepest = max(deepest, depth_of(child, below))
    return deepest


def check(found: Mapping[str, int], exceptions: Mapping[str, str], bar: str) -> None:
    over = [f"{name} ({count})" for name, count in found.items() if name not in exceptions]
    assert over == [], f"over the bar of {bar}"
    assert [name for name in exceptions if name not in found] == [], "exceptions without a need"


def test_files_are_short() -> None:
    paths = sources(".py", ".cpp", ".hpp", ".ts", ".tsx", tests=True)
    lines = {named(path): len(path.read_text().splitlines()) for path in paths}
    long = {name: count for name, count in lines.items() if count > FILE_LINES}
    check(long, LONG_FILES, f"{FILE_LINES} lines")


def test_functions_are_short() -> None:
    check(functions(lines_of, FUNCTION_LINES), LONG_FUNCTIONS, f"{FUNCTION_LINES} lines")


def test_nesting_is_shallow() -> None:
    check(functions(depth_of, NESTED), DEEP_FUNCTIONS, f"{NESTED} statements in each other")


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(node: ast.AST) -> Iterator[tuple[str, str | None]]:
    """The modules, and names in them, that a module imports when it runs, in functions too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from ((name.name, None) for name in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.module is not None, "imports are absolute here"
            yield from ((child.module, name.name) for name in child.names)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for branch in child.orelse:
                yield from imported(branch)
        else:
            yield from imported(child)


def test_no_module_imports_itself_through_others() -> None:
    modules = {module_of(path): path for path in sources(".py")}
    graph: dict[str, set[str]] = {}
    for module, path in modules.items():
        found = {
            f"{base}.{name}" if f"{base}.{name}" in modules else base
            for base, name in imported(parsed(path))
        }
        graph[module] = (found & modules.keys()) - {module}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(f"a circle: {' <- '.join(error.args[1])}") from None
