from __future__ import annotations

import io
import os
import stat
import struct
import tarfile
import tempfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.disk_room import NoRoom
from searchspace.errors import InvalidInput
from searchspace.formats import source_archive
from searchspace.formats.source_archive import pack, unpack
from tests.disks import leave_free
from tests.searchspace.formats.hostile_archives import MIB, pack_within

FILES = {"Makefile": b"all:\n", "src/main.c": b"int main;\n", "src/deep/data.bin": bytes(3000)}


def write_tree(directory: Path) -> Path:
    for name, content in FILES.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (directory / "configure").write_text("#!/bin/sh\n")
    (directory / "configure").chmod(0o755)
    (directory / "src/link.c").symlink_to("../src/main.c")
    (directory / "empty").mkdir()
    return directory


def write_tar(path: Path, source: Path, top: str, mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        archive.add(source, top)
    return path


def write_zip(path: Path, source: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in sorted(source.rglob("*")):
            info = zipfile.ZipInfo(entry.relative_to(source).as_posix())
            info.external_attr = entry.lstat().st_mode << 16
            if entry.is_symlink():
                archive.writestr(info, str(entry.readlink()))
            elif entry.is_dir():
                archive.writestr(zipfile.ZipInfo(info.filename + "/"), b"")
            else:
                archive.writestr(info, entry.read_bytes())
    return path


def test_a_directory_and_archives_of_it_are_packed_alike(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree")
    (tree / ".git").mkdir()
    (tree / ".git/HEAD").write_text("ref")
    packed = tmp_path / "packed.tar.gz"
    pack(tree, packed)
    expected = packed.read_bytes()
    os.utime(tree / "Makefile", (1, 1))
    (tree / ".git/HEAD").unlink()
    (tree / ".git").rmdir()
    for source in (
        tree,
        packed,
        write_tar(tmp_path / "a.tar.gz", tree, "NPB3.4"),
        write_tar(tmp_path / "a.tar", tree, ".", "w"),
        write_zip(tmp_path / "a.zip", tree),
    ):
        pack(source, tmp_path / "again.tar.gz")
        assert (tmp_path / "again.tar.gz").read_bytes() == expected, source


def test_a_tree_is_unpacked_as_it_was(tmp_path: Path) -> None:
    pack(write_tree(tmp_path / "tree"), tmp_path / "t.tar.gz")
    (tmp_path / "out").mkdir()
    unpack(tmp_path / "t.tar.gz", tmp_path / "out")
    for name, content in FILES.items():
        assert (tmp_path / "out" / name).read_bytes() == content
    assert (tmp_path / "out/configure").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "out/src/link.c").readlink() == Path("../src/main.c")
    assert (tmp_path / "out/empty").is_dir()


Build = Callable[[tarfile.TarFile], None]


def tar_of(path: Path, build: Build) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("Makefile"))
        build(archive)
    return path


def entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ([entry("../evil")], "leads out"),
        ([entry("a/../../evil")], "leads out"),
        ([entry("/etc/evil")], "leads out"),
        ([entry("a\\..\\evil")], "leads out"),
        ([entry("a\nb")], "cannot be used"),
        ([entry("/".join("d" * 70))], "cannot be used"),
        ([entry("d" * 1500)], "cannot be used"),
        ([entry("l", tarfile.SYMTYPE, "/etc/passwd")], "link l leads out"),
        ([entry("l", tarfile.SYMTYPE, "../x")], "link l leads out"),
        ([entry("d/l", tarfile.SYMTYPE, "../../x")], "link d/l leads out"),
        ([entry("l", tarfile.SYMTYPE, "d/../..")], "link l leads out"),
        ([entry("l", tarfile.SYMTYPE, "d"), entry("l/x")], "l is not a directory"),
        ([entry("f"), entry("f/x")], "f is not a directory"),
        ([entry("h", tarfile.LNKTYPE, "/etc/passwd")], "a link to a file that is not there"),
        ([entry("h", tarfile.LNKTYPE, "h")], "a link to a file that is not there"),
        ([entry("c", tarfile.CHRTYPE)], "neither a file"),
        ([entry("b", tarfile.BLKTYPE)], "neither a file"),
        ([entry("p", tarfile.FIFOTYPE)], "neither a file"),
    ],
)
def test_hostile_entries_of_a_tar_are_refused(
    tmp_path: Path, entries: list[tarfile.TarInfo], words: str
) -> None:
    def build(archive: tarfile.TarFile) -> None:
        for info in entries:
            archive.addfile(info)

    path = tar_of(tmp_path / "t.tar.gz", build)
    (tmp_path / "out").mkdir()
    with pytest.raises(InvalidInput, match=words):
        unpack(path, tmp_path / "out")
    with pytest.raises(InvalidInput, match=words):
        pack(path, tmp_path / "packed")
    assert not (tmp_path / "evil").exists()


def test_a_compression_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Makefile", b"all:\n")
    zstandard = (93).to_bytes(2, "little")
    data = bytearray((tmp_path / "t.zip").read_bytes())
    data[8:10] = zstandard
    central = data.index(b"PK\1\2")
    data[central + 10 : central + 12] = zstandard
    (tmp_path / "t.zip").write_bytes(data)
    with pytest.raises(InvalidInput, match="Makefile is compressed by method 93"):
        pack(tmp_path / "t.zip", tmp_path / "packed")


@pytest.mark.parametrize("mode", [stat.S_IFREG, stat.S_IFLNK])
@pytest.mark.parametrize(
    ("method", "size"), [(zipfile.ZIP_BZIP2, 50 * MIB), (zipfile.ZIP_LZMA, 1000)]
)
def test_compressions_that_cannot_be_inflated_piece_by_piece_are_refused(
    tmp_path: Path, mode: int, method: int, size: int
) -> None:
    info = zipfile.ZipInfo("zeros")
    info.external_attr = mode << 16
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr(info, bytes(size), method)
    told = pack_within(30 * MIB, tmp_path / "t.zip")
    assert f"zeros is compressed by method {method}" in told
    assert "pack it as plain zip (deflate) or tar.gz" in told


def test_a_zip_is_inflated_piece_by_piece(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(32 * MIB))
        archive.writestr("stored", b"all:\n", zipfile.ZIP_STORED)
    assert pack_within(20 * MIB, tmp_path / "t.zip") == ""


def test_a_large_table_of_contents_is_refused_wherever_its_size_stands(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("Makefile", b"all:\n")
    whole = (tmp_path / "t.zip").read_bytes()
    at = whole.index(b"PK\5\6")
    count, size, start = struct.unpack("<HII", whole[at + 10 : at + 20])
    for stated, words in ((size, ""), (17 * MIB, f"more than {source_archive.MAX_ENTRIES} files")):
        record = struct.pack(
            "<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, count, count, stated, start
        )
        locator = struct.pack("<4sIQI", b"PK\6\7", 0, at, 1)
        (tmp_path / "t.zip").write_bytes(whole[:at] + record + locator + whole[at:])
        assert words in pack_within(100 * MIB, tmp_path / "t.zip")
    (tmp_path / "t.zip").write_bytes(whole[:at] + record[:-1] + locator + whole[at:])
    with pytest.raises(InvalidInput, match="no table of contents"):
        pack(tmp_path / "t.zip", tmp_path / "packed")


@pytest.mark.parametrize("name", ["../evil", "/evil", "a/../../evil"])
def test_hostile_names_in_a_zip_are_refused(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("Makefile", b"")
        archive.writestr(name, b"x")
    with pytest.raises(InvalidInput, match="leads out"):
        pack(tmp_path / "t.zip", tmp_path / "packed")


def test_bombs_are_refused_before_they_burst(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_archive, "MAX_TREE_BYTES", 1 << 20)
    monkeypatch.setattr(source_archive, "_MAX_TAR", 2 << 20)
    with zipfile.ZipFile(tmp_path / "t.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(5 << 20))
    with pytest.raises(InvalidInput, match="exceed 1 MiB"):
        pack(tmp_path / "t.zip", tmp_path / "packed")

    def build(archive: tarfile.TarFile) -> None:
        info = tarfile.TarInfo("zeros")
        info.size = 5 << 20
        archive.addfile(info, io.BytesIO(bytes(5 << 20)))

    with pytest.raises(InvalidInput, match="inflates to more than 1 MiB"):
        pack(tar_of(tmp_path / "t.tar.gz", build), tmp_path / "packed")


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_archive, "MAX_ENTRIES", 5)
    for number in range(7):
        (tmp_path / f"file{number}").touch()
    with pytest.raises(InvalidInput, match="more than 5 files"):
        pack(tmp_path, tmp_path.parent / "packed")


def test_a_huge_extended_header_is_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "t.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("Makefile")
        info.pax_headers = {"comment": "x" * (2 << 20)}
        archive.addfile(info)
    with pytest.raises(InvalidInput, match="a header is too large"):
        pack(tmp_path / "t.tar", tmp_path / "packed")


def test_devices_and_sockets_of_a_directory_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match="neither a file nor a directory"):
        pack(tmp_path, tmp_path.parent / "packed")


@given(st.data())
def test_damaged_archives_are_refused_or_read_but_never_crash(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    write_tree(folder / "tree")
    whole = data.draw(st.sampled_from(["tar", "zip"]))
    if whole == "tar":
        path = write_tar(folder / "a.tar", folder / "tree", "top", "w")
    else:
        path = write_zip(folder / "a.zip", folder / "tree")
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    try:
        pack(path, folder / "packed")
    except InvalidInput:
        return
    (folder / "out").mkdir()
    unpack(folder / "packed", folder / "out")


@pytest.mark.parametrize("kind", ["tree", "tar", "tar.gz", "zip"])
def test_what_has_no_room_on_the_disk_is_refused_before_it_is_written(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / f"source.{kind}"
    tree = write_tree(source if kind == "tree" else tmp_path / "tree")
    (tree / "large").write_bytes(bytes(3 * MIB))
    if kind == "zip":
        write_zip(source, tree)
    elif kind != "tree":
        write_tar(source, tree, "top", "w:gz" if kind == "tar.gz" else "w")
    packed, target = tmp_path / "packed.tar.gz", tmp_path / "target"
    target.mkdir()
    pack(source, packed)
    for free, what in ((66 * MIB, "the (packed )?source tree"), (64 * MIB, "")):
        leave_free(monkeypatch, free)
        with pytest.raises(NoRoom, match=rf"{what} takes \d MiB in .* {free // MIB} MiB are free"):
            pack(source, tmp_path / "again.tar.gz")
        with pytest.raises(NoRoom, match=rf"{what} takes \d MiB in .* {free // MIB} MiB are free"):
            unpack(packed, target)
        assert list(target.iterdir()) == []
    leave_free(monkeypatch, 1 << 30, entries=1004)
    with pytest.raises(NoRoom, match="1004 can be made and 1000 have to remain"):
        unpack(packed, target)
    assert list(target.iterdir()) == []


def test_a_disk_that_is_full_is_no_fault_of_the_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = write_tree(tmp_path / "tree")
    archives = [
        tree,
        write_tar(tmp_path / "a.tar.gz", tree, "top"),
        write_zip(tmp_path / "z", tree),
    ]
    full = Path("/dev/full")
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda: full.open("wb", buffering=0))
    for archive in archives:
        with pytest.raises(NoRoom, match="came to be full while a source tree was written"):
            pack(archive, tmp_path / "packed.tar.gz")


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"neither tar nor zip" * 100)
    for source in (tmp_path / "x", tmp_path / "missing"):
        with pytest.raises(InvalidInput, match="cannot"):
            pack(source, tmp_path / "packed")


def test_a_zip_whose_entry_is_not_where_the_table_says_is_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.c", "int main() { return 0; }")
    content = bytearray(buffer.getvalue())
    content[:2] = b"PK"
    content[3] ^= 0xFF
    (tmp_path / "odd.zip").write_bytes(bytes(content))
    with pytest.raises(InvalidInput, match="is damaged"):
        pack(tmp_path / "odd.zip", tmp_path / "out.tar.gz")


def test_directories_without_entries_of_their_own_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(archive: tarfile.TarFile) -> None:
        for number in range(4):
            archive.addfile(entry(f"d{number}/" + "a/" * 9 + "x"))

    path = tar_of(tmp_path / "t.tar.gz", build)
    entries = 1 + 4 * 11
    monkeypatch.setattr(source_archive, "MAX_ENTRIES", entries - 1)
    (tmp_path / "out").mkdir()
    with pytest.raises(InvalidInput, match=f"more than {entries - 1} files and directories"):
        unpack(path, tmp_path / "out")
    monkeypatch.setattr(source_archive, "MAX_ENTRIES", entries)
    unpack(path, tmp_path / "out")
    assert len(list((tmp_path / "out").rglob("*"))) == entries


def test_a_small_archive_of_millions_of_directories_is_refused(tmp_path: Path) -> None:
    def build(archive: tarfile.TarFile) -> None:
        for number in range(2000):
            archive.addfile(entry(f"d{number}/" + "a/" * 60 + "x"))

    with pytest.raises(InvalidInput, match="more than 100000 files and directories"):
        pack(tar_of(tmp_path / "t.tar.gz", build), tmp_path / "packed")


def test_few_archives_are_packed_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_archive, "_ARCHIVES_AT_A_TIME", threading.BoundedSemaphore(1))
    tree = write_tree(tmp_path / "tree")
    with source_archive._ARCHIVES_AT_A_TIME:
        waiting = threading.Thread(target=pack, args=(tree, tmp_path / "packed"))
        waiting.start()
        waiting.join(0.2)
        assert not (tmp_path / "packed").exists()
    waiting.join()
    assert (tmp_path / "packed").exists()
