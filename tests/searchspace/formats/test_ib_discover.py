"""Which host an adapter is of, and the GUIDs of its ports."""

from __future__ import annotations

import pytest

from searchspace.errors import InvalidInput
from searchspace.formats.ib_discover import (
    Guids,
    prevailing_rates,
    read_ib_discover,
    read_ib_guids,
    read_ib_ports,
    read_ib_rates,
)

UNSET = "MT4119 ConnectX5 Mellanox Technologies"


def fabric(*descriptions: str, called: dict[int, str] | None = None) -> str:
    """Two leaves, a spine, and one adapter for each description, on the leaves in turn.

    Args:
        descriptions: Of the adapters.
        called: What the leaf's line calls an adapter, by its number, where a map renames it.
    """
    names = dict(enumerate(descriptions)) | (called or {})
    lines = []
    for leaf in (0, 1):
        lines += [f"switchguid=0x5{leaf}(5{leaf})", f'Switch 36 "S-5{leaf}" # "leaf-{leaf}"']
        lines += [
            f'[{number + 1}] "H-a{number}"[1](a{number}1) # "{names[number]}" lid 9 4xHDR'
            for number in range(leaf, len(descriptions), 2)
        ]
        lines.append(f'[36] "S-52"[{leaf + 1}] # "spine" lid 9 4xHDR')
    lines += ["switchguid=0x52(52)", 'Switch 36 "S-52" # "spine"']
    lines += [f'[{leaf + 1}] "S-5{leaf}"[36] # "leaf-{leaf}" lid 9 4xHDR' for leaf in (0, 1)]
    for number, description in enumerate(descriptions):
        leaf = number % 2
        lines += [
            f"caguid=0xa{number}",
            f'Ca 1 "H-a{number}" # "{description}"',
            f'[1](a{number}1) "S-5{leaf}"[{number + 1}] # lid 9 lmc 0 "leaf-{leaf}" lid 9 4xHDR',
        ]
    return "\n".join(lines) + "\n"


def test_aggregation_nodes_of_switches_are_no_hosts() -> None:
    node = "Mellanox Technologies Aggregation Node"
    text = fabric("n01 mlx5_0", "n02 mlx5_0", node, node)
    slow = text.replace(f'"{node}" lid 9 4xHDR', f'"{node}" lid 9 4xEDR')

    plain = read_ib_discover(fabric("n01 mlx5_0", "n02 mlx5_0"))
    assert read_ib_discover(text) == plain
    assert set(read_ib_guids(text)) == set(plain.names)
    assert len(read_ib_ports(text)) == 4
    assert {str(rate): count for rate, count in read_ib_rates(slow)[0].items()} == {"4xHDR": 2}
    assert "host_link_bandwidth" not in prevailing_rates(slow)


@pytest.mark.parametrize(
    ("descriptions", "shown"),
    [
        (("n01 mlx5_0", UNSET), f": H-a1 is '{UNSET}'; run"),
        ((UNSET, UNSET, "n01 mlx5_0"), f": H-a0 is '{UNSET}', H-a1 is '{UNSET}'; run"),
        (("localhost mlx5_0",) * 5, ": H-a0 is 'localhost mlx5_0', H-a1 is .* and 3 more; run"),
        (("n01 mlx5_0", "localhost.localdomain mlx5_0"), "H-a1 is 'localhost.localdomain mlx5_0'"),
        (("compute mlx5_0", "compute mlx5_0"), ": H-a0 is 'compute mlx5_0', H-a1"),
        (("compute", "compute", "n01 HCA-1"), ": H-a0 is 'compute', H-a1 is 'compute'; run"),
        (("Sun Fire", "Sun Blade"), ": H-a0 is 'Sun Fire', H-a1 is 'Sun Blade'; run"),
    ],
)
def test_adapters_that_tell_no_host_of_their_own_are_refused(
    descriptions: tuple[str, ...], shown: str
) -> None:
    text = fabric(*descriptions)

    for read in (read_ib_discover, read_ib_guids, read_ib_ports):
        with pytest.raises(InvalidInput, match=shown) as refused:
            read(text)
        assert "run ibnetdiscover --node-name-map FILE" in refused.value.message
        assert "\n" not in refused.value.message


def test_a_map_of_names_tells_the_hosts_that_descriptions_do_not() -> None:
    """`ibnetdiscover --node-name-map` writes its names at the other end of the cable."""
    text = fabric("n01 mlx5_0", UNSET, UNSET, called={1: "n02 HCA-1", 2: "n02 HCA-2"})

    assert read_ib_discover(text).host_names == ("n01", "n02")
    assert read_ib_guids(text)["n02"] == Guids(0xA1, (0xA11, 0xA21))


def test_a_description_that_tells_a_host_counts_more_than_a_map() -> None:
    text = fabric("n01 mlx5_0", "n02 mlx5_0", called={1: "storage"})

    assert read_ib_discover(text).host_names == ("n01", "n02")


@pytest.mark.parametrize(
    "adapters", [("HCA-1", "HCA-2"), ("mlx5_0", "mlx5_1"), ("ibp65s0", "ibp129s0")]
)
def test_adapters_of_one_host_are_told_apart_by_the_rest(adapters: tuple[str, str]) -> None:
    found = read_ib_discover(fabric(*(f"n01 {adapter}" for adapter in adapters), "MT01 HCA-1"))

    assert found.host_names == ("n01", "MT01")


def test_all_ports_of_a_host_have_their_guids() -> None:
    second = '[2](a02) "S-51"[9] # lid 9 lmc 0 "leaf-1" lid 9 4xHDR\n'
    text = fabric("n01 HCA-1", "n01 HCA-2", "n02 HCA-1")
    text = text.replace("caguid=0xa1\n", f"{second}caguid=0xa1\n")

    assert read_ib_guids(text) == {
        "leaf-0": Guids(0x50, (0x50,)),
        "leaf-1": Guids(0x51, (0x51,)),
        "spine": Guids(0x52, (0x52,)),
        "n01": Guids(0xA0, (0xA01, 0xA02, 0xA11)),
        "n02": Guids(0xA2, (0xA21,)),
    }


def test_a_comment_of_many_signs_is_passed_over() -> None:
    """Looking for a description from each of them took days."""
    text = fabric("n01 mlx5_0", "n02 mlx5_0")
    line = next(line for line in text.splitlines() if line.startswith('[1] "H-a0"'))
    long = text.replace(line, f"{line.partition('#')[0]}{'#' * 4_000_000}")
    called = text.replace(line, line.replace("#", "###"))

    assert read_ib_discover(long) == read_ib_discover(called) == read_ib_discover(text)


def test_rates_and_ports_of_thousands_of_digits_make_no_number() -> None:
    text = fabric("n01 mlx5_0", "n02 mlx5_0")

    of_hosts, _ = read_ib_rates(text.replace(" 4xHDR", f" {'4' * 6000}xHDR"))
    assert not of_hosts
    with pytest.raises(InvalidInput, match="line 3 is not known"):
        read_ib_ports(text.replace("[1]", f"[{'1' * 6000}]", 1))
