"""XML of little text that puts much into each of many elements."""

from __future__ import annotations

import subprocess
import sys

import pytest

from searchspace.errors import InvalidInput
from searchspace.formats.graphml import parse_xml, tag_of

_IN_LITTLE_MEMORY = """
import resource, sys
from searchspace.errors import InvalidInput
from searchspace.formats.graphml import parse_xml

text = {text}
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (128 << 20),) * 2)
try:
    parse_xml(text)
except InvalidInput as error:
    sys.exit(error.message)
"""
_DEFAULTS = (
    "'<!DOCTYPE graphml [<!ATTLIST node x CDATA \"' + 'a' * 100_000 + '\">]><graphml><graph>'"
    "+ '<node/>' * 5000 + '</graph></graphml>'"
)
_NAMESPACE = (
    "'<graphml xmlns:a=\"' + 'u' * 100_000 + '\"><graph>'"
    "+ ''.join(f'<a:n{i}/>' for i in range(5000)) + '</graph></graphml>'"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (_DEFAULTS, "nor with other declarations in its DOCTYPE; take out what stands there"),
        (_NAMESPACE, "XML with a namespace of more than 200 characters is not read: 'uuu"),
    ],
    ids=["default values of attributes", "a long namespace"],
)
def test_what_each_element_would_get_a_copy_of_is_refused(text: str, message: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _IN_LITTLE_MEMORY.format(text=text)], capture_output=True, text=True
    )

    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "doctype",
    [
        "",
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
        '<!DOCTYPE topology SYSTEM "hwloc2.dtd">',
        '<!DOCTYPE a PUBLIC "-//A//DTD B//EN" "c.dtd">',
        "<!DOCTYPE a>",
    ],
)
def test_a_doctype_that_declares_nothing_itself_is_passed_over(doctype: str) -> None:
    root = parse_xml(f'<?xml version="1.0"?>{doctype}<a xmlns="http://graphml.org/xmlns"><b/></a>')

    assert [tag_of(element) for element in root.iter()] == ["a", "b"]


@pytest.mark.parametrize(
    "declared", ['<!ENTITY b "c">', '<!ATTLIST a b CDATA "c">', "<!ELEMENT a ANY>", ""]
)
def test_declarations_in_the_file_are_refused(declared: str) -> None:
    with pytest.raises(InvalidInput, match="XML with entities is not read, nor with other decl"):
        parse_xml(f"<!DOCTYPE a [{declared}]><a/>")
