"""What NOTICE, CITATION.cff and SPDX lines say is true of the repository."""

import re
import subprocess
import tomllib
from pathlib import Path

import yaml

from deploy.notice import main, packages
from service.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
LICENCE = "LGPL-2.1-only"
# REUSE-IgnoreStart
SPDX_LINE = rb"SPDX-License-Identifier: *([^\s*]+)"
# REUSE-IgnoreEnd
OF_OTHERS = {"tests/deploy/compose_spec.json": "Apache-2.0"}
OWN_WORDS = {  # files that mention the tag themselves
    "REUSE.toml",
    "tests/deploy/test_licences.py",
}


def tracked() -> list[str]:
    """The files of the repository; of an unpacked source package those that it brought."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    return [name for name in listed.stdout.split("\0") if name]


def test_notice_has_the_licences_of_the_installed_packages() -> None:
    assert main(["--check"]) == 0


def test_packages_for_other_systems_are_left_out() -> None:
    lock = "colorama==0.4 ; sys_platform == 'win32' \\\n    --hash=x\nyarl==1.2 \\\n    --hash=y\n"
    assert packages(lock) == ["yarl"]


def test_every_file_is_under_a_licence() -> None:
    rules = tomllib.loads((ROOT / "REUSE.toml").read_text())["annotations"]
    found = [(rule["path"], rule["SPDX-License-Identifier"]) for rule in rules]
    assert found == [("**", LICENCE), *OF_OTHERS.items()]
    assert (ROOT / "LICENSE").read_text().lstrip().startswith("GNU LESSER GENERAL PUBLIC LICENSE")
    assert all((ROOT / name).is_file() for name in OF_OTHERS)
    texts = {path.stem: path.read_text() for path in (ROOT / "LICENSES").iterdir()}
    assert set(texts) == {LICENCE, *OF_OTHERS.values()}
    assert texts[LICENCE] == (ROOT / "LICENSE").read_text()
    assert texts["Apache-2.0"].lstrip().startswith("Apache License")
    for name in set(tracked()) - OWN_WORDS:
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            said = re.findall(SPDX_LINE, path.read_bytes()[:4096])
            assert set(said) <= {LICENCE.encode()}, name


def test_the_papers_are_cited() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    first = [paper["authors"][0]["family-names"] for paper in citation["references"]]
    assert first == ["Hu", "Deng", "Jeannot", "Soryani", "Wu"]
    assert all(paper["year"] and paper["title"] for paper in citation["references"])


def test_one_version_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert citation["version"] == project["version"] == VERSION
    assert f"\n## {VERSION}" in (ROOT / "CHANGELOG.md").read_text()
    assert citation["license"] == LICENCE
