"""Job files on this side: which files of this machine they name, and what is sent of these."""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any, BinaryIO

from hamtune_client.calls import HamtuneClientError

__all__ = [
    "JobFile",
    "all_opened",
    "is_path",
    "job_file",
    "local_programs",
    "opened",
    "packed",
    "plain",
    "read",
    "recipe",
    "with_programs",
]

_VERSION_CONTROL = (".git", ".hg", ".svn")
_MOST_BYTES = 1 << 30  # of a source tree; services take no more
_RECIPE = ("build", "run", "ranks")


@dataclass(frozen=True)
class JobFile:
    """What somebody submits.

    Attributes:
        text: The YAML, where it is not read yet.
        document: Else its content, as it was given.
        folder: To which the files are relative that it names.
    """

    text: str | None
    document: Mapping[str, Any] | None
    folder: Path


def is_path(spec: str) -> bool:
    """Whether a text is the path of a job file, and not a job file itself."""
    return "\n" not in spec and spec.endswith((".yaml", ".yml", ".json"))


def job_file(spec: Mapping[str, Any] | str | Path) -> JobFile:
    """A job file by what a user gives for it: its content, its YAML text, or its path.

    Raises:
        HamtuneClientError: There is no such file, or it is none of these.
    """
    if isinstance(spec, Mapping):
        return JobFile(None, spec, Path())
    if not isinstance(spec, (str, Path)):
        raise HamtuneClientError(
            f"a job is a mapping, the text of a job file or its path, and no {type(spec).__name__}"
        )
    if isinstance(spec, Path) or is_path(spec):
        path = Path(spec)
        return JobFile(read(path).decode(errors="replace"), None, path.parent)
    return JobFile(spec, None, Path())


def plain(document: Any) -> dict[str, Any]:
    """A job file's content in what JSON has: paths as texts, tuples as lists.

    Raises:
        HamtuneClientError: It is no mapping, or holds what JSON has not; the message says where.
    """
    if isinstance(document, Mapping):
        return {_key(key, ""): _plain(value, str(key)) for key, value in document.items()}
    found = "empty" if document in (None, "") else f"{str(document)[:40]!r}"
    raise HamtuneClientError(
        f"a job file has fields with values, as 'name: first'; this one is {found}. "
        "The path of a job file ends in .yaml, .yml or .json"
    )


def recipe(program: Mapping[str, Any]) -> dict[str, Any]:
    """How the source tree of one of `local_programs` is built and run.

    Raises:
        HamtuneClientError: That is not said.
    """
    if missing := [name for name in _RECIPE if program.get(name) is None]:
        raise HamtuneClientError(
            f"application: a program from source needs {', '.join(_RECIPE)}; "
            f"{', '.join(missing)} is missing"
        )
    return {name: value for name, value in program.items() if name != "source"}


def read(path: Path) -> bytes:
    """The content of a file of this machine.

    Raises:
        HamtuneClientError: It cannot be read.
    """
    with opened(path) as file:
        return file.read()


def opened(path: Path) -> BinaryIO:
    """A file of this machine, open to be read.

    Raises:
        HamtuneClientError: It cannot be read.
    """
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise HamtuneClientError(f"there is no file {path}{_looked(path)}") from None
    except OSError as error:
        raise HamtuneClientError(f"{path} cannot be read: {error.strerror}") from None


@contextmanager
def all_opened(paths: Mapping[str, str | Path | None]) -> Iterator[dict[str, tuple[str, BinaryIO]]]:
    """Name and content of files of this machine, by what they are; what is None is left out.

    Raises:
        HamtuneClientError: One cannot be read.
    """
    with ExitStack() as stack:
        yield {
            field: (Path(path).name, stack.enter_context(opened(Path(path))))
            for field, path in paths.items()
            if path is not None
        }


def local_programs(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a job file says of programs that lie here, as traces or source trees."""
    return [dict(part) for part in _applications(document) if "trace" in part or "source" in part]


def with_programs(document: Mapping[str, Any], ids: list[str], folder: Path) -> dict[str, Any]:
    """The same with the stored programs' ids in the place of those of `local_programs`.

    A communication matrix that a built-in program plays is read from its file.

    Args:
        document: A job file's content.
        ids: In the order of `local_programs`.
        folder: Where the matrix lies.

    Raises:
        HamtuneClientError: It cannot be read, or the machine names a file.
    """
    left = iter(ids)

    def place(part: Any) -> Any:
        if not isinstance(part, Mapping):
            return part
        if "trace" in part or "source" in part:
            return {"id": next(left)}
        matrix = part.get("matrix")
        if isinstance(matrix, str) and "\n" not in matrix.strip():
            return {**part, "matrix": read(folder / matrix).decode(errors="replace")}
        smaller = part.get("extrapolate")
        if isinstance(smaller, Mapping):
            captures = [place(one) for one in _listed(smaller.get("captures"))]
            return {**part, "extrapolate": {**smaller, "captures": captures}}
        several = part.get("applications")
        if isinstance(several, list):
            return {**part, "applications": [_inner(one) for one in several]}
        return part

    def _inner(part: Any) -> Any:
        if not isinstance(part, Mapping) or "application" not in part:
            return part
        return {**part, "application": place(part["application"])}

    _check_machine(document.get("machine"))
    whole = dict(document)
    if "application" in whole:
        whole["application"] = place(whole["application"])
    elif "applications" in whole:
        whole |= place({"applications": whole["applications"]})
    return whole


@contextmanager
def packed(source: Path) -> Iterator[BinaryIO]:
    """A source tree as a tar.gz: a folder without version control, or an archive as it is.

    Raises:
        HamtuneClientError: There is none, it cannot be read, or it holds more than 1 GiB.
    """
    if source.is_file():
        with opened(source) as archive:
            yield archive
        return
    if not source.is_dir():
        raise HamtuneClientError(f"there is no folder or archive {source}{_looked(source)}")
    with tempfile.TemporaryFile() as content:
        try:
            _pack(source, content)
        except OSError as error:
            raise HamtuneClientError(f"{source} cannot be packed: {error}") from None
        content.seek(0)
        yield content


def _pack(source: Path, target: BinaryIO) -> None:
    held = 0

    def kept(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        nonlocal held
        if Path(member.name).name in _VERSION_CONTROL:
            return None
        held += member.size
        if held > _MOST_BYTES:
            raise HamtuneClientError(
                f"{source} holds more than 1 GiB, which is more than a service takes; leave out "
                "what the build makes, and data"
            )
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        return member

    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        archive.add(source, arcname=".", filter=kept)


def _applications(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What stands under `application`, and in it, in the order of `with_programs`."""
    found = document.get("application")
    if "application" not in document:
        found = {"applications": document.get("applications")}
    if not isinstance(found, Mapping):
        return
    if "trace" in found or "source" in found:
        yield found
        return
    smaller = found.get("extrapolate")
    if isinstance(smaller, Mapping):
        for one in _listed(smaller.get("captures")):
            yield from _applications({"application": one})
    elif isinstance(found.get("applications"), list):
        for one in found["applications"]:
            if isinstance(one, Mapping):
                yield from _applications({"application": one.get("application")})


def _plain(value: Any, where: str) -> Any:
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {_key(key, where): _plain(one, f"{where}.{key}") for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one, f"{where}[{at}]") for at, one in enumerate(value)]
    raise HamtuneClientError(
        f"{where}: {value!r} is a {type(value).__name__}; a job file has texts, numbers, lists and "
        "mappings"
    )


def _key(key: Any, where: str) -> str:
    if isinstance(key, str):
        return key
    raise HamtuneClientError(
        f"{where or 'the job file'}: {key!r} is a {type(key).__name__}; names of fields are texts"
    )


def _looked(path: Path) -> str:
    return "" if path.is_absolute() else f" (looked in {Path.cwd()})"


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _check_machine(machine: Any) -> None:
    """Refuse files of networks and hosts, whose formats only Hamtune itself reads."""
    for name in ("topology", "cores_per_host"):
        value = machine.get(name) if isinstance(machine, Mapping) else None
        if isinstance(value, Mapping) and "file" in value:
            raise HamtuneClientError(
                f"machine.{name} names the file {value['file']}, which this client cannot read; "
                "'hamtune submit' can"
            )
