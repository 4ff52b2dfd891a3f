"""What job files may choose from, for programs that help to write them."""

from __future__ import annotations

from functools import cache
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from searchspace.builtins import BUILTINS, MORE_CLASSES, PARAMETERS, Builtin
from searchspace.collectives import COLLECTIVES, DEFAULT, SELECTORS
from searchspace.collectives.equivalents import TARGETS
from searchspace.collectives.tables import imitated
from searchspace.errors import InvalidInput
from searchspace.mapping import MAPPERS
from searchspace.ordering import ORDERINGS
from searchspace.parts import Parts
from searchspace.topology import FAMILIES
from service.auth.access import needs
from service.dependencies import SettingsDependency
from service.exports.registry import EXPORTERS
from service.jobs.schemas import SPEC_EXAMPLE
from service.machines.files import LARGEST_XML
from service.machines.uploads import MAX_FILES
from service.openapi import answers
from service.tables.files import FILES

__all__ = ["router"]

router = APIRouter(prefix="/catalogue", tags=["service"])


class Named(BaseModel):
    """Something to choose."""

    name: str
    description: str = Field(description="One line for people.")


class ProgramField(BaseModel):
    """A parameter of a built-in program."""

    name: str
    description: str = Field(description="One line for people.")
    required: bool
    default: str | int | None
    choices: list[str] | None = Field(description="All values, where they are names.")


class Program(Named):
    """A built-in program."""

    fields: list[ProgramField] = Field(description="Its parameters, beside `ranks`.")


class Topology(Named):
    """A family of networks."""

    uses_degree: bool = Field(description="Whether the machine's degree decides the network.")
    uses_seed: bool = Field(description="Whether there are many of the same size.")
    uses_traffic: bool = Field(
        description="Whether it is made for what the application's ranks exchange."
    )
    indirect: bool = Field(description="Whether hosts are plugged into switches of their own.")


class Mapping(Named):
    """A method that places ranks."""

    uses_traffic: bool = Field(description="Whether it looks at what ranks exchange.")


class Collective(Named):
    """A collective operation."""

    algorithms: list[Named]


class TargetLibrary(Named):
    """An MPI library that a configuration can be exported to."""

    format: str = Field(description="The export format that writes its files.")


class SizeLimits(BaseModel):
    """Bytes of the largest files that the service takes."""

    job_file: int
    program: int = Field(description="Of a trace, or of an archive of sources.")
    machine: int = Field(description="Of the files of a machine, together.")
    xml: int = Field(description="Of one of these, where it is XML.")


class Catalogue(BaseModel):
    """All names that a job file may use, with what they stand for."""

    programs: list[Program]
    topologies: list[Topology]
    orderings: list[Named]
    mappings: list[Mapping]
    mpi: list[Named]
    collectives: list[Collective]
    exports: list[Named] = Field(description="Formats of `/jobs/{job_id}/exports/{format_name}`.")
    targets: list[TargetLibrary] = Field(description="What `target` of an export may be.")
    tables: list[Named] = Field(description="Formats of `/jobs/{job_id}/table/{format_name}`.")
    parts: Parts = Field(description="What networks are built of where a machine says nothing.")
    limits: SizeLimits
    example: dict[str, Any] = Field(description="A job file to begin with.")


_EXAMPLE: dict[str, Any] = {
    "programs": [
        {
            "name": "cg",
            "description": "NPB CG: conjugate gradient",
            "fields": [
                {
                    "name": "class",
                    "description": "size of the problem, S the smallest",
                    "required": True,
                    "default": None,
                    "choices": ["S", "W"],
                }
            ],
        }
    ],
    "topologies": [
        {
            "name": "torus-3d",
            "description": "three-dimensional torus",
            "uses_degree": False,
            "uses_seed": False,
            "uses_traffic": False,
            "indirect": False,
        }
    ],
    "orderings": [{"name": "original", "description": "as the network is numbered"}],
    "mappings": [{"name": "by-order", "description": "rank r on core r", "uses_traffic": False}],
    "mpi": [{"name": "openmpi-4.1", "description": imitated("openmpi-4.1")}],
    "collectives": [
        {
            "name": "allreduce",
            "description": "MPI_Allreduce",
            "algorithms": [{"name": "rdb", "description": "recursive doubling"}],
        }
    ],
    "exports": [{"name": "json", "description": "one JSON file"}],
    "targets": [{"name": "openmpi-4.1", "description": "Open MPI 4.1", "format": "openmpi"}],
    "tables": [{"name": "csv", "description": "a row for each trial"}],
    "parts": {"switches": [{"radix": 8, "price": 2000, "watts": 40}]},
    "limits": {
        "job_file": 1048576,
        "program": 536870912,
        "machine": 16777216,
        "xml": 4194304,
    },
    "example": SPEC_EXAMPLE,
}


@router.get(
    "",
    dependencies=[needs("service", "read")],
    operation_id="get_catalogue",
    summary="Show what there is to choose from",
    response_model=Catalogue,
    responses=answers(_EXAMPLE, description="Names with what they stand for."),
)
def get_catalogue(settings: SettingsDependency) -> Catalogue:
    """Programs, networks, orderings, mappings, MPI implementations, collectives, file formats."""
    return _catalogue(settings.body_limit, settings.upload_limit)


@cache
def _catalogue(body_limit: int, upload_limit: int) -> Catalogue:
    return Catalogue(
        programs=[_program(program) for program in BUILTINS.values() if not program.files],
        topologies=[
            Topology(
                name=family.name,
                description=family.description,
                uses_degree=family.uses_degree,
                uses_seed=family.uses_seed,
                uses_traffic=family.uses_traffic,
                indirect=family.indirect,
            )
            for family in FAMILIES.values()
        ],
        orderings=[Named(name=o.name, description=o.description) for o in ORDERINGS.values()],
        mappings=[
            Mapping(name=m.name, description=m.description, uses_traffic=m.uses_traffic)
            for m in MAPPERS.values()
        ],
        mpi=[Named(name=name, description=imitated(name)) for name in (DEFAULT, *SELECTORS)],
        collectives=[
            Collective(
                name=one.name,
                description=one.description,
                algorithms=[Named(name=a.name, description=a.description) for a in one.offered],
            )
            for one in COLLECTIVES.values()
        ],
        exports=[Named(name=e.name, description=e.description) for e in EXPORTERS.values()],
        targets=[
            TargetLibrary(name=t.name, description=t.title, format=t.format)
            for t in TARGETS.values()
        ],
        tables=[Named(name=name, description=f.description) for name, f in FILES.items()],
        parts=Parts(),
        limits=SizeLimits(
            job_file=body_limit,
            program=upload_limit,
            machine=min(MAX_FILES, upload_limit),
            xml=min(LARGEST_XML, upload_limit),
        ),
        example=SPEC_EXAMPLE,
    )


def _program(program: Builtin) -> Program:
    """A program with its parameters, as its own reader of parameters accepts them."""
    for name, known in (("class", MORE_CLASSES), ("operation", tuple(COLLECTIVES))):
        choices = [value for value in known if _read(program, {name: value}) is not None]
        if choices and _read(program, {}) is None:
            rest = _read(program, {name: choices[0]}) or {}
            required = ProgramField(
                name=name,
                description=PARAMETERS[name],
                required=True,
                default=None,
                choices=choices,
            )
            return _described(program, [required, *_optional(rest, name)])
    return _described(program, _optional(_read(program, {}) or {}, ""))


def _described(program: Builtin, fields: list[ProgramField]) -> Program:
    return Program(name=program.name, description=program.description, fields=fields)


def _optional(parameters: dict[str, str | int], known: str) -> list[ProgramField]:
    return [
        ProgramField(
            name=name,
            description=PARAMETERS[name],
            required=False,
            default=value,
            choices=None,
        )
        for name, value in parameters.items()
        if name != known
    ]


def _read(program: Builtin, parameters: dict[str, Any]) -> dict[str, str | int] | None:
    try:
        return program.read_parameters(parameters)
    except InvalidInput:
        return None
