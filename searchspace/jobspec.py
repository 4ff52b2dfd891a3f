"""The fields of a job file: what to tune, on which machine, over which space, for how long."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    Tag,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic.config import JsonDict
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from searchspace import builtins
from searchspace.choices import MAPPINGS, MappingChoice, MappingItem, TopologyChoice, TopologyItem
from searchspace.collectives import COLLECTIVES, DEFAULT, SELECTORS
from searchspace.collectives.equivalents import TARGETS
from searchspace.errors import InvalidDocument, InvalidInput
from searchspace.finalists import MEASURABLE, Finalists
from searchspace.formats.patterns import Pattern
from searchspace.machine import Machine, Speed
from searchspace.ordering import ORDERINGS
from searchspace.platform import GIVEN
from searchspace.topology import FAMILIES
from searchspace.transport import SETTINGS, read_setting
from searchspace.units import memory_limit, parse_duration, parse_part
from searchspace.validation import Description, check, field_error, field_errors, nearest

__all__ = [
    "ALL",
    "Application",
    "Budget",
    "BuiltinApplication",
    "Capture",
    "ExtrapolatedApplication",
    "JobSpec",
    "Limits",
    "Reference",
    "Search",
    "SingleApplication",
    "SourceApplication",
    "TraceApplication",
    "Workload",
    "WorkloadPart",
    "check_application",
]

ALL = "all"
"""Every algorithm of a collective that works."""

COMPARISON_SHARE = 0.1
"""Of a job's budgets of seconds, or else of what its search took: what one comparison of network
models may take at most."""

COMPARISON_SECONDS = 10.0
"""What a comparison may take after a search without a budget of seconds, however short."""

MOST_APPLICATIONS = 64
MOST_IN_FLIGHT = 1_024
MOST_REFINEMENT = 100_000
MOST_COMMAND = 4_096
MOST_CAPTURES = 25
MOST_RANKS = 65_536

MODEL = "Surrogate"
"""The search technique that learns a model of simulated time."""


def _read_seconds(value: Any) -> float:
    try:
        seconds = parse_duration(value)
    except InvalidInput as error:
        raise ValueError(error.message) from error
    if seconds == 0:
        raise ValueError("must be greater than 0")
    return seconds


def _read_part(value: Any) -> float:
    try:
        return parse_part(value)
    except InvalidInput as error:
        raise ValueError(error.message) from error


def _read_bytes(value: Any) -> int:
    try:
        size = memory_limit(value)
    except InvalidInput as error:
        raise ValueError(error.message) from error
    if size == 0:
        raise ValueError("must be greater than 0")
    return size


def _read_delay(value: Any) -> float:
    try:
        return parse_duration(value)
    except InvalidInput as error:
        raise ValueError(error.message) from error


Delay = Annotated[
    float,
    BeforeValidator(_read_delay),
    WithJsonSchema({"type": ["number", "string"], "examples": ["50ms"]}),
]
Seconds = Annotated[
    float,
    BeforeValidator(_read_seconds),
    WithJsonSchema({"type": ["number", "string"], "examples": ["10min"]}),
]
Part = Annotated[
    float,
    BeforeValidator(_read_part),
    WithJsonSchema({"type": ["number", "string"], "examples": ["1%"]}),
]
Bytes = Annotated[
    int,
    BeforeValidator(_read_bytes),
    WithJsonSchema({"type": ["integer", "string"], "examples": ["4GiB"]}),
]


class BuiltinApplication(Description):
    """A program of ours, captured when the job is prepared. Its parameters stand beside these."""

    # The parameters differ by program; `builtins` knows them.
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, str | int] = Field(init=False)

    builtin: Annotated[str, WithJsonSchema({"enum": list(builtins.BUILTINS)})]
    """Name of the program."""
    ranks: int
    """How many ranks run it."""

    @model_validator(mode="after")
    def _check_run(self) -> BuiltinApplication:
        try:
            run = self.run
        except InvalidInput as error:
            raise field_error(error.message, error.field) from error
        self.__pydantic_extra__.update(run.parameters)
        return self

    @property
    def run(self) -> builtins.BuiltinRun:
        """The program with all its parameters and ranks."""
        return builtins.validate(self.builtin, self.__pydantic_extra__, self.ranks)


class TraceApplication(Description):
    """A captured program."""

    trace: str = Field(min_length=1)
    """Path of the trace, relative to the job file."""


class SourceApplication(Description):
    """A program of one's own, built and captured in a sandbox when the job is prepared."""

    source: str = Field(min_length=1)
    """Its source tree, relative to the job file: a directory, or a tar, tar.gz or zip archive."""
    build: str = Field(min_length=1, max_length=MOST_COMMAND)
    """Shell command that builds it, at the root of the tree: `make CLASS=S`. The compilers `mpicc`,
    `mpicxx`, `mpif77`, `mpif90` and `mpifort` on the path record what programs do."""
    run: str = Field(min_length=1, max_length=MOST_COMMAND)
    """The program that is built, relative to the root of the tree, and its arguments."""
    ranks: int = Field(ge=1, le=MOST_RANKS)
    """How many ranks run it."""
    captures: int = Field(default=3, ge=1, le=MOST_CAPTURES)
    """How often it is run; the median of what is computed before each call counts."""
    computation: Literal["measured", "declared"] = "measured"
    """Whether the CPU time between MPI calls is measured, or the program declares its flops with
    `smpi_execute_flops` and runs once."""
    host_speed_of_capture: Speed | None = None
    """Flop/s that turn measured seconds into flops; by default the measured speed of a matrix
    product on one core of the machine that captures."""

    def recipe(self, source_sha256: str) -> dict[str, Any]:
        """All that determines what is captured, as JSON, with the tree by its hash."""
        return {
            "source_sha256": source_sha256,
            **self.model_dump(mode="json", exclude={"source"}),
        }


class Reference(Description):
    """Something that the service stores."""

    id: str = Field(min_length=1)
    """Its id."""


def _told_apart_by(*kinds: str) -> Discriminator:
    """Tells descriptions of applications apart by the field that they have."""

    def kind_of(value: Any) -> str | None:
        names = value if isinstance(value, Mapping) else getattr(value, "__dict__", {})
        return next((f"<{kind}>" for kind in kinds if kind in names), None)

    allowed = ", ".join(kinds)
    context: dict[str, int | str | float] = {"name": ""}
    return Discriminator(
        kind_of,
        custom_error_type="field_error",
        custom_error_message=f"must name one of: {allowed}",
        custom_error_context=context,
    )


Capture = Annotated[
    Annotated[BuiltinApplication, Tag("<builtin>")]
    | Annotated[TraceApplication, Tag("<trace>")]
    | Annotated[SourceApplication, Tag("<source>")]
    | Annotated[Reference, Tag("<id>")],
    _told_apart_by("builtin", "trace", "source", "id"),
]


class Captures(Description):
    """What a large run is extrapolated from."""

    captures: list[Capture] = Field(min_length=2, max_length=MOST_APPLICATIONS)
    """One program on different numbers of ranks; a third one lets the result be checked."""


class ExtrapolatedApplication(Description):
    """A run on more ranks than a program was captured on."""

    extrapolate: Captures
    """Smaller runs of it."""
    ranks: int = Field(ge=2, le=MOST_RANKS)
    """How many ranks run it."""

    @model_validator(mode="after")
    def _check_larger(self) -> ExtrapolatedApplication:
        known = (BuiltinApplication, SourceApplication)
        captured = [each.ranks for each in self.extrapolate.captures if isinstance(each, known)]
        largest = max(captured, default=1)
        if self.ranks <= largest:
            raise field_error(f"must be above the {largest} of the largest capture", "ranks")
        return self


SingleApplication = Annotated[
    Annotated[BuiltinApplication, Tag("<builtin>")]
    | Annotated[TraceApplication, Tag("<trace>")]
    | Annotated[SourceApplication, Tag("<source>")]
    | Annotated[Pattern, Tag("<pattern>")]
    | Annotated[ExtrapolatedApplication, Tag("<extrapolate>")]
    | Annotated[Reference, Tag("<id>")],
    _told_apart_by("builtin", "trace", "source", "pattern", "extrapolate", "id"),
]


class WorkloadPart(Description):
    """One of several applications that run on the machine at once."""

    name: str = Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9._-]+$")
    """What its results are called; different for each."""
    application: SingleApplication
    """What runs, as in a job with one application."""
    start: Delay = 0.0
    """Seconds after which it starts."""
    weight: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    """How much its finish time counts where the objective is `weighted`."""


class Workload(Description):
    """Several applications on one machine at once."""

    applications: list[WorkloadPart] = Field(min_length=1, max_length=MOST_APPLICATIONS)
    """Their ranks are placed one application after the other, as if they were one."""
    objective: Literal["max", "mean", "weighted"] = "max"
    """What is minimised: the latest finish time, their mean, or the mean with `weight`s."""

    @model_validator(mode="after")
    def _check_names(self) -> Workload:
        names = [part.name for part in self.applications]
        for index, name in enumerate(names):
            if name in names[:index]:
                raise field_error(f"two applications are called '{name}'", "applications")
        return self


Application = Annotated[
    Annotated[BuiltinApplication, Tag("<builtin>")]
    | Annotated[TraceApplication, Tag("<trace>")]
    | Annotated[SourceApplication, Tag("<source>")]
    | Annotated[Pattern, Tag("<pattern>")]
    | Annotated[ExtrapolatedApplication, Tag("<extrapolate>")]
    | Annotated[Reference, Tag("<id>")]
    | Annotated[Workload, Tag("<applications>")],
    _told_apart_by("builtin", "trace", "source", "pattern", "extrapolate", "id", "applications"),
]


class _Named(Description):
    application: Application


def check_application(document: Any) -> Application:
    """Reads what a job file has under `application`.

    Raises:
        InvalidInput: It does not fit; `InvalidDocument` where it has several mistakes.
    """
    try:
        return check(_Named, {"application": document}).application
    except InvalidDocument as error:
        raise InvalidDocument([_without_owner(one) for one in error.errors]) from None
    except InvalidInput as error:
        raise _without_owner(error) from None


def _without_owner(error: InvalidInput) -> InvalidInput:
    field = (error.field or "").removeprefix("application").removeprefix(".")
    return InvalidInput(error.message, field=field or None)


def _machine_kind(value: Any) -> str:
    referred = isinstance(value, Reference) or (isinstance(value, Mapping) and "id" in value)
    return "<id>" if referred else "<machine>"


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


def _name_the_choices(schema: JsonDict) -> None:
    """Tells the JSON schema what validators know: each name, and that one need not be a list."""
    fields = cast("dict[str, Any]", schema["properties"])
    topology = fields["topology"]["anyOf"][0]["items"]["oneOf"][1]
    mapping = fields["mapping"]["items"]["oneOf"][1]
    of_field = {
        "topology": [_names(*FAMILIES, GIVEN), topology],
        "ordering": [_names(*ORDERINGS)],
        "mapping": [_names(*MAPPINGS), mapping],
        "mpi": [_names(*SELECTORS, DEFAULT)],
    }
    for name, items in of_field.items():
        fields[name] = {**_described(fields[name]), "anyOf": _one_or_several(*items)}
    fields["topology"]["anyOf"].append({"type": "null"})
    fields["collectives"] = {
        **_described(fields["collectives"]),
        "type": "object",
        "properties": {
            name: {"anyOf": _one_or_several(_names(ALL, DEFAULT, *_offered(name)))}
            for name in COLLECTIVES
        },
        "additionalProperties": False,
    }
    scalar = {"type": ["string", "integer", "number"]}
    fields["protocol"] = {
        **_described(fields["protocol"]),
        "anyOf": [
            {"const": ALL},
            {
                "type": "object",
                "properties": {name: {"anyOf": _one_or_several(scalar)} for name in SETTINGS},
                "additionalProperties": False,
            },
        ],
    }
    fields["target"] = {
        **_described(fields["target"]),
        "anyOf": [_names(*TARGETS), {"type": "null"}],
    }


def _names(*names: str) -> dict[str, Any]:
    return {"enum": list(names)}


def _described(field: Mapping[str, Any]) -> dict[str, Any]:
    return {key: field[key] for key in ("default", "description", "title") if key in field}


def _one_or_several(*items: Mapping[str, Any]) -> list[dict[str, Any]]:
    several = {
        "type": "array",
        "minItems": 1,
        "uniqueItems": True,
        "items": {"anyOf": list(items)},
    }
    return [*map(dict, items), several]


def _offered(collective: str) -> list[str]:
    """The algorithms of a collective that a job may list."""
    algorithms = COLLECTIVES[collective].algorithms
    return [name for name, algorithm in algorithms.items() if algorithm.offered]


class Search(Description):
    """The space: what the job chooses from. What is not listed stays at its default."""

    model_config = ConfigDict(json_schema_extra=_name_the_choices)
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
    target: str | None = None
    """The MPI library that has to run what is found, such as `openmpi-4.1`: only algorithms that it
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

    @model_validator(mode="after")
    def _check_names(self) -> Search:
        topologies = [t.family if isinstance(t, TopologyChoice) else t for t in self.topology or ()]
        wrong = [
            *_wrong_choices("topology", topologies, (*FAMILIES, GIVEN)),
            *_wrong_choices("ordering", self.ordering, tuple(ORDERINGS)),
            *_wrong_choices("mapping", [m.mapper for m in self.mappers], MAPPINGS),
            *_wrong_choices("mpi", self.mpi, (*SELECTORS, DEFAULT)),
        ]
        for name, algorithms in self.collectives.items():
            wrong += _wrong_algorithms(name, algorithms)
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


def _wrong_algorithms(collective: str, chosen: list[str]) -> list[tuple[str, str]]:
    field = f"collectives.{collective}"
    if collective not in COLLECTIVES:
        allowed = ", ".join(COLLECTIVES)
        hint = nearest(collective, COLLECTIVES)
        return [(field, f"unknown collective; allowed: {allowed}{hint}")]
    catalogue = COLLECTIVES[collective].algorithms
    withheld = {name: a.withheld for name, a in catalogue.items() if not a.offered}
    return [
        (field, f"algorithm '{name}' is not offered: it {withheld[name]}")
        for name in chosen
        if name in withheld
    ] + _wrong_choices(
        field,
        [name for name in chosen if name not in withheld],
        (ALL, DEFAULT, *_offered(collective)),
        what="algorithm",
    )


def _wrong_choices(
    field: str, chosen: list[str], allowed: tuple[str, ...], *, what: str | None = None
) -> list[tuple[str, str]]:
    """What is wrong with a list of names, as (field, message)."""
    unknown = [
        (
            field,
            f"unknown {what or field} '{name}'; allowed: {', '.join(allowed)}"
            + nearest(name, allowed),
        )
        for name in chosen
        if name not in allowed
    ]
    twice = dict.fromkeys(name for i, name in enumerate(chosen) if name in chosen[:i])
    return unknown + [(field, f"'{name}' is listed twice") for name in twice if name in allowed]


class Budget(Description):
    """When to stop, whichever comes first. The job also ends when its space is exhausted."""

    trials: int | None = Field(default=None, gt=0)
    """Search trials; the baselines come on top."""
    evaluations: int | None = Field(default=None, gt=0)
    """Trials really simulated, baselines included."""
    wall_seconds: Seconds | None = None
    """Seconds of the clock under a coordinator."""
    cpu_seconds: Seconds | None = None
    """CPU seconds of the simulator."""
    target: Seconds | None = None
    """A simulated time that is good enough."""
    patience: int | None = Field(default=None, gt=0)
    """Search trials in a row without a new best."""
    until: Part | None = None
    """A part of the best time: the search ends once its model gives a probability of less than one
    in twenty that any configuration not tried yet is faster by more than that. Of a space of more
    than 6,000 configurations the model looks at a sample. Needs the technique Surrogate, which is
    the default, and a `cutoff_factor` above 1 or none."""

    @model_validator(mode="after")
    def _check_some_limit(self) -> Budget:
        limits = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if not limits:
            allowed = ", ".join(type(self).model_fields)
            raise field_error(f"must set at least one of: {allowed}")
        return self


class Limits(Description):
    """What one evaluation may take; past it, the trial has failed."""

    memory: Bytes = 4 * 2**30
    """Bytes of memory."""
    wall_seconds: Seconds = 600.0
    """Seconds of the clock."""


class JobSpec(Description):
    """A tuning job.

    Example:
        >>> from searchspace.job import load_job
        >>> spec = load_job('''
        ... name: cg-16
        ... application: {builtin: cg, class: S, ranks: 16}
        ... machine: {nodes: 16, degree: 4, host_speed: 100Gf, link_bandwidth: 40Gbps}
        ... search: {topology: [random, torus-2d], ordering: [original, hamorder]}
        ... budget: {trials: 20}
        ... ''')
        >>> spec.budget.trials
        20
    """

    name: str = Field(min_length=1, max_length=200)
    """A name for people."""
    application: Application
    """What runs: `{builtin: cg, class: A, ranks: 64}`, `{trace: t.ht}`, `{source: solver/, build:
    make, run: bin/solve 100, ranks: 64}`, `{pattern: all-to-all, ranks: 64, size: 64kB, count: 100,
    rate: 50}`, or `{id: ...}`; or several at once: `{applications:
    [{name: ..., application: ..., start: 0s, weight: 1}], objective: max}`, which may also stand in
    the job file itself, without `application` around it."""
    machine: Annotated[
        Annotated[Machine, Tag("<machine>")] | Annotated[Reference, Tag("<id>")],
        Discriminator(_machine_kind),
    ]
    """Where it runs: a machine description, or `{id: ...}`."""
    search: Search
    """What to choose from."""
    budget: Budget
    """When to stop."""
    seed: int = Field(default=0, ge=0, lt=2**31)
    """Decides every random choice of the job."""
    batch: int = Field(default=8, ge=1, le=MOST_IN_FLIGHT)
    """Trials in flight; part of the job, so that its outcome does not depend on the workers."""
    cutoff_factor: float | None = Field(default=1.3, gt=0, allow_inf_nan=False)
    """A simulation stops at this many times the best value so far; null to let all finish. At 1.0
    the search learns next to nothing of what is cut off."""
    fidelity: Literal["full", "auto"] | None = None
    """`full` replays the whole trace for every trial. `auto` searches on a truncated trace, where
    the application has loops that can be cut short, and then verifies the best trials on the whole
    trace. Null is `auto` where the ranks make a million calls and more and there are trials enough
    for that to pay, and `full` elsewhere."""
    refinement: int = Field(default=0, ge=0, le=MOST_REFINEMENT)
    """Trials after the search, in which ranks of the best configuration change places; proposed by
    the most loaded links and what ranks exchange."""
    techniques: list[Annotated[str, Field(min_length=1)]] | None = Field(default=None, min_length=1)
    """Search techniques of OpenTuner; null for those that suit the space."""
    limits: Limits = Limits()
    """What one evaluation may take."""
    finalists: Finalists | None = None
    """Which of the best configurations are measured in the end, such as `{measure: 5, on: agent}`;
    null for none: then simulation decides."""
    priority: Literal["low", "normal", "high"] = "normal"
    """`high` goes before the project's other jobs, and before those of other projects where the
    project may; `low` takes what nobody else wants of the workers."""
    concurrency: int | None = Field(default=None, ge=1, le=MOST_IN_FLIGHT)
    """How many trials are evaluated at once, at most; null for as many as there is room for."""
    on_artifact_failure: Literal["continue", "stop"] = "continue"
    """What happens when a trial fails because a file that it needs is missing or was altered: the
    job goes on, or fails with that reason."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Tells that several applications may stand in the job file itself."""
        schema = super().__get_pydantic_json_schema__(core_schema, handler)
        described = handler.resolve_ref_schema(schema)
        *_, workload = described["properties"]["application"]["oneOf"]
        several = handler.resolve_ref_schema(workload)["properties"]
        described["properties"] |= {name: several[name] for name in Workload.model_fields}
        described["required"] = [n for n in described["required"] if n != "application"]
        described["oneOf"] = [{"required": ["application"]}, {"required": ["applications"]}]
        return schema

    @model_validator(mode="before")
    @classmethod
    def _gather_applications(cls, document: Any) -> Any:
        """Lets several applications and their objective stand in the job file itself."""
        if not isinstance(document, Mapping) or "applications" not in document:
            return document
        if "application" in document:
            raise field_error("stands beside 'application'; give one of the two", "applications")
        outside = ("applications", "objective")
        kept = {name: value for name, value in document.items() if name not in outside}
        workload = {name: document[name] for name in outside if name in document}
        return {**kept, "application": workload}

    @model_validator(mode="before")
    @classmethod
    def _measure_with_target(cls, document: Any) -> Any:
        """Finalists are measured with the library that is searched for, unless they say another."""
        if not isinstance(document, Mapping):
            return document
        search, finalists = document.get("search"), document.get("finalists")
        if not isinstance(search, Mapping) or not isinstance(finalists, Mapping):
            return document
        target = search.get("target")
        if target not in MEASURABLE or "target" in finalists:
            return document
        return {**document, "finalists": {**finalists, "target": target}}

    @field_validator("name")
    @classmethod
    def _check_printable(cls, name: str) -> str:
        if not name.isprintable() or name != name.strip():
            raise ValueError("must be one line of printable text without spaces around it")
        return name

    @model_validator(mode="after")
    def _check_until(self) -> JobSpec:
        if self.budget.until is None:
            return self
        if any(choice.method is None for choice in self.search.mappers):
            message = "a model says little of permutations; leave it out, or search no permutation"
            raise field_error(message, "budget.until")
        if MODEL not in (self.techniques or [MODEL]):
            message = f"needs the technique {MODEL}, whose model tells it; add it to 'techniques'"
            raise field_error(message, "budget.until")
        if self.cutoff_factor is not None and self.cutoff_factor <= 1:
            message = "a model learns next to nothing where cutoff_factor is not above 1"
            raise field_error(message, "budget.until")
        return self

    @model_validator(mode="after")
    def _check_finalists(self) -> JobSpec:
        if self.finalists is None:
            return self
        if isinstance(self.application, Workload):
            message = "several applications at once cannot be measured; leave it out"
            raise field_error(message, "finalists")
        given = self.search.topology in (None, [GIVEN])
        if not given or (isinstance(self.machine, Machine) and self.machine.given_network is None):
            message = "a cluster has one network: give it as machine.topology, and search no others"
            raise field_error(message, "finalists")
        return self

    @property
    def described_machine(self) -> Machine:
        """The machine.

        Raises:
            InvalidInput: The job only refers to one.
        """
        if isinstance(self.machine, Reference):
            raise InvalidInput("a machine description is needed in its place", field="machine.id")
        return self.machine

    def comparison_limits(self, search_seconds: float) -> Limits:
        """What one evaluation with the other network model may take, in the end of the job.

        That is what any evaluation may take, but no longer than a share of the budget of seconds.
        Without such a budget, it is no longer than that share of what the search took, unless that
        is very little.

        Args:
            search_seconds: CPU seconds of the simulator before the first comparison.
        """
        budgets = (self.budget.cpu_seconds, self.budget.wall_seconds)
        shares = [COMPARISON_SHARE * seconds for seconds in budgets if seconds is not None]
        affordable = max(COMPARISON_SECONDS, COMPARISON_SHARE * search_seconds)
        wall_seconds = min(self.limits.wall_seconds, *(shares or [affordable]))
        return self.limits.model_copy(update={"wall_seconds": wall_seconds})

    @property
    def parts(self) -> list[SingleApplication]:
        """The application, or those that run at once."""
        if isinstance(self.application, Workload):
            return [part.application for part in self.application.applications]
        return [self.application]

    @property
    def captures(self) -> list[Capture | Pattern]:
        """All that has a trace of its own: the parts, and what others are extrapolated from."""
        found: list[Capture | Pattern] = []
        for part in self.parts:
            if isinstance(part, ExtrapolatedApplication):
                found += part.extrapolate.captures
            else:
                found.append(part)
        return found

    @property
    def known_worlds(self) -> list[int] | None:
        """The ranks of each application, where the job itself says so."""
        known = (BuiltinApplication, SourceApplication, Pattern, ExtrapolatedApplication)
        ranks = [part.ranks for part in self.parts if isinstance(part, known)]
        return ranks if len(ranks) == len(self.parts) else None

    @property
    def known_ranks(self) -> int | None:
        """The ranks of all applications together, where the job itself says so."""
        return None if self.known_worlds is None else sum(self.known_worlds)

    def canonical(self) -> dict[str, Any]:
        """Returns the job as JSON in one form that `load_job` reads back: every field, SI units.

        The network model is always said, so that it is the same for `load_new_job`.
        """
        document = self.model_dump(mode="json", by_alias=True)
        if isinstance(self.machine, Machine):
            document["machine"] = {**self.machine.canonical(), "network": self.machine.network}
        return document
