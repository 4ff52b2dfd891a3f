"""What a job lists to choose from whose options stand beside its name: networks, mappers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import (
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from searchspace.configuration import Scalar
from searchspace.errors import InvalidInput
from searchspace.mapping import MAPPERS, Mapper
from searchspace.mapping.permutation import PERMUTATION
from searchspace.options import Option
from searchspace.topology import DEGREE, FAMILIES, options_of
from searchspace.validation import Description, field_error

__all__ = ["MAPPINGS", "MappingChoice", "MappingItem", "TopologyChoice", "TopologyItem"]

MOST_INSTANCES = 10_000

MAPPINGS = (*MAPPERS, PERMUTATION)
"""What a job may list under `search.mapping`."""


def _one_complaint(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    """Says once what is wrong, where pydantic says it of every type that a value could have."""
    try:
        return handler(value)
    except ValidationError:
        raise field_error("must be a text or number, or a list of such") from None


Values = Annotated[Scalar | list[Scalar], WrapValidator(_one_complaint)]


class _Choice(Description):
    # What options there are differs by what is chosen; its table knows them.
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Values] = Field(init=False)

    def _read_options(self, chosen: str, known: Mapping[str, Option]) -> None:
        """Brings the options of what was chosen into one form, in place."""
        for name, given in self.__pydantic_extra__.items():
            if name not in known:
                allowed = ", ".join((*type(self).model_fields, *known))
                raise field_error(f"unknown field of {chosen}; allowed: {allowed}", name)
            values = given if isinstance(given, list) else [given]
            if not values:
                raise field_error("must list at least one value", name)
            try:
                self.__pydantic_extra__[name] = [known[name].read(value) for value in values]
            except InvalidInput as error:
                raise field_error(error.message, name) from error

    @property
    def options(self) -> dict[str, list[Scalar]]:
        """The values of each option, in their one form."""
        return {
            name: values if isinstance(values, list) else [values]
            for name, values in self.__pydantic_extra__.items()
        }


class TopologyChoice(_Choice):
    """Networks of one family, whose parameters stand beside these: a value or a list of values."""

    family: str
    """Name of a topology family."""
    instances: int = Field(default=1, ge=1, le=MOST_INSTANCES)
    """How many, of a family that uses seeds: these are the job's seed and the numbers that
    follow."""

    @model_validator(mode="after")
    def _check_family(self) -> TopologyChoice:
        if self.family not in FAMILIES:
            raise field_error(
                f"unknown family '{self.family}'; allowed: {', '.join(FAMILIES)}", "family"
            )
        if self.instances > 1 and not FAMILIES[self.family].uses_seed:
            seeded = ", ".join(name for name, family in FAMILIES.items() if family.uses_seed)
            raise field_error(
                f"{self.family} has one network of a size; only these have more: {seeded}",
                "instances",
            )
        degree = {DEGREE.name: DEGREE} if FAMILIES[self.family].uses_degree else {}
        self._read_options(self.family, degree | options_of(self.family))
        return self


def _topology_kind(value: Any) -> str:
    return "<name>" if isinstance(value, str) else "<family>"


TopologyItem = Annotated[
    Annotated[str, Tag("<name>")] | Annotated[TopologyChoice, Tag("<family>")],
    Discriminator(_topology_kind),
]


class MappingChoice(_Choice):
    """A mapper, whose options stand beside its name: a value or a list of values."""

    mapper: str
    """Name of a mapper, or `permutation`: the search itself chooses the core of every rank."""
    instances: int = Field(default=1, ge=1, le=MOST_INSTANCES)
    """How many mappings, of a mapper that makes random choices: its seeds are the job's seed and
    the numbers that follow."""

    @property
    def method(self) -> Mapper | None:
        """The mapper, unless the search itself maps."""
        return MAPPERS.get(self.mapper)

    @model_validator(mode="after")
    def _check_mapper(self) -> MappingChoice:
        if self.mapper not in MAPPINGS:
            raise field_error(
                f"unknown mapping '{self.mapper}'; allowed: {', '.join(MAPPINGS)}", "mapper"
            )
        if self.instances > 1 and (self.method is None or not self.method.uses_seed):
            seeded = ", ".join(name for name, mapper in MAPPERS.items() if mapper.uses_seed)
            raise field_error(
                f"{self.mapper} makes no random choices; only these do: {seeded}", "instances"
            )
        options = () if self.method is None else self.method.options
        self._read_options(self.mapper, {option.name: option for option in options})
        return self


def _mapping_kind(value: Any) -> str:
    return "<name>" if isinstance(value, str) else "<mapper>"


MappingItem = Annotated[
    Annotated[str, Tag("<name>")] | Annotated[MappingChoice, Tag("<mapper>")],
    Discriminator(_mapping_kind),
]
