"""Platforms of little text that would take much memory or time."""

from __future__ import annotations

import pytest

from searchspace.errors import InvalidInput
from searchspace.formats.simgrid_platform import read_simgrid

_HEAD = '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'


def cluster(attributes: str) -> str:
    return f'{_HEAD}<platform version="4.1"><cluster id="c" {attributes}/></platform>'


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        (f'prefix="{"p" * 1_000_000}" radical="0-9999"', "more than 253 characters; make its pre"),
        (f'suffix="{"s" * 250}" radical="0-9999"', "more than 253 characters; make its prefix"),
        ('prefix="p" radical="0-99999"', "stands for more than 65536 names"),
    ],
)
def test_names_that_would_take_gigabytes_are_refused(attributes: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_simgrid(cluster(attributes))


@pytest.mark.parametrize("number", ["1", "999999"])
@pytest.mark.parametrize("parameters", ["{}", "9;{};1;1", "1;1;{};1"])
def test_lists_of_very_many_numbers_are_refused(number: str, parameters: str) -> None:
    kind = "FAT_TREE" if ";" in parameters else "TORUS"
    many = parameters.format(",".join([number] * 1000))
    with pytest.raises(InvalidInput, match="is a list of 1000 numbers; at most 32 are read"):
        read_simgrid(
            cluster(f'prefix="n" radical="0-1" topology="{kind}" topo_parameters="{many}"')
        )


def test_many_routes_between_many_hosts_are_read() -> None:
    """Looking at all hosts for each route took time by the product of both."""
    hosts = "".join(f'<host id="h{number}" speed="1Gf"/>' for number in range(20_000))
    route = '<route src="h0" dst="h1"><link_ctn id="l"/></route>' * 20_000
    zone = f'<zone id="z" routing="Full">{hosts}<link id="l"/>{route}</zone>'
    with pytest.raises(InvalidInput, match="h2 has no cable"):
        read_simgrid(f"{_HEAD}<platform>{zone}</platform>")
