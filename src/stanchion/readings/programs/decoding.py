"""Decoding: functions of any language that turn one text into another, by their names."""

from __future__ import annotations

import binascii
from base64 import b64decode
from codecs import decode
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import unquote

from stanchion.readings.word_lists import listed


def _base64(text: str) -> str:
    plain = "".join(text.split()).replace("-", "+").replace("_", "/")
    return b64decode(plain + "=" * (-len(plain) % 4)).decode("latin-1")


def _hex(text: str) -> str:
    return bytes.fromhex(text).decode("latin-1")


BY_NAME: Final[dict[str, Callable[[str], str]]] = {
    **dict.fromkeys(
        listed(
            "atob b64decode base64_decode decode_base64 decode64 urlsafe_decode64 strict_decode64 "
            "urlsafe_b64decode FromBase64String a2b_base64 standard_b64decode decodebytes"
        ),
        _base64,
    ),
    **dict.fromkeys(listed("hex2bin unhexlify fromhex a2b_hex"), _hex),
    **dict.fromkeys(
        listed("decodeURIComponent unescape urldecode rawurldecode unquote decodeURI"), unquote
    ),
    **dict.fromkeys(listed("str_rot13"), lambda text: str(decode(text, "rot13"))),
    **dict.fromkeys(listed("strrev reverse"), lambda text: text[::-1]),
    **dict.fromkeys(listed("lower toLowerCase strtolower downcase lc"), str.lower),
    **dict.fromkeys(listed("upper toUpperCase strtoupper upcase uc"), str.upper),
}
SAME: Final = listed(
    """
    toString to_s str String strip trim chomp encode decode expanduser resolve absolute abspath
    realpath fspath bytes expandvars Path PurePath homedir read_text strval valueOf freeze dup quote
    escapeshellarg normalize expand_path text SQL
    """
)
"""Functions whose result is what they are called on, or their first argument, as far as it matters
here."""
HIDING: Final = frozenset(
    [*BY_NAME, *listed("decompress inflate gzinflate gzuncompress loads unpack gunzipSync xor")]
)
"""What makes a text that nobody could read before."""


def decoded(name: str, on: str | None, args: Sequence[str | None]) -> str | None:
    """What a function makes of a text; `None` where that is not known."""
    first = args[0] if args else on
    try:
        if name in ("pack", "unpack", "unpack1"):
            return _packed(on, args)
        if name == "from" and len(args) > 1 and first is not None:
            return (
                _base64(first)
                if args[1] == "base64"
                else _hex(first)
                if args[1] == "hex"
                else first
            )
        if name in BY_NAME and first is not None:
            return BY_NAME[name](first)
        if name in ("fromCharCode", "chr", "char"):
            return "".join([chr(int(each)) for each in args if each is not None])
    except (ValueError, OverflowError, binascii.Error):
        return None
    return (on if on is not None else first) if name in SAME else None


def _packed(on: str | None, args: Sequence[str | None]) -> str | None:
    """`pack("H*", text)` of Perl and PHP, `[text].pack("H*")` of Ruby, and `unpack` the other way
    round."""
    known = [each for each in (*args, on) if each is not None]
    if len(known) < 2:
        return None
    form, text = known[0], known[1]
    return _hex(text) if form[:1] in "Hh" else _base64(text) if form[:1] in "mu" else None
