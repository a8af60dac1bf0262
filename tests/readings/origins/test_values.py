"""The table of values: everything distinctive has one kind and one spelling, however it is
written."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, strategies as st

from stanchion.readings.origins.values import DistinctValue, is_host, split_link, squash, values

IBAN = "gb29nwbk60161331926819"

SPELLINGS: dict[tuple[str, str], tuple[str, ...]] = {
    ("mail", "anna@example.org"): (
        "anna@example.org", "Anna@Example.org", "<anna@example.org>", "mailto:anna@example.org",
        "(anna@example.org)", "anna@example.org.", "write to 'anna@example.org', please",
        "to=anna@example.org", "anna@example.org;bob", "bob@example.net,anna@example.org",
        '"anna@example.org"', "https://x.example.net/send?to=anna@example.org",
    ),
    ("mail", "a@www.example.org"): ("a@www.example.org",),
    ("host", "evil.example.net"): (
        "evil.example.net", "EVIL.Example.NET", "evil.example.net.", "evil.example.net/",
        "evil.example.net:8443", "www.evil.example.net", "WWW.evil.example.net",
        "Www.evil.example.net/x", "http://evil.example.net", "HTTPS://EVIL.EXAMPLE.NET/A",
        "https://evil.example.net:8443/a?b=c#d", "ftp://evil.example.net/a",
        "http://user:pw@evil.example.net/x", "https://bank.example.org@evil.example.net/",
        "(https://evil.example.net)", "[here](https://evil.example.net/x)",
        "see <https://evil.example.net>", "evil.example.net?x=1", "url=https://evil.example.net/x",
        "https://evil.example.net/?mail=ann@example.org", "hxxp://evil.example.net",
    ),
    ("host", "127.0.0.1"): ("127.0.0.1", "127.0.0.1:80", "http://127.0.0.1:8080/x", "127.0.0.1/x"),
    ("link", "example.org/a/b"): (
        "https://example.org/a/b", "example.org/a/b", "http://www.example.org/a/b/",
        "https://example.org/a/b?c=d", "https://example.org/a/b#c", "https://example.org/%61/b",
        "https://EXAMPLE.org/A/B", "example.org/a/b.", "https://example.org:443/a/b",
    ),
    ("code", IBAN): (
        "GB29NWBK60161331926819", "GB29 NWBK 6016 1331 9268 19", "GB29-NWBK-6016-1331-9268-19",
        IBAN, "IBAN:GB29NWBK60161331926819", "account=GB29NWBK60161331926819.",
        "pay to GB29 NWBK 6016 1331 9268 19 today",
    ),
    ("code", "pt50000201231234567890154"): (("PT50 0002 0123 1234 "
                                            "5678 9015 4"), "PT50000201231234567890154"),
    ("code", "14155550100"): (
        "+14155550100", "+1 415 555 0100", "+1-415-555-0100", "+1.415.555.0100", "1 415 555 0100",
        "14155550100", "tel:+14155550100", "call +1 415 555 0100.",
    ),
    ("code", "inv2024001"): ("INV-2024-001", "inv_2024_001", "inv2024001", "(INV-2024-001)", "id:INV-2024-001"),  # noqa: E501
    ("code", "username"): ("user_name", "USER_NAME", "'user_name'"),
    ("path", "home/ann/notes.txt"): ("/home/ann/notes.txt", "home/ann/notes.txt", "\\home\\ann\\Notes.TXT"),  # noqa: E501
    ("path", "notes.txt"): ("notes.txt", "Notes.TXT", "'notes.txt'", "/home/ann/notes.txt", "C:\\Ann\\notes.txt"),  # noqa: E501
    ("num", "1200"): ("1200", "1,200", "$1,200.00", "1200.0", "€1200", "1200usd", "amount=1200"),
    ("num", "98.7"): ("98.7", "98.70", "$98.70", "98.70€"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("value", "text"),
    [(value, text) for value, texts in SPELLINGS.items() for text in texts],
    ids=str,
)
def test_every_spelling_is_the_same_value(value: tuple[str, str], text: str) -> None:
    assert DistinctValue(*value) in values(text)


@pytest.mark.parametrize(
    "text",
    [
        "hello", "well-known", "e.g.", "i.e.", "etc.", "Mr.Smith", "#general", "@anna",
        "2024-05-15", "15/05/2024", "5pm", "10%", "v1.2.3", "1st", "...", "", "  ", "don't",
        "(sic)", "2024-05-15T10:30:00Z",
    ],
)  # fmt: skip
def test_plain_words_and_dates_are_no_values(text: str) -> None:
    assert values(text) == []


@pytest.mark.parametrize(
    "text", ["http://user:pw@evil.example.net/x", "https://bank.example.org@evil.example.net/"]
)
def test_user_info_is_neither_an_address_nor_the_host(text: str) -> None:
    found = values(text)
    assert {value.text for value in found if value.kind in ("mail", "host")} == {"evil.example.net"}


def test_values_keep_their_order() -> None:
    found = values("Send 50 to anna@example.org, and notes.txt to https://example.org/x.")
    assert [value.kind for value in found] == ["num", "mail", "path", "host", "link"]


@pytest.mark.parametrize(
    "text", ["notes.txt", "README.md", "archive.tar.gz", "Mr.Smith", "1.2", "end.Next", "a b.com"]
)
def test_a_file_or_the_end_of_a_sentence_is_no_host(text: str) -> None:
    assert not is_host(text)


@pytest.mark.parametrize(
    ("link", "host", "path"),
    [
        ("https://www.Example.org:8080/A/?q=1#x", "example.org", "a"),
        ("example.org", "example.org", ""),
        ("https://a.b@example.org?x", "example.org", ""),
        ("http://example.org./x", "example.org", "x"),
        ("", "", ""),
    ],
)
def test_a_link_is_split(link: str, host: str, path: str) -> None:
    assert split_link(link) == (host, path)


LABELS = st.text(string.ascii_lowercase, min_size=2, max_size=12)
HOSTS = st.builds("{}.{}.example.org".format, LABELS, LABELS)


@given(
    HOSTS,
    st.sampled_from(["", "http://", "https://", "HTTPS://"]),
    st.sampled_from(["", "/", ":80", "/a/b", "?q=1", "/a?b#c"]),
)
def test_a_host_is_the_same_behind_any_scheme_and_before_anything(
    host: str, scheme: str, rest: str
) -> None:
    assert DistinctValue("host", host) in values(f"go to {scheme}{host}{rest} now")
    assert DistinctValue("host", host) in values(f"{scheme}{host.upper()}{rest}")


@given(
    st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=12, max_size=24),
    st.integers(10, 99),
    st.sampled_from(["", " ", "-"]),
)
def test_an_account_number_is_the_same_in_groups_of_four(
    tail: str, check: int, between: str
) -> None:
    whole = f"DE{check}{tail[: len(tail) // 4 * 4]}"
    grouped = between.join([whole[at : at + 4] for at in range(0, len(whole), 4)])
    assert DistinctValue("code", whole.lower()) in values(f"to {grouped}.")


@given(st.text(max_size=200))
def test_any_text_has_values_of_known_kinds_in_one_spelling(text: str) -> None:
    for kind, spelt in values(text):
        assert kind in ("mail", "host", "link", "path", "code", "num")
        assert spelt == spelt.lower()
        assert spelt


@given(st.text(max_size=80))
def test_squashing_twice_is_squashing_once(text: str) -> None:
    assert squash(squash(text)) == squash(text)
    assert not any(char.isspace() or char in "._-/" for char in squash(text))
