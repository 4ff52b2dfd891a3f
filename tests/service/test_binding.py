import pytest

from searchspace.errors import InvalidInput
from service.binding import check_host


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "2001:db8::1"])
def test_addresses_that_others_can_reach_are_refused(host: str) -> None:
    with pytest.raises(InvalidInput, match="runs without authentication") as caught:
        check_host(host)
    assert caught.value.field == "host"


def test_an_unknown_host_is_refused() -> None:
    with pytest.raises(InvalidInput, match="is not an address of this machine"):
        check_host("no such host")


def test_no_host_means_every_address_and_is_refused() -> None:
    with pytest.raises(InvalidInput, match="without authentication"):
        check_host("")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.9", "localhost", "::1"])
def test_loopback_is_accepted(host: str) -> None:
    check_host(host)


def test_with_authentication_any_address_is_accepted() -> None:
    check_host("0.0.0.0", authenticates=True)
    with pytest.raises(InvalidInput, match="is not an address of this machine"):
        check_host("no such host", authenticates=True)
