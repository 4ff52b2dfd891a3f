"""Headers of tar archives that lie, repeat themselves or are too many."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.formats import source_tar
from searchspace.formats.source_archive import pack, unpack
from searchspace.formats.source_tar import open_part, read_members
from tests.searchspace.formats.hostile_archives import (
    MIB,
    extended,
    header,
    member,
    pack_within,
    write,
)


def refusal(path: Path) -> str:
    with pytest.raises(InvalidInput) as raised:
        pack(path, path.with_name("packed"))
    return str(raised.value)


def unpacked(path: Path) -> Path:
    target = path.with_name("out")
    target.mkdir()
    unpack(path, target)
    return target


def test_a_global_header_is_not_copied_to_every_file(tmp_path: Path) -> None:
    records = [(f"k{number:x}", "") for number in range(30_000)]
    bomb = write(
        tmp_path / "t.tar",
        extended(records, tarfile.XGLTYPE),
        *(header(f"f{number}") for number in range(200)),
    )
    assert pack_within(60 * MIB, bomb) == ""


def test_the_global_header_of_git_archive_is_read_over(tmp_path: Path) -> None:
    commit = extended([("comment", "0" * 40)], tarfile.XGLTYPE)
    path = write(tmp_path / "t.tar", commit, member("p/a", tarfile.REGTYPE, b"text"))
    assert (unpacked(path) / "a").read_bytes() == b"text"


@pytest.mark.parametrize("keyword", ["path", "linkpath", "size", "GNU.sparse.size"])
def test_a_global_header_that_names_or_measures_files_is_refused(
    tmp_path: Path, keyword: str
) -> None:
    path = write(tmp_path / "t.tar", extended([(keyword, "1")], tarfile.XGLTYPE), header("a"))
    assert "global header" in refusal(path)


def test_what_headers_say_of_files_is_not_kept(tmp_path: Path) -> None:
    said = extended([("comment", "x" * (MIB - 100))])
    path = write(tmp_path / "t.tar", *(said + header(f"f{number}") for number in range(80)))
    assert pack_within(40 * MIB, path) == ""


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_headers_of_more_records_than_files_need_are_refused(kind: bytes) -> None:
    said = extended(((f"k{number % 10}", "") for number in range(50)), kind)
    with io.BytesIO(said + header("a")) as file:
        assert [info.name for info in read_members(file, 3)] == ["a"]
        with pytest.raises(InvalidInput, match=r"more headers than 2 files need; pack .* again"):
            list(read_members(file, 2))


def test_extended_headers_without_end_are_refused() -> None:
    with (
        io.BytesIO(extended([("comment", "x")]) * 41 + header("a")) as file,
        pytest.raises(InvalidInput, match="more headers than 10 files need"),
    ):
        list(read_members(file, 10))


def test_long_names_are_refused_before_they_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_tar, "_MAX_NAMES", 10_000)
    long = [member("l", tarfile.GNUTYPE_LONGNAME, b"%d" % n * 2000) for n in range(6)]
    path = write(tmp_path / "t.tar", *(name + header("a") for name in long))
    assert "names of all files together exceed" in refusal(path)


def steps_of(links: int, folder: Path) -> int:
    """Calls of functions while so many hard links to the first file are packed."""
    path = write(
        folder / f"{links}.tar",
        header("a"),
        *(header(f"f{number:04}", tarfile.LNKTYPE, link="a") for number in range(links)),
    )
    steps = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal steps
        steps += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        pack(path, folder / "packed")
    finally:
        sys.setprofile(None)
    return steps


def test_hard_links_are_resolved_in_steps_that_grow_with_their_number(tmp_path: Path) -> None:
    steps_of(1, tmp_path)  # what is done once
    assert steps_of(400, tmp_path) < 2.2 * steps_of(200, tmp_path)


def test_hard_links_hold_what_stood_before_them_under_that_name(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.tar",
        member("p/a", tarfile.REGTYPE, b"old"),
        header("p/b", tarfile.LNKTYPE, link="./p//a"),
        header("p/c", tarfile.LNKTYPE, link="p/b"),
        member("p/a", tarfile.REGTYPE, b"new"),
        header("p/s", tarfile.SYMTYPE, link="a"),
        header("p/t", tarfile.LNKTYPE, link="p/s"),
    )
    out = unpacked(path)
    assert [(out / name).read_bytes() for name in "abcst"] == [b"new", b"old", b"old"] + [
        b"new"
    ] * 2
    assert (out / "t").readlink() == Path("a")


def test_a_hard_link_to_a_directory_or_to_what_comes_later_is_refused(tmp_path: Path) -> None:
    link = header("h", tarfile.LNKTYPE, link="d")
    path = write(tmp_path / "t.tar", header("d", tarfile.DIRTYPE), link)
    assert "h is a link to something that is no file" in refusal(path)
    path = write(tmp_path / "t.tar", link, header("d"))
    assert "h is a link to a file that is not there" in refusal(path)


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_a_file_without_name_hides_no_large_header(tmp_path: Path, kind: bytes) -> None:
    large = header("large", kind, 120 * MIB)
    path = write(tmp_path / "t.tar", header(""), large, zeros=120 * MIB)
    assert "a header is too large (120 MiB, at most 1 MiB); pack" in pack_within(60 * MIB, path)


def test_a_size_that_a_header_corrects_hides_no_large_header(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.tar",
        extended([("size", "0")]),
        header("a", size=121 * MIB),  # as the extended header has it, the next one follows
        header("large", tarfile.GNUTYPE_LONGNAME, 120 * MIB),
        zeros=122 * MIB,
    )
    assert "a header is too large" in pack_within(60 * MIB, path)


@pytest.mark.parametrize("size", ["-1536", "-1", "1e3", "", "9" * 5000, "9" * 20, "4096"])
def test_sizes_that_lead_back_or_past_the_end_are_refused(tmp_path: Path, size: str) -> None:
    path = write(tmp_path / "t.tar", extended([("size", size)]), header("a"))
    assert "the archive is damaged" in pack_within(60 * MIB, path)


def test_a_size_in_an_extended_header_holds(tmp_path: Path) -> None:
    content = b"text" + bytes(508)
    path = write(tmp_path / "t.tar", extended([("size", "4")]), header("a"), content, header("b"))
    out = unpacked(path)
    assert (out / "a").read_bytes() == b"text"
    assert (out / "b").read_bytes() == b""


@pytest.mark.parametrize(
    "content",
    [
        b"x",
        b"9 a=b\n",
        b"6 a=bc",
        b"5 =b\n",
        b"5 ab\n",
        b"3 \n",
        b" a=b\n",
        b"-6 a=b\n",
        b"0 a=b\n",
    ],
)
def test_records_that_make_no_sense_are_refused(tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path / "t.tar", member("x", tarfile.XHDTYPE, content), header("a"))
    assert "an extended header cannot be read" in refusal(path)


def test_an_archive_that_breaks_off_is_refused(tmp_path: Path) -> None:
    whole = member("a", tarfile.REGTYPE, b"x" * 600)
    (tmp_path / "t.tar").write_bytes(whole[:1100])
    assert "600 bytes that the header at byte 0 announces are not there" in refusal(
        tmp_path / "t.tar"
    )
    (tmp_path / "t.tar").write_bytes(whole + whole[:100])
    assert "there is no header at byte 1536" in refusal(tmp_path / "t.tar")
    (tmp_path / "t.tar").write_bytes(whole + extended([("path", "b")]))
    assert "the header of a missing file" in refusal(tmp_path / "t.tar")


@pytest.mark.parametrize(
    "content", [b"", bytes(100), b"BZh91AY&SY" * 100], ids=["empty", "zeros", "bz2"]
)
def test_what_is_no_tar_is_said_to_be_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.tar").write_bytes(content)
    assert "it is neither tar, tar.gz nor zip; pack" in refusal(tmp_path / "t.tar")


@pytest.mark.parametrize("form", ["v7", "oldgnu", "gnu", "ustar", "posix"])
def test_what_tar_writes_is_read(tmp_path: Path, form: str) -> None:
    tree = tmp_path / "tree"
    (tree / "empty").mkdir(parents=True)
    (tree / "file").write_bytes(b"x" * 1000)
    (tree / "hard").hardlink_to(tree / "file")
    (tree / "soft").symlink_to("file")
    if form != "v7":
        deep = tree / ("d" * 60) / ("e" * 60)
        deep.mkdir(parents=True)
        (deep / "file").write_text("1")
    if form not in ("v7", "ustar"):
        (tree / ("é" * 100)).write_text("2")
        (tree / "long").symlink_to("d" * 150)
        (deep / "hard").hardlink_to(deep / "file")
    subprocess.run(
        ["tar", f"--format={form}", "-cf", tmp_path / "t.tar", "tree"], cwd=tmp_path, check=True
    )
    pack(tree, tmp_path / "expected")
    pack(tmp_path / "t.tar", tmp_path / "packed")
    assert (tmp_path / "packed").read_bytes() == (tmp_path / "expected").read_bytes()


@pytest.mark.parametrize("options", [["--format=gnu"], ["--sparse-version=0.1"], []])
def test_sparse_files_are_refused_by_name(tmp_path: Path, options: list[str]) -> None:
    with (tmp_path / "holes").open("wb") as file:
        file.truncate(MIB)
    command = ["tar", "--format=posix", "-S", *options, "-cf", "t.tar", "holes"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert (
        refusal(tmp_path / "t.tar") == "holes is stored as a sparse file; pack it without --sparse"
    )


def content_of(archive: tarfile.TarFile, info: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(info)
    assert file is not None
    return file.read()


NAMES = st.text("abé/", min_size=1, max_size=300).map(lambda name: "n" + name.rstrip("/"))


@given(
    st.lists(st.tuples(NAMES, st.binary(max_size=1100)), max_size=6),
    st.sampled_from([tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]),
)
def test_members_are_those_that_tarfile_reads(files: list[tuple[str, bytes]], form: int) -> None:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=form) as archive:
        for name, content in files:
            info = tarfile.TarInfo(name if form != tarfile.USTAR_FORMAT else name[:50])
            info.size, info.mtime = len(content), 1.5 if form == tarfile.PAX_FORMAT else 1
            archive.addfile(info, io.BytesIO(content))
    with tarfile.open(fileobj=io.BytesIO(written.getvalue())) as archive:
        expected = [(info.name, content_of(archive, info)) for info in archive]
    read = [(info.name, info.offset_data, info.size) for info in read_members(written, 100)]
    assert [
        (name, open_part(written, start, size).read()) for name, start, size in read
    ] == expected


@pytest.mark.parametrize(("count", "size"), [(20_000, 1), (80, MIB - 100)])
def test_extended_headers_in_a_row_do_not_pile_up(tmp_path: Path, count: int, size: int) -> None:
    value = "1" * size
    rows = (extended([(f"GNU.sparse.{number:x}", value)]) for number in range(count))
    path = write(tmp_path / "t.tar", *rows, header("a"))
    assert "a is stored as a sparse file" in pack_within(40 * MIB, path)
