"""E-mail through a real mail server: one receiver, no header of anybody else's."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from searchspace.errors import InvalidInput
from service.subscriptions import mail
from service.subscriptions.mail import check_address, compose, send
from service.subscriptions.settings import MailServer, NotifySettings
from tests.service.subscriptions.receivers import Mailbox, mailbox


def server(port: int, scheme: str = "smtp+plain", host: str = "127.0.0.1") -> MailServer:
    settings = NotifySettings.from_environment(
        {
            "HAMTUNE_SMTP_URL": f"{scheme}://{host}:{port}",
            "HAMTUNE_MAIL_FROM": "hamtune@example.org",
        }
    )
    assert settings.mail is not None
    return settings.mail


def test_a_mail_arrives(post_office: Mailbox) -> None:
    here = server(post_office.port)
    answer = send(
        here, "ada@example.org", "0k3v", "Hamtune: cg is completed", "Best: 1 s\n.\nend\n"
    )
    assert answer == (True, "the mail server took it", False)
    ((to, got),) = post_office.mails
    assert to == ["ada@example.org"]
    assert got["From"] == "hamtune@example.org"
    assert got["Subject"] == "Hamtune: cg is completed"
    assert got["Message-ID"] == "<0k3v@example.org>"
    assert got["Auto-Submitted"] == "auto-generated"
    assert "Best: 1 s\n.\nend" in str(got.get_payload()).replace("\r\n", "\n")


def test_a_subject_begins_no_header(post_office: Mailbox) -> None:
    here = server(post_office.port)
    evil = "cg\r\nBcc: eve@example.org\n\nBuy this"
    assert send(here, "ada@example.org", "0k3v", evil, "text").ok
    ((to, got),) = post_office.mails
    assert to == ["ada@example.org"]
    assert got["Bcc"] is None
    assert got["Subject"] == "cg  Bcc: eve@example.org  Buy this"


@pytest.mark.parametrize(
    "evil",
    [
        "=?utf-8?q?=0D=0AReply-To=3A_x=40y.org=0D=0A=0D=0APay_here?=",
        "=?utf-8?b?DQpSZXBseS1UbzogeEB5Lm9yZw0KDQpQYXkgaGVyZQ==?=",
        "==??utf-8?q?=0D=0AReply-To=3A_x=40y.org=0D=0A=0D=0APay_here?=",
        "=\n?utf-8?q?=0D=0AReply-To=3A_x=40y.org=0D=0A=0D=0APay_here?=",
    ],
)
def test_an_encoded_word_begins_no_header_and_no_body(post_office: Mailbox, evil: str) -> None:
    here = server(post_office.port)
    assert send(here, "ada@example.org", "0k3v", f"Hamtune: {evil} is completed", "text").ok
    ((to, got),) = post_office.mails
    assert to == ["ada@example.org"]
    assert got["Reply-To"] is None
    assert str(got.get_payload()).strip() == "text"
    composed = compose(here, "ada@example.org", "0k3v", f"Hamtune: {evil}", "text")
    assert "=?" not in str(composed["Subject"])


def test_what_cannot_be_written_as_a_mail_is_not_tried_again(post_office: Mailbox) -> None:
    here = server(post_office.port)
    answer = send(here, "=?utf-8?q?a=0D=0A=0D=0Aevil?=@corp.org", "1", "s", "t")
    assert answer == (False, "it cannot be written as a mail", True)
    assert send(here, "ada@example.org", "1", "s", "\ud800").final
    assert post_office.mails == []


def test_letters_of_all_languages_arrive(post_office: Mailbox) -> None:
    here = server(post_office.port)
    assert send(here, "ada@example.org", "1", "Hamtune: Jülich — 東京", "Größe\n").ok
    ((_, got),) = post_office.mails
    assert got["Subject"] == "Hamtune: Jülich — 東京"
    assert got.get_content().strip() == "Größe"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "address",
    [
        "ada", "ada@", "@example.org", "ada@example.org, eve@example.org", "Ada <ada@example.org>",
        "ada@example.org\r\nBcc: eve@example.org", "ada@example.org\n", "ada @example.org",
        '"ada\r\n"@example.org', "ada@-example.org", "ada@example..org", "a" * 65 + "@example.org",
        "ada@" + ".".join(["a" * 60] * 5), "ada@exämple.org", "ada@[127.0.0.1]",
        "=?utf-8?q?victim=40evil.org=2C?=@corp.org", "=?utf-8?q?a=0D=0A=0D=0Aevil?=@corp.org",
        "a==?utf-8?q?x?=@corp.org",
    ],
)  # fmt: skip
def test_only_one_plain_address_is_taken(address: str) -> None:
    with pytest.raises(InvalidInput, match="target: use a URL such as"):
        check_address(address, server(25))


@pytest.mark.parametrize("address", ["a=b?c@example.org", "a?=b@example.org", "?=@example.org"])
def test_what_begins_no_encoded_word_is_taken(post_office: Mailbox, address: str) -> None:
    here = server(post_office.port)
    check_address(address, here)
    assert send(here, address, "1", "s", "t").ok
    assert [to for to, _ in post_office.mails] == [[address]]


def test_mail_needs_a_server_and_may_be_kept_to_domains() -> None:
    with pytest.raises(InvalidInput, match="sends no e-mail: its operator has not set"):
        check_address("ada@example.org", None)
    settings = NotifySettings.from_environment(
        {
            "HAMTUNE_SMTP_URL": "smtp://mail",
            "HAMTUNE_MAIL_FROM": "hamtune@example.org",
            "HAMTUNE_MAIL_TO": "example.org, Example.com",
        }
    )
    check_address("ada@EXAMPLE.com", settings.mail)
    with pytest.raises(InvalidInput, match=r"e-mail to example\.org, example\.com only"):
        check_address("ada@other.org", settings.mail)


@pytest.mark.parametrize(("refusal", "final"), [("451 come back", False), ("550 unknown", True)])
def test_what_the_server_refuses_is_told(post_office: Mailbox, refusal: str, final: bool) -> None:
    post_office.refusals = [refusal]
    here = server(post_office.port)
    answer = send(here, "ada@example.org", "1", "s", "t")
    assert answer == (False, f"the mail server refused it: {refusal}", final)


@pytest.mark.parametrize(
    ("verb", "refusal", "final"),
    [
        ("EHLO", "554 no", False),
        ("MAIL", "530 authenticate first", False),
        ("DATA", "451 later", False),
        ("DATA", "554 spam", True),
    ],
)
def test_only_a_receiver_or_a_mail_is_refused_for_good(
    post_office: Mailbox, verb: str, refusal: str, final: bool
) -> None:
    post_office.refused = {verb: refusal, "HELO": refusal}
    answer = send(server(post_office.port), "ada@example.org", "1", "s", "t")
    assert answer == (False, f"the mail server refused it: {refusal}", final)


def test_a_server_that_takes_nothing_now_may_do_so_later(post_office: Mailbox) -> None:
    post_office.greeting = "554 no mail today"
    answer = send(server(post_office.port), "ada@example.org", "1", "s", "t")
    assert answer == (False, "the mail server refused it: 554 no mail today", False)


def test_a_password_that_is_refused_is_the_operators_affair(
    server_context: ssl.SSLContext, trusted: None
) -> None:
    with mailbox(server_context) as secure:
        secure.refused = {"AUTH": "535 wrong password"}
        here = replace(server(secure.port, "smtp", "localhost"), user="me", password="old")
        answer = send(here, "ada@example.org", "1", "s", "t")
        assert answer == (False, "the mail server refused it: 535 wrong password", False)


def test_a_mail_that_was_taken_is_sent_however_the_server_parts(post_office: Mailbox) -> None:
    post_office.refused = {"QUIT": "500 what"}
    assert send(server(post_office.port), "ada@example.org", "1", "s", "t").ok


def test_without_a_server_it_may_be_tried_again(reserve_port: Callable[[], int]) -> None:
    here = server(reserve_port())
    answer = send(here, "ada@example.org", "1", "s", "t")
    assert answer == (False, "no connection to the mail server: connection refused", False)


@pytest.mark.parametrize("drip", [b"220-wait\r\n", b"x", b""])
def test_a_server_that_drips_is_cut_off(drip: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail, "SEND_SECONDS", 0.5)
    gone = threading.Event()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            while not gone.wait(0.05):
                connection.sendall(drip)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        here = server(listener.getsockname()[1])
        answer = send(here, "ada@example.org", "1", "s", "t")
        gone.set()
        thread.join()
    assert answer.said.startswith("the mail server did not answer within")
    assert not answer.final


def test_starttls_is_demanded(post_office: Mailbox) -> None:
    here = server(post_office.port, "smtp")
    answer = send(here, "ada@example.org", "1", "s", "t")
    assert answer.said == "the mail server offers no STARTTLS, or takes no password"
    assert post_office.mails == []


def test_starttls_is_used(server_context: ssl.SSLContext, trusted: None) -> None:
    with mailbox(server_context) as secure:
        here = server(secure.port, "smtp", "localhost")
        assert send(here, "ada@example.org", "1", "s", "t").ok
        assert len(secure.mails) == 1


def test_a_certificate_that_nobody_vouches_for_may_become_right(
    server_context: ssl.SSLContext,
) -> None:
    with mailbox(server_context) as secure:
        answer = send(server(secure.port, "smtp", "localhost"), "ada@example.org", "1", "s", "t")
        assert answer.said.startswith("no TLS connection to the mail server")
        assert not answer.final
        assert secure.mails == []


def test_tls_from_the_start_is_used(server_context: ssl.SSLContext, trusted: None) -> None:
    with mailbox(server_context, tls_at_once=True) as secure:
        here = server(secure.port, "smtps", "localhost")
        assert send(here, "ada@example.org", "1", "s", "t").ok
        assert len(secure.mails) == 1


def test_a_server_of_no_name_may_get_one() -> None:
    answer = send(server(25, host="mail..example"), "ada@example.org", "1", "s", "t")
    assert answer == (
        False, "no connection to the mail server: there is no host of this name", False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("HAMTUNE_SMTP_URL", "http://mail", "this is no URL of a mail server"),
        ("HAMTUNE_SMTP_URL", "smtp://", "this is no URL of a mail server"),
        ("HAMTUNE_SMTP_URL", "smtp://mail:x", "this is no URL of a mail server"),
        ("HAMTUNE_SMTP_URL", "smtp+plain://u:p@mail", "would send the password unencrypted"),
        ("HAMTUNE_MAIL_FROM", "", "is no address"),
        ("HAMTUNE_MAIL_FROM", "a@b\r\nBcc: c@d", "is no address"),
        ("HAMTUNE_NOTIFY_TRIES", "0", "is not a number from 1 to 100"),
        ("HAMTUNE_NOTIFY_RETRY", "never", ""),
        ("HAMTUNE_NOTIFY_RETRY", "0s", "is not a time above zero"),
    ],
)
def test_settings_that_cannot_be_used_are_named(name: str, value: str, why: str) -> None:
    values = {"HAMTUNE_SMTP_URL": "smtp://mail", "HAMTUNE_MAIL_FROM": "hamtune@example.org"}
    with pytest.raises(InvalidInput, match=f"{name}: .*{why}") as caught:
        NotifySettings.from_environment({**values, name: value})
    assert "u:p" not in str(caught.value)


def test_the_password_is_in_no_text() -> None:
    settings = NotifySettings.from_environment(
        {
            "HAMTUNE_SMTP_URL": "smtps://me%40x:s%2Fcret@mail",
            "HAMTUNE_MAIL_FROM": "hamtune@example.org",
        }
    )
    assert settings.mail is not None
    assert (settings.mail.user, settings.mail.password) == ("me@x", "s/cret")
    assert (settings.mail.host, settings.mail.port) == ("mail", 465)
    assert "s/cret" not in repr(settings)
