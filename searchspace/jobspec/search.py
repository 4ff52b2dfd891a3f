"""`search`: the space that a job chooses from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, field_validator, model_validator

from searchspace.choices import MAPPINGS, MappingChoice, MappingItem, TopologyChoice, TopologyItem
from searchspace.collectives import DEFAULT, SELECTORS
from searchspace.collectives.equivalents import TARGETS
from searchspace.collectives.equivalents.decision_files import DECISION_FILES
from searchspace.errors import InvalidInput
from searchspace.jobspec.search_names import ALL, wrong_algorithms, wrong_choices, wrong_ranges
from searchspace.jobspec.search_schema import name_the_choices
from searchspace.ordering import ORDERINGS
from searchspace.platform import GIVEN
from searchspace.topology import FAMILIES
from searchspace.transport import SETTINGS, read_setting
from searchspace.units import parse_size
from searchspace.validation import Description, field_error, field_errors

__all__ = ["Search"]


def _listed(value: Any) -> Any:
    """Lets a single choice stand for a list of one."""
    return [value] if isinstance(value, str | Mapping) else value


Names = Annotated[list[str], BeforeValidator(_listed), Field(min_length=1)]
Values = Annotated[list[str | int], Field(min_length=1)]


def _read_values(name: str, given: Any, wrong: list[tuple[str, str]]) -> list[Any]:
    """Reads the values of a setting of the transport; adds what is wrong, as (field, message)."""
    field = f"protocol.{name}"
    values: list[Any] = []
    for value in given if isinstance(given, list) else [given]:
        try:
            values.append(ALL if name in SETTINGS and value == ALL else read_setting(name, value))
        except InvalidInput as error:
            wrong.append((field, error.message))
    twice = [value for i, value in enumerate(values) if value in values[:i]]
    wrong += [(field, f"{value!r} is listed twice") for value in dict.fromkeys(twice)]
    return values


_BY_ORDER: str | MappingChoice = "by-order"


class Search(Description):
    """The space: what the job chooses from. What is not listed stays at its default."""

    model_config = ConfigDict(json_schema_extra=name_the_choices)
    topology: (
        Annotated[list[TopologyItem], BeforeValidator(_listed), Field(min_length=1)] | None
    ) = None
    """Topology families, `{family: random, instances: 8}`, `{family: circulant, jumps: ["1,5",
    "1,7"]}`, or `given` for the machine's own network, which is the default where there is one."""
    ordering: Names = Field(default_factory=lambda: ["original"])
    """Ordering methods."""
    mapping: Annotated[list[MappingItem], BeforeValidator(_listed), Field(min_length=1)] = Field(
        default_factory=lambda: [_BY_ORDER]
    )
    """Mappers, `{mapper: treematch, heuristic: [smallest-first, largest-last]}`, `{mapper: random,
    instances: 8}`, or `permutation`: the search moves ranks itself, from what mappers make."""
    mpi: Names = Field(default_factory=lambda: [DEFAULT])
    """MPI implementations whose choice of algorithms is imitated; `default` is SMPI's own."""
    collectives: dict[str, Names] = Field(default_factory=dict)
    """Algorithms by collective: names, `default` for what the MPI implementation chooses, or `all`
    for that and every algorithm that works."""
    protocol: dict[str, Values] = Field(default_factory=dict)
    """Settings of the transport, where the machine's network is `packets` or `auto`: `{exchange:
    all, eager_limit: [64KiB, 256KiB]}`, or `all` for all of them; values of the fields of that name
    in the machine's protocol, `default` for its own, or `all`. None is searched unless listed."""
    by_size: bool | dict[str, list[int]] = False
    """Whether a collective may have other algorithms for small messages than for large ones. `true`
    divides the sizes at which the program calls it into at most three ranges where they are far
    apart; `{allreduce: [64KiB, 1MiB]}` says itself where ranges begin. Each range is a parameter of
    its own. Bytes are those of the whole vector, but of the block of one rank for allgather,
    alltoall, gather and scatter."""
    target: str | None = None
    """The MPI library that has to run what is found, such as `openmpi-4.1`. Only algorithms that it
    has too are chosen from, `all` stands for these, and what is left to it is simulated as an old
    release of it would choose. Unless `collectives` says otherwise, all of them are searched."""

    @model_validator(mode="before")
    @classmethod
    def _read_protocol(cls, document: Any) -> Any:
        """Brings settings of the transport into one form: lists of values by name."""
        if not isinstance(document, Mapping) or "protocol" not in document:
            return document
        given = document["protocol"]
        if given == ALL:
            given = dict.fromkeys(SETTINGS, ALL)
        if not isinstance(given, Mapping):
            raise field_error(f"must be '{ALL}', or a group of: {', '.join(SETTINGS)}", "protocol")
        wrong: list[tuple[str, str]] = []
        read = {str(name): _read_values(str(name), values, wrong) for name, values in given.items()}
        if wrong:
            raise field_errors(wrong)
        return {**document, "protocol": read}

    @model_validator(mode="before")
    @classmethod
    def _suit_target(cls, document: Any) -> Any:
        """Fills in what a target means for what is left out."""
        name = document.get("target") if isinstance(document, Mapping) else None
        if not isinstance(name, str) or name not in TARGETS:
            return document
        target = TARGETS[name]
        implied = {
            "mpi": [target.selector],
            "collectives": {name: [ALL] for name in target.entries},
        }
        return {**implied, **document}

    @model_validator(mode="after")
    def _check_target(self) -> Search:
        if self.target is None:
            return self
        if self.target not in TARGETS:
            raise field_error(
                f"unknown target '{self.target}'; allowed: {', '.join(TARGETS)}", "target"
            )
        selectors = TARGETS[self.target].selectors
        if self.mpi not in [[selector] for selector in selectors]:
            raise field_error(
                f"for the target {self.target} must be {selectors[0]}, or left out", "mpi"
            )
        return self

    @field_validator("by_size", mode="before")
    @classmethod
    def _read_by_size(cls, given: Any) -> Any:
        """Brings the begins of ranges into one form: lists of bytes by collective."""
        if isinstance(given, bool):
            return given
        if not isinstance(given, Mapping):
            raise ValueError("must be true, false, or a group such as {allreduce: [64KiB, 1MiB]}")
        return {str(name): _read_begins(str(name), begins) for name, begins in given.items()}

    @model_validator(mode="after")
    def _check_ranges(self) -> Search:
        if not self.by_size:
            return self
        if not self.collectives:
            raise field_error("no collective is searched: name some in 'collectives'", "by_size")
        library = None if self.target is None else TARGETS[self.target]
        if library is not None and library.format not in DECISION_FILES:
            message = f"{library.title} has no public form of ranges; leave it out"
            raise field_error(message, "by_size")
        wrong: list[tuple[str, str]] = []
        for name, begins in () if self.by_size is True else self.by_size.items():
            blind = () if library is None else DECISION_FILES[library.format].without_size
            reason = wrong_ranges(name, begins, tuple(self.collectives))
            if reason is None and library is not None and name in blind:
                reason = f"{library.title} has one algorithm of {name} for all sizes"
            if reason is not None:
                wrong.append((f"by_size.{name}", reason))
        if wrong:
            raise field_errors(wrong)
        return self

    @model_validator(mode="after")
    def _check_names(self) -> Search:
        topologies = [t.family if isinstance(t, TopologyChoice) else t for t in self.topology or ()]
        wrong = [
            *wrong_choices("topology", topologies, (*FAMILIES, GIVEN)),
            *wrong_choices("ordering", self.ordering, tuple(ORDERINGS)),
            *wrong_choices("mapping", [m.mapper for m in self.mappers], MAPPINGS),
            *wrong_choices("mpi", self.mpi, (*SELECTORS, DEFAULT)),
        ]
        for name, algorithms in self.collectives.items():
            wrong += wrong_algorithms(name, algorithms)
        if wrong:
            raise field_errors(wrong)
        return self

    @property
    def mappers(self) -> list[MappingChoice]:
        """The mappers, with the values of their options."""
        return [
            item if isinstance(item, MappingChoice) else MappingChoice.model_construct(mapper=item)
            for item in self.mapping
        ]


def _read_begins(collective: str, given: Any) -> list[int]:
    try:
        return [parse_size(one) for one in (given if isinstance(given, list) else [given])]
    except InvalidInput as error:
        raise ValueError(f"{collective}: {error.message}") from error
