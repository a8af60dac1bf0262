"""A secret is the same one in another form: encoded, escaped, in pieces, with signs that nobody
sees, and once more."""

from __future__ import annotations

from base64 import b32encode, b64encode, b85encode
from collections.abc import Callable
from gzip import compress
from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion.guards.secrets import Secrets
from stanchion.kernel.events import RunInfo, ToolResult
from stanchion.kernel.patches import apply
from stanchion.readings import read
from stanchion.readings.disguise import escapes
from tests.properties.examples import sample

KEY = "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"
AWS = "AKIA" + "Q3EGRXYZ5ABCD7WQ"


def redacted(content: Any) -> Any:
    """What is left of a result."""
    finding = Secrets().judge(
        read(ToolResult(id="e", at=0, run=RunInfo("r"), tool="t", result=content))
    )
    return content if finding is None else apply(content, finding.patches)


def base64(text: str) -> str:
    return b64encode(text.encode()).decode()


def each(form: str) -> Callable[[str], str]:
    return lambda text: "".join([form.format(ord(char)) for char in text])


FORMS: dict[str, Callable[[str], str]] = {
    "zero width": lambda text: "\u200b".join([text[:9], text[9:20], text[20:]]),
    "soft hyphen": lambda text: text[:12] + "\u00ad" + text[12:],
    "tags": lambda text: text[:12] + "\U000e0041" + text[12:],
    "full width": lambda text: "".join([chr(ord(char) + 0xFEE0) for char in text]),
    "mathematical": lambda text: "".join(
        [chr(0x1D7CE + int(char)) if char.isdigit() else char for char in text]
    ),
    "entities": each("&#{};"),
    "entities, hexadecimal": each("&#x{:x};"),
    "one entity by name": lambda text: (
        text.replace("_", "&lowbar;") if "_" in text else each("&#{};")(text)
    ),
    "JSON escapes": each("\\u{:04x}"),
    "JSON in JSON": each("\\\\u{:04x}"),
    "bytes": each("\\x{:02x}"),
    "octal": each("\\{:03o}"),
    "Rust": each("\\u{{{:x}}}"),
    "hexadecimal": lambda text: text.encode().hex(),
    "a dump": lambda text: text.encode().hex(" "),
    "bytes with colons": lambda text: text.encode().hex(":"),
    "codes": lambda text: str(list(text.encode())),
    "an array in C": lambda text: (
        "{" + ", ".join([f"0x{byte:02x}" for byte in text.encode()]) + "}"
    ),
    "base64": base64,
    "base64 twice": lambda text: base64(base64(text)),
    "base64 of hexadecimal": lambda text: base64(text.encode().hex()),
    "hexadecimal of base64": lambda text: base64(text).encode().hex(),
    "base64 of two bytes a letter": lambda text: b64encode(text.encode("utf-16-le")).decode(),
    "base64 of gzip": lambda text: b64encode(compress(text.encode(), mtime=0)).decode(),
    "struck through": lambda text: "".join([f"{char}\u0336" for char in text]),
    "base32": lambda text: b32encode(text.encode()).decode(),
    "base85, named": lambda text: f"b85decode('{b85encode(text.encode()).decode()}')",
    "percent": each("%{:02x}"),
    "percent twice": each("%25{:02x}"),
    "two lines": lambda text: f"{text[:14]}\n{text[14:]}",
    "three lines, quoted": lambda text: f"> {text[:8]}\n> {text[8:16]}\n> {text[16:]}",
    "a soft line end": lambda text: f"{text[:14]}=\n{text[14:]}",
    "a line that goes on": lambda text: f"{text[:14]}\\\n    {text[14:]}",
    "a sum": lambda text: f"'{text[:14]}' + '{text[14:]}'",
    "a sum in Lua": lambda text: f'"{text[:14]}" .. "{text[14:]}"',
    "texts side by side": lambda text: f'("{text[:14]}"\n    "{text[14:]}")',
    "a builder": lambda text: (
        f'new StringBuilder("{text[:9]}").append("{text[9:14]}").append("{text[14:]}")'
    ),
    "items": lambda text: f"['{text[:7]}', '{text[7:14]}', '{text[14:]}'].join('')",
    "letter by letter": " ".join,
    "with dots": ".".join,
}


@pytest.mark.parametrize("secret", [KEY, AWS], ids=["github", "aws"])
@pytest.mark.parametrize("form", FORMS)
def test_a_secret_is_found_in_every_form(form: str, secret: str) -> None:
    text = f"see {FORMS[form](secret)} there"
    left = redacted(text)
    assert "[redacted:" in left
    assert (left[:4], left[-6:]) == ("see ", " there")
    assert len(left) < 110


def test_only_what_says_the_secret_is_taken_out() -> None:
    assert redacted(f"a=1&key={KEY.replace('_', '%5F')}&b=2") == "a=1&key=[redacted:github-pat]&b=2"
    assert redacted(f"x = '{KEY[:9]}' + '{KEY[9:]}' + tail") == "x = '[redacted:github-pat]' + tail"


@pytest.mark.parametrize("letters", ["АKIA", "AКIA", "AKІA"])
def test_letters_of_another_alphabet_hide_nothing(letters: str) -> None:
    assert "[redacted:" in redacted(f"use {letters}{AWS[4:]} now")


@pytest.mark.parametrize(
    "text",
    [
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n" * 3,
        "a1b2c3d4e5f6.log\na1b2c3d4e5f7.log\nb1b2c3d4e5f6.log",
        "['alpha-0001', 'alpha-0002', 'alpha-0003', 'alpha-0004']",
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20",
        "65, 70, 80, 90, 100, 110, 120, 65, 70, 80, 90",
        "4f:9a:01:22:be:ef:00:11:22:33:44:55:66:77:88:99:aa:bb:cc:dd",
        "Это обычный русский текст без всяких ключей, и токен здесь только слово.",
        "print('total: ' + '12345678' + ' items in ' + 'warehouse7')",
        "caf\\u00e9 \\u2019s menu &#8217; &#39;quoted&#39; &amp; more",
    ],
)
def test_other_text_in_these_forms_stays(text: str) -> None:
    assert redacted(text) == text


def test_every_copy_of_a_secret_goes() -> None:
    value = "Zx9Cv8Bn7Ml6Kj5Hg4Fd3Sa2"
    left = redacted(
        {"env": f"MY_TOKEN={value}", "log": [f"sent {value} twice: {value}"], "other": "Zx9Cv8Bn7"}
    )
    assert value not in str(left)
    assert left["other"] == "Zx9Cv8Bn7"


def test_a_word_that_is_somebodys_password_stays_a_word_elsewhere() -> None:
    left = redacted("postgres://postgres:postgres@db/postgres is the postgres of our tests")
    assert left.endswith("@db/postgres is the postgres of our tests")


def test_what_is_redacted_introduces_nothing() -> None:
    """A placeholder names its kind, and `password` in it is no name of what follows."""
    text = '{"cloudant_access_key": "vftimjjnywieedlbdqkrbfiq"}System.setProperty("DISCORD", "x")'
    once = redacted(text)
    assert once != text
    assert redacted(once) == once


def test_what_only_a_word_makes_a_secret_may_go_on_in_the_next_item() -> None:
    event = ToolResult(
        id="1", at=0, run=RunInfo("test"), tool="read", args={},
        result=["session_token=ghp_16C7e42F292c6912", "E7710c838347Ae178B4a"],
    )  # fmt: skip
    finding = Secrets().judge(read(event))
    assert finding is not None
    assert ((1,), 0, 20) in [(patch.path, patch.start, patch.end) for patch in finding.hides]


TERMS = (
    '"', "'", " ", "+", "..", "&", "<>", "||", "\n", "\\\n", ").append(", "65", "0x41", "101", ", ",
    ";", "\t", "\x0b", "\x1c", "\x85", "\xa0", "\u2003", "é", "_", "x", "²", "٣", "▁",
    "41:42:43:44:45:46:47:48:49:4a:4b:4c", "4142 ", "70, " * 8,
)  # fmt: skip


@given(st.lists(st.sampled_from(TERMS), max_size=30).map("".join))
@sample(125)
def test_terms_are_found_alike_by_both_engines(text: str) -> None:
    plain = escapes._in_ascii(text)
    if plain is None:
        assert "٣" in text
        return
    places = [found.span() for found in escapes._SPLIT.finditer(text)]
    assert [found.span() for found in escapes._whole().finditer(plain)] == places
