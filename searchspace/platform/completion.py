"""The one form of a configuration on a machine: without what goes without saying."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from searchspace.collectives import COLLECTIVES
from searchspace.collectives.by_size import PARAMETER, canonical, parsed
from searchspace.configuration import DEFAULTS, Configuration
from searchspace.errors import InvalidInput
from searchspace.machine import Machine
from searchspace.mapping import MAPPERS
from searchspace.mapping.permutation import PERMUTATION, read_permutation
from searchspace.platform.names import GIVEN, MAPPER_OPTIONS
from searchspace.topology import DEGREE, FAMILIES, read_options
from searchspace.transport import PROTOCOL, SETTINGS, changed_settings

__all__ = ["complete", "family_options", "mapper_options"]

_NAMES = (
    "topology",
    "topology_seed",
    "ordering",
    "mapping",
    "mapping_seed",
    PERMUTATION,
    "mpi",
)


def complete(configuration: Configuration, machine: Machine) -> Configuration:
    """Adds what a configuration leaves to defaults and drops what does not count.

    Two configurations that mean the same run have the same complete form. Settings of the transport
    do not count where the fluid model evaluates, nor where they are the machine's own.

    Raises:
        InvalidInput: It has an unknown parameter, or names no topology and the machine has none.
    """
    values: dict[str, Any] = dict(configuration)
    for name in values:
        _check_known(name)
    if "topology" not in values:
        if machine.given_network is None:
            raise InvalidInput(f"is required; allowed: {', '.join(FAMILIES)}", field="topology")
        values["topology"] = GIVEN
    values = DEFAULTS | values
    _drop_seeds(values)
    written = values.pop(PERMUTATION, None)
    if values["mapping"] == PERMUTATION:
        values[PERMUTATION] = read_permutation(written, machine.nodes, machine.cores_per_host)
    values = _with_family_options(values, machine)
    values = _with_mapper_options(values)
    algorithms = canonical(values)
    values = {name: value for name, value in values.items() if not name.startswith(PARAMETER)}
    values |= algorithms
    settings = changed_settings(values, machine)
    values = {name: value for name, value in values.items() if not name.startswith(PROTOCOL)}
    values |= {PROTOCOL + name: value for name, value in settings.items()}
    return Configuration(values)


def _check_known(name: str) -> None:
    known_one = parsed(name) is not None or name in _NAMES
    known_one = known_one or _owner(name) in MAPPERS or name.startswith(PROTOCOL)
    if known_one or name.partition(".")[0] in FAMILIES:
        return
    known = (
        *_NAMES,
        "FAMILY.PARAMETER",
        f"{MAPPER_OPTIONS}MAPPER.OPTION",
        *(PARAMETER + c for c in COLLECTIVES),
        f"{PARAMETER}COLLECTIVE@BYTES",
        *(PROTOCOL + s for s in SETTINGS),
    )
    raise InvalidInput(f"unknown parameter; allowed: {', '.join(known)}", field=name)


def _drop_seeds(values: dict[str, Any]) -> None:
    """Drops seeds of what is not random."""
    family = FAMILIES.get(str(values["topology"]))
    if family is None or not family.uses_seed:
        del values["topology_seed"]
    mapper = MAPPERS.get(str(values["mapping"]))
    if mapper is None or not mapper.uses_seed:
        del values["mapping_seed"]


def _with_family_options(values: Mapping[str, Any], machine: Machine) -> dict[str, Any]:
    """With the parameters of the chosen family in their one form, and those of no other."""
    kept = {name: v for name, v in values.items() if name.partition(".")[0] not in FAMILIES}
    family = str(values["topology"])
    if family not in FAMILIES:
        return kept
    read = _read_options(family, family_options(values), machine)
    return kept | {f"{family}.{option}": value for option, value in read.items()}


def _with_mapper_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """With the options of the chosen mapper in their one form, and those of no other."""
    kept = {name: value for name, value in values.items() if _owner(name) is None}
    prefix = f"{MAPPER_OPTIONS}{values['mapping']}."
    return kept | {prefix + option: value for option, value in mapper_options(values).items()}


def _owner(name: str) -> str | None:
    """The mapper whose option a parameter is, if it is one."""
    if not name.startswith(MAPPER_OPTIONS):
        return None
    return name.removeprefix(MAPPER_OPTIONS).partition(".")[0]


def mapper_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the chosen mapper among the values of a configuration, in their one form."""
    mapping = str(values["mapping"])
    prefix = f"{MAPPER_OPTIONS}{mapping}."
    if mapping not in MAPPERS:
        return {}
    given = {n.removeprefix(prefix): v for n, v in values.items() if n.startswith(prefix)}
    try:
        return dict(MAPPERS[mapping].read(given))
    except InvalidInput as error:
        raise InvalidInput(error.message, field=f"{prefix}{error.field}") from None


def family_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the chosen family among the values of a configuration."""
    prefix = f"{values['topology']}."
    return {n.removeprefix(prefix): v for n, v in values.items() if n.startswith(prefix)}


def _read_options(family: str, options: Mapping[str, Any], machine: Machine) -> dict[str, Any]:
    """Brings the parameters of a family into their one form, its degree among them.

    A degree that is the machine's own goes without saying.
    """
    given = dict(options)
    own = given.pop(DEGREE.name, None) if FAMILIES[family].uses_degree else None
    try:
        read = dict(read_options(family, given))
        if own is not None and DEGREE.read(own) != machine.random_degree:
            read[DEGREE.name] = DEGREE.read(own)
    except InvalidInput as error:
        raise InvalidInput(error.message, field=f"{family}.{error.field}") from None
    return read
