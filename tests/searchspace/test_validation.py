"""What descriptions say of themselves."""

from pydantic import Field

from searchspace.validation import Description


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
