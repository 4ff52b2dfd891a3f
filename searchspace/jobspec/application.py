"""`application`: what runs, alone, extrapolated, or several at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag, WithJsonSchema, model_validator

from searchspace import builtins
from searchspace.errors import InvalidDocument, InvalidInput
from searchspace.formats.patterns import Pattern
from searchspace.jobspec.quantities import Delay
from searchspace.jobspec.reference import Reference
from searchspace.machine import Speed
from searchspace.validation import Description, check, field_error

__all__ = [
    "Application",
    "BuiltinApplication",
    "Capture",
    "ExtrapolatedApplication",
    "SingleApplication",
    "SourceApplication",
    "TraceApplication",
    "Workload",
    "WorkloadPart",
    "check_application",
]

MOST_APPLICATIONS = 64
MOST_COMMAND = 4_096
MOST_CAPTURES = 25
MOST_RANKS = 65_536

_PLAIN = r"^[^\x00]*$"
"""Without the character that ends words of commands, and that PostgreSQL cannot look for."""


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
    build: str = Field(min_length=1, max_length=MOST_COMMAND, pattern=_PLAIN)
    """Shell command that builds it, at the root of the tree: `make CLASS=S`. The compilers `mpicc`,
    `mpicxx`, `mpif77`, `mpif90` and `mpifort` on the path record what programs do."""
    run: str = Field(min_length=1, max_length=MOST_COMMAND, pattern=_PLAIN)
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
