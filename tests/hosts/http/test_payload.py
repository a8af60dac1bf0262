"""Bodies as data: JSON by its structure, text as text, the rest as bytes; what was packed by what
is in it."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion.hosts.http.payload import Payload, Unfit, read, written

LONGEST = 10_000


def seen(body: bytes, kind: str = "", encoding: str = "") -> Payload:
    return read(body, {"content-type": kind} if kind else {}, encoding, LONGEST)


@pytest.mark.parametrize(
    ("body", "kind", "data"),
    [
        (b"", "text/plain", None),
        (b"plain", "", "plain"),
        ("é".encode(), "text/plain", "é"),
        ("é".encode("latin-1"), "text/plain; charset=ISO-8859-1", "é"),
        ("é".encode("utf-16-le"), 'text/plain; charset="utf-16-le"', ["é", "\\xe9\x00"]),
        (b"hunter2!", "text/plain; charset=cp037", [b"hunter2!".decode("cp037"), "hunter2!"]),
        (b'{"a": 1}', "application/json; charset=utf-7", [{"a": 1}, {"a": 1}]),
        (b"a-b", "text/plain; charset=punycode", "a-b"),
        (b"a=1&b=%41", "application/x-www-form-urlencoded", "a=1&b=%41"),
        (b'{"a": [1, "\\u0041"]}', "application/json", {"a": [1, "A"]}),
        (b' [{"a": 1}] ', "", [{"a": 1}]),
        (b'{"a": 1, "a": {"b": 2, "b": 3}}', "application/json", {"a": 1, "a'": {"b": 2, "b'": 3}}),
        (b'{"a": NaN}', "application/json", '{"a": NaN}'),
        (b'{"a": ', "application/json", '{"a": '),
        (b"[" * 5_000, "application/json", "[" * 5_000),
        (b"\xff\xfe", "image/png", {"$bytes": "//4="}),
        (
            b"\xffa hunter2 b\xfe",
            "image/png",
            {"$bytes": "/2EgaHVudGVyMiBi/g==", "$text": "a hunter2 b"},
        ),
        (b'{"a": "\xff"}', "application/json", '{"a": "\\xff"}'),
        (b'"\\u0068i"', "application/json", ['"\\u0068i"', '"hi"']),
        (
            b'{"a": 1}\n{"b": "\\u0068i"}',
            "",
            ['{"a": 1}\n{"b": "\\u0068i"}', '{"a": 1}\n{"b": "hi"}'],
        ),
        (b"a\xff", "multipart/form-data", "a\\xff"),
        (b"a\xff", "", "a\\xff"),
        (b"x", "text/plain; charset=no-such", "x"),
    ],
)
def test_a_body_is_read_by_what_it_is(body: bytes, kind: str, data: Any) -> None:
    assert seen(body, kind).data == data


@pytest.mark.parametrize(
    "pack", [gzip.compress, zlib.compress, lambda data: zlib.compress(data)[2:-4]]
)
def test_a_packed_body_is_read_by_what_is_in_it(pack: Any) -> None:
    encoding = "gzip" if pack is gzip.compress else "deflate"
    found = seen(pack(b'{"a": "b"}'), "application/json", encoding)
    assert (found.data, found.whole) == ({"a": "b"}, True)
    with pytest.raises(Unfit):
        written(found, {"a": "c"})


def test_all_members_of_a_packed_body_are_read() -> None:
    """What stands behind the first part is part of the body as well."""
    assert (
        seen(
            gzip.compress(b"first ", mtime=0) + gzip.compress(b"second", mtime=0), encoding="gzip"
        ).data
        == "first second"
    )


@pytest.mark.parametrize(
    "body",
    [b"not packed", gzip.compress(b"cut", mtime=0)[:-3], gzip.compress(b"a", mtime=0) + b"more"],
)
def test_a_body_that_is_not_what_it_says_is_shown_as_it_is(body: bytes) -> None:
    """A server that does not go by what is said reads just that."""
    found = seen(body, encoding="gzip")
    assert found.data == body.decode("utf-8", "backslashreplace")
    assert found.lost


def test_an_encoding_that_is_not_known_shows_what_is_sent() -> None:
    assert seen(b"anything", encoding="br").data == "anything"
    assert set(seen(b"\xff\xfe", "image/png", "br").data) == {"$bytes"}


@pytest.mark.parametrize("encoding", ["gzip, gzip", "gzip,identity,GZIP", "deflate, gzip"])
def test_a_body_that_is_packed_twice_is_unpacked_twice(encoding: str) -> None:
    first = (
        zlib.compress(b"inside")
        if encoding.startswith("deflate")
        else gzip.compress(b"inside", mtime=0)
    )
    assert seen(gzip.compress(first, mtime=0), encoding=encoding).data == "inside"
    assert seen(b"x", encoding="gzip, " * 10).data == "x"


def test_names_that_come_very_often_are_told_apart_in_little_room() -> None:
    """Forty thousand of one name, and names that look like those which are made up for it."""
    pairs = ['"a":1'] * 40_000 + ['"a\'7":2']
    found = read(f"{{{','.join(pairs)}}}".encode(), {}, "", 1 << 20)
    assert len(found.data) == 40_001
    assert max(map(len, found.data)) < 10


def test_the_last_of_very_many_parts_is_read() -> None:
    """However many of them are empty."""
    body = gzip.compress(b"", mtime=0) * 50_000 + gzip.compress(b"end", mtime=0)
    assert read(body, {}, "gzip", 1 << 21).data == "end"


@pytest.mark.parametrize("length", [LONGEST, LONGEST + 1])
def test_what_is_too_long_is_not_whole(length: int) -> None:
    """Also where it is packed: a little that becomes much is not unpacked any further."""
    assert seen(b"x" * length).whole is (length == LONGEST)
    assert seen(gzip.compress(b"x" * length, mtime=0), encoding="gzip").whole is (length == LONGEST)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(-1e9, 1e9)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.lists(JSON, max_size=3) | st.dictionaries(st.text(max_size=4), JSON, max_size=3))
def test_json_that_can_be_written_back_is_the_same(data: Any) -> None:
    """What was read and is written again is read as the same by the server."""
    found = seen(json.dumps(data).encode(), "application/json")
    if not found.lost:
        assert json.loads(written(found, found.data)) == data


@given(
    st.binary(min_size=1, max_size=200),
    st.sampled_from(["", "text/plain", "image/png", "application/json"]),
)
def test_any_body_is_read_and_text_is_written_back_as_it_was(body: bytes, kind: str) -> None:
    found = seen(body, kind)
    assert found.data is not None
    if not found.lost and not found.json:
        assert written(found, found.data) == body


def test_a_text_that_its_charset_cannot_write_is_refused() -> None:
    with pytest.raises(Unfit, match="`iso-8859-1`"):
        written(seen(b"key", "text/plain; charset=iso-8859-1"), "…")
