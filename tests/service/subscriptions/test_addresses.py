"""What users may have the service connect to, and what not."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from searchspace.errors import InvalidInput
from service.subscriptions.addresses import Allowed, NotAllowed, is_public, resolve


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1",
        "169.254.169.254", "192.0.0.192", "198.18.0.1", "203.0.113.1", "224.0.0.1", "240.0.0.1",
        "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::7f00:1",
        "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1", "2002:7f00:1::", "2001::1", "2001:db8::1", "100::1",
    ],
)  # fmt: skip
def test_addresses_inside_are_not_public(text: str) -> None:
    assert not is_public(ip_address(text))


@pytest.mark.parametrize(
    "text", ["8.8.8.8", "93.184.215.14", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_addresses_of_the_internet_are(text: str) -> None:
    assert is_public(ip_address(text))


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "127.1", "2130706433", "0x7f000001", "::1", "0"]
)
def test_a_name_that_resolves_to_loopback_is_refused(host: str) -> None:
    with pytest.raises(NotAllowed, match="no public address"):
        list(resolve(host, 80, Allowed()))


def test_the_operator_allows_hosts_and_networks() -> None:
    allowed = Allowed.parse("localhost, 10.1.0.0/16, 192.168.1.7, fd00::/8", field="F")
    assert allowed.names("LOCALHOST")
    assert allowed.names("10.1.9.9")
    assert not allowed.names("10.2.0.1")
    assert allowed.admits("localhost", ip_address("127.0.0.1"))
    assert allowed.admits("any.example", ip_address("192.168.1.7"))
    assert allowed.admits("any.example", ip_address("::ffff:10.1.0.1"))
    assert allowed.admits("any.example", ip_address("fd00::1"))
    assert not allowed.admits("any.example", ip_address("127.0.0.1"))
    assert [where for _, where in resolve("127.0.0.1", 80, Allowed.parse("127.0.0.0/8", field="F"))]


@pytest.mark.parametrize("text", ["10.1.2.3/16", "a b", "http://x", "10.0.0.0/33"])
def test_what_is_no_host_and_no_network_is_named(text: str) -> None:
    with pytest.raises(InvalidInput, match="HAMTUNE_NOTIFY_ALLOW: "):
        Allowed.parse(text, field="HAMTUNE_NOTIFY_ALLOW")
