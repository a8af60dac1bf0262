"""Values: what in a text is distinctive, each in one spelling: addresses, hosts, links, codes,
paths, numbers."""

from __future__ import annotations

import re
from typing import Final, NamedTuple
from urllib.parse import unquote

from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import listed

MAIL: Final = regex(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
LINK: Final = regex(
    r"(?:[a-z][a-z0-9+.-]{1,12}://|www\.)[^\s\"'<>()\[\]{}|\\^`]{1,2000}", re.IGNORECASE
)
HOST: Final = regex(
    r"[\w-]{1,63}(?:\.[\w-]{1,63}){0,6}\.[a-z]{2,12}(?::\d{1,5})?(?:[/?][^\s\"'<>]{0,2000})?",
    re.IGNORECASE,
)
NUMERIC_HOST: Final = regex(r"\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?:/\S{0,2000})?")
FILE: Final = regex(
    r"\.(?:txt|md|rst|pdf|docx?|xlsx?|pptx?|csv|tsv|json|ya?ml|xml|toml|ini|cfg|py|sh|js|ts|go|rs|"
    r"rb|pl|java|php|html?|css"
    r"|png|jpe?g|gif|svg|zip|tar|gz|pem|key|env|log|eml|sql|db|bak)$",
    re.IGNORECASE,
)
DATE: Final = regex(
    r"\d{4}-\d\d(?:-\d\d)?(?:[T ]\d\d:\d\d.{0,20})?|\d{1,2}[:/.-]\d{1,2}(?:[:/.]\d{2,4})?(?:am|pm)?"
    r"|\d{1,4}(?:am|pm|st|nd|rd|th|h|m|s|min|px|kb|mb|gb|ms|km|kg|%)|\d{4}/\d{1,2}/\d{1,2}|[\d/]+|"
    r"v?\d+(?:\.\d+){1,3}",
    re.IGNORECASE,
)
AMOUNT: Final = regex(
    r"[$€£¥]?(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?:[$€£¥]|usd|eur|gbp)?", re.IGNORECASE
)
SPACED: Final = regex(
    r"\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{2,4}){2,8}(?:[ -]\d)?\b|\+?\d{1,4}(?:[ .-]\d{2,5}){2,6}\b"
)
MAY_BE_SPACED: Final = regex(r"\d(?:[ .-]\d|(?<=[A-Z]\d)\d[ -])")
SPELT: Final = regex(r"\s?[(\[{<]\s?at\s?[)\]}>]\s?|(?<=\w) at (?=[\w-]+ dot \w)", re.IGNORECASE)
SPELT_DOT: Final = regex(r"\s?[(\[{<]\s?dot\s?[)\]}>]\s?|(?<=\w) dot (?=\w)", re.IGNORECASE)
"""Addresses that are spelt out."""
OPENING: Final = frozenset("([{<")
NATIONAL: Final = 9
"""How many digits of a phone are the same whether it is dialled from abroad or not."""
MAY_HAVE: Final = regex(r"[0-9@/\\_]|\.\S| dot \w")
"""What no value of plain letters is without."""
ODD: Final = regex(r"[\W_]+")
SIGNS: Final = bytes([code for code in range(128) if not chr(code).isalnum()])
SMALL: Final = bytes(range(256)).lower()
"""The signs among plain characters, and how those are written small."""
ENDS: Final = listed(
    """
    com org net edu gov mil int info biz name pro io ai app dev cloud online site store tech xyz top
    link page example test local internal shop blog news email
    """
)
"""What names of hosts end in, beside two letters."""
AROUND: Final = ".,;:!?\"'()[]{}<>|*`“”‘’«»…"
LEAST: Final = 3
LONG_CODE: Final = 5
"""From how many digits on a bare number is a code."""


class DistinctValue(NamedTuple):
    """A value: its kind (`mail`, `host`, `link`, `path`, `code`, `num`) and its one spelling."""

    kind: str
    text: str


def squash(text: str) -> str:
    """Only the letters and digits of a text, in lower case."""
    if text.isascii():
        return text.encode().translate(SMALL, SIGNS).decode()
    return ODD.sub("", text).lower()


def values(text: str) -> list[DistinctValue]:
    """The distinctive values of a text, in their order."""
    if text.isascii() and not MAY_HAVE.search(text):
        return []
    found: list[DistinctValue] = []
    for token in text.split():
        inner = bare(token)
        if inner:
            found += of_token(inner)
    found += spaced(text)
    return found


def bare(token: str) -> str:
    """A token without the signs around it; empty where only letters are left, which are no
    value."""
    if token.isalpha():
        return ""
    inner = token.strip(AROUND)
    return "" if inner.isalpha() else inner


def spaced(text: str) -> list[DistinctValue]:
    """The codes of a text that are written with blanks, and the addresses that are spelt out."""
    found: list[DistinctValue] = []
    if ("dot" in text.lower() or not OPENING.isdisjoint(text)) and SPELT.search(text):
        found += _mails(SPELT_DOT.sub(".", SPELT.sub("@", text)))
    if MAY_BE_SPACED.search(text):
        for piece in SPACED.findall(text):
            code = squash(piece)
            if len(code) >= 8 and not DATE.fullmatch(piece):
                found.append(DistinctValue("code", code))
                if code.isdigit() and len(code) > NATIONAL:
                    found.append(DistinctValue("code", code[-NATIONAL:]))
                if piece[-2] in " -":
                    found.append(DistinctValue("code", code[:-1]))
    return found


def of_token(token: str) -> list[DistinctValue]:
    """The values of one token."""
    if token.isalnum() or token.replace(".", "", 1).isdigit():
        return _plain(token)
    if "://" in token or "www." in token.partition("@")[0].lower():
        links = LINK.findall(token)
        if links:
            return [value for link in links for value in _linked(link)]
    mails = _mails(token)
    if mails:
        return mails
    if "." in token and is_host(token):
        return link_values(token)
    if "/" in token or "\\" in token:
        return _path(token)
    if "=" in token or ":" in token:
        if DATE.fullmatch(token):
            return []
        pieces = [inner for piece in token.replace("=", ":").split(":") if (inner := bare(piece))]
        return [value for inner in pieces for value in of_token(inner)]
    return _plain(token)


def _linked(link: str) -> list[DistinctValue]:
    """The values of a link, and the addresses of people in it."""
    return link_values(link) + _mails(link.partition("://")[2].partition("/")[2])


def _mails(text: str) -> list[DistinctValue]:
    return (
        [DistinctValue("mail", mail.lower().strip(".")) for mail in MAIL.findall(text)]
        if "@" in text
        else []
    )


def _plain(token: str) -> list[DistinctValue]:
    if "." in token and FILE.search(token):
        return [DistinctValue("path", token.lower())]
    amount = AMOUNT.fullmatch(token)
    if amount is not None:
        return _number(amount[1], amount[2])
    if any(map(str.isdigit, token)):
        code = squash(token)
        if len(code) >= LEAST and not DATE.fullmatch(token) and not code.isalpha():
            return [DistinctValue("code", code)]
    elif "_" in token.strip("_"):
        return [DistinctValue("code", squash(token))]
    return []


def _number(digits: str, fraction: str | None) -> list[DistinctValue]:
    whole, rest = digits.replace(",", ""), fraction.rstrip("0").rstrip(".") if fraction else ""
    if len(whole) >= LONG_CODE and not rest and "," not in digits:
        return [DistinctValue("num", whole), DistinctValue("code", whole)]
    return [DistinctValue("num", whole + rest)]


def _path(token: str) -> list[DistinctValue]:
    path = token.replace("\\", "/").lower().strip("/")
    if not path or DATE.fullmatch(token):
        return []
    last = path.rpartition("/")[2]
    if last != path and FILE.search(last):
        return [DistinctValue("path", path), DistinctValue("path", last)]
    return [DistinctValue("path", path)]


def is_host(token: str) -> bool:
    """Whether a token without a scheme names a host."""
    if NUMERIC_HOST.fullmatch(token):
        return token.count(".") == 3
    if not HOST.fullmatch(token):
        return False
    host = token.partition("/")[0].partition("?")[0].partition(":")[0]
    if FILE.search(host):
        return False
    end = host.rpartition(".")[2].lower()
    return end in ENDS or (len(end) == 2 and not host[:1].isupper())


def link_values(text: str) -> list[DistinctValue]:
    """The host of a link, and the link without scheme, query and fragment where it has a path."""
    host, path = split_link(text)
    if not host:
        return []
    return (
        [DistinctValue("host", host), DistinctValue("link", f"{host}/{path}")]
        if path
        else [DistinctValue("host", host)]
    )


def split_link(text: str) -> tuple[str, str]:
    """The host and the path of a link, in one spelling."""
    plain = text.strip().rstrip(".,;:!?").lower()
    plain = plain.partition("://")[2] if "://" in plain else plain
    if "\\" in plain.partition("/")[0]:
        return plain, ""  # clients do not agree on where the host ends
    plain = plain.partition("#")[0].partition("?")[0]
    host, _, path = plain.partition("/")
    host = unquote(host.rpartition("@")[2].partition(":")[0]).strip(".").removeprefix("www.")
    return host, unquote(path).strip("/")
