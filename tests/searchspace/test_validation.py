"""What descriptions say of themselves, and of what does not fit."""

import pytest
from pydantic import Field

from searchspace.errors import InvalidInput
from searchspace.validation import Description, check


class _Plain(Description):
    width: int
    """Bisection width, links,
    at least."""
    name: str


class _Named(_Plain):
    seed: int = Field(default=1, alias="random seed", description="Said in place.")
    """Not this."""
    links: _Plain | None = None
    """What joins them."""


def test_the_words_below_a_field_describe_it_in_the_schema() -> None:
    properties = _Named.model_json_schema()["properties"]
    assert properties["width"]["description"] == "Bisection width, links,\nat least."
    assert "description" not in properties["name"]
    assert properties["links"]["description"] == "What joins them."


def test_what_a_field_says_itself_goes_first() -> None:
    properties = _Named.model_json_schema()["properties"]
    assert properties["random seed"]["description"] == "Said in place."


class _Label(Description):
    tag: str = Field(pattern=r"^[^,\x00-\x1f]+$")
    project: str = Field(default="all", pattern=r"^[a-z][a-z0-9-]*$")


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"tag": "a,b"}, "tag: must not contain ','"),
        ({"tag": "a\nb"}, r"tag: must not contain '\\n'"),
        ({"tag": ""}, "tag: must match pattern"),
        ({"tag": "a", "project": "Mine"}, "project: must match pattern"),
    ],
)
def test_a_character_that_may_not_be_is_named(document: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{said}"):
        check(_Label, document)
