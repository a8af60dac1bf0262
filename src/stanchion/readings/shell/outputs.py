"""Outputs: what programs print that only turn one text into another, so that hidden commands come
to light."""

from __future__ import annotations

import binascii
import hashlib
import re
import zlib
from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.shell.arithmetic import NotKnown, number
from stanchion.readings.shell.known import kinds_of
from stanchion.readings.shell.options import sort
from stanchion.readings.shell.partly_known import OpenText, joined, like
from stanchion.readings.shell.patterns import fits, pieces, ranged
from stanchion.readings.shell.tree import MAX_MADE, Meter, Node, Simple
from stanchion.readings.word_lists import Strings, listed

_ESCAPE: Final = regex(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|(0?[0-7]{1,3})|c(.)|(.))",
    re.DOTALL,
)
_SIMPLE: Final = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
    "v": "\v", "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


def unescape(text: str) -> str:
    """The text with its escapes carried out; one that means nothing stays as it is."""
    return _ESCAPE.sub(_meant, text) if "\\" in text else text


def _meant(found: re.Match[str]) -> str:
    byte, short, long, octal, control, simple = found.groups()
    if simple is not None:
        return _SIMPLE.get(simple, "\\" + simple)
    if control is not None:
        return chr(ord(control) & 0x1F)
    number = int(octal, 8) & 0xFF if octal is not None else int(byte or short or long, 16)
    return chr(number) if number < 0x110000 else ""


Made = str | None
"""What is printed; None where that is not known."""
Filter = Callable[[Strings, str], Made]


def output_of(name: str, args: Strings, given: str | None, files: Mapping[str, str]) -> Made:
    """What a program prints when it gets these words and this input; None where that is not
    known."""
    if "silent" in kinds_of(name):
        return ""
    program = PROGRAMS.get(name)
    if program is not None:
        return program(args, given)
    reader = FILTERS.get(name)
    if reader is None:
        return None
    text = _read(name, args, given, files)
    if isinstance(text, OpenText) and text.origin == ("pieces",):
        return text
    if text is None or isinstance(text, OpenText) or any(isinstance(arg, OpenText) for arg in args):
        return None
    try:
        return reader(args, text)
    except (ValueError, EOFError, OSError, zlib.error):
        return None


def _read(name: str, args: Strings, given: str | None, files: Mapping[str, str]) -> Made:
    """What a filter reads: the files it names, which must be known, else its input."""
    named = (
        [] if name in ("tr", "cut") else [word for word in sort(name, args).operands if word != "-"]
    )
    if not named:
        return given
    texts = [
        _matched(word, files) if "?" in word or "*" in word else files.get(word) for word in named
    ]
    return joined([text for text in texts if text is not None]) if None not in texts else None


def _matched(word: str, files: Mapping[str, str]) -> Made:
    """What the file has that a pattern stands for; the order of several depends on the host's
    language."""
    meter = Meter(len(word) * len(files))
    pattern = pieces(word)
    texts = [
        text
        for path, text in sorted(files.items())
        if path.count("/") == word.count("/") and fits(pattern, path, meter)
    ]
    return texts[0] if len(texts) == 1 else OpenText("$(…)", ("pieces",)) if texts else None


def as_bytes(text: str) -> bytes:
    """A text's bytes: as they were where it was made of bytes, else UTF-8."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def as_text(data: bytes) -> str:
    """The text that bytes are, or one that keeps them."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _echo(args: Strings, _given: str | None) -> str:
    at, newline, escapes = 0, True, False
    while (
        at < len(args)
        and len(args[at]) > 1
        and args[at][0] == "-"
        and not args[at][1:].strip("neE")
    ):
        newline = newline and "n" not in args[at]
        escapes = (escapes or "e" in args[at]) and "E" not in args[at]
        at += 1
    words = args[at:]
    text = " ".join(words)
    return like((unescape(text) if escapes else text) + ("\n" if newline else ""), *words)


def printf(args: Strings) -> str:
    """What `printf` makes of a format and its words."""
    if not args:
        return ""
    form, words = unescape(args[0]), list(args[1:])
    made: list[str] = []
    while True:
        begun = len(words)
        at = 0
        while at < len(form):
            percent = form.find("%", at)
            if percent < 0:
                made.append(form[at:])
                break
            made.append(form[at:percent])
            end = percent + 1
            while end < len(form) and form[end] in "-+ #0123456789.*l":
                end += 1
            kind = form[end : end + 1]
            made.append("%" if kind == "%" else _formed(form[percent:end], kind, words))
            at = end + 1
        if not words or len(words) == begun or sum([len(each) for each in made]) > MAX_MADE:
            return like("".join(made), *args)


def _formed(spec: str, kind: str, words: list[str]) -> str:
    word = words.pop(0) if words else ""
    if kind in ("b", "c", "q"):
        return {"b": unescape(word), "c": word[:1], "q": word}[kind]
    width, _, most = spec[1:].partition(".")
    if kind == "s":
        return word[: int(most)] if most.isdigit() else word
    text = f"{_number(word):{kind if kind in ('x', 'X', 'o') else 'd'}}"
    if width.isdigit() and int(width) < 64:
        return text.rjust(int(width), "0" if width[0] == "0" else " ")
    return text


def _number(word: str) -> int:
    if word[:1] in ("'", '"'):
        return ord(word[1]) if len(word) > 1 else 0
    try:
        return -number(word[1:]) if word[:1] == "-" else number(word)
    except NotKnown:
        return 0


def _unpacking(unpack: Callable[[str], bytes], options: str = "") -> Filter:
    """What a program gives that unpacks, where it has one of each of these options."""
    groups = [frozenset(group.split("|")) for group in options.split()]

    def read(args: Strings, text: str) -> Made:
        flags = sort("", args).flags
        return None if any(map(flags.isdisjoint, groups)) else as_text(unpack(text))

    return read


def _unbase64(text: str) -> bytes:
    kept = "".join(text.split())
    return b64decode(kept + "=" * (-len(kept) % 4))


def _inflate(text: str) -> bytes:
    return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(as_bytes(text), MAX_MADE)


def _unbzip(text: str) -> bytes:
    import bz2

    return bz2.BZ2Decompressor().decompress(as_bytes(text), MAX_MADE)


def _tr(args: Strings, text: str) -> Made:
    flags, sets, _ = sort("tr", args)
    if not sets or flags - {"-d", "--delete"}:
        return None
    first = _set(sets[0])
    if flags:
        return text.translate(dict.fromkeys(map(ord, first)))
    second = _set(sets[1]) if len(sets) > 1 else ""
    if not second:
        return None
    padded = second + second[-1] * (len(first) - len(second))
    return text.translate(
        {
            ord(old): new
            for old, new in zip(reversed(first), reversed(padded[: len(first)]), strict=True)
        }
    )


CLASSES: Final = {
    "[:lower:]": "abcdefghijklmnopqrstuvwxyz", "[:upper:]": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "[:digit:]": "0123456789", "[:space:]": " \t\n\v\f\r", "[:blank:]": " \t",
}  # fmt: skip


def _set(text: str) -> str:
    for name, chars in CLASSES.items():
        text = text.replace(name, chars)
    return ranged(unescape(text), 512)


def _cut(args: Strings, text: str) -> Made:
    word = " ".join(args)
    for flag in ("-b", "-c"):
        if word.startswith(flag):
            first, dash, last = word[2:].strip().partition("-")
            begin = int(first) - 1 if first else 0
            end = int(last) if last else None if dash else begin + 1
            return "".join([line[begin:end] + "\n" for line in text.splitlines()])
    return None


def _digest(make: str) -> Callable[[Strings, str], str]:
    def digest(_args: Strings, text: str) -> str:
        return hashlib.new(make, as_bytes(text), usedforsecurity=False).hexdigest() + "  -\n"

    return digest


PROGRAMS: Final[dict[str, Callable[[Strings, str | None], Made]]] = {
    "echo": _echo,
    "printf": lambda args, _: (
        printf(args[1:] if args[:1] == ("--",) else args) if args[:1] != ("-v",) else ""
    ),
}
FILTERS: Final[dict[str, Filter]] = {
    "cat": lambda args, text: None if any(arg[:1] == "-" != arg for arg in args) else text,
    "tac": lambda _, text: "".join([line + "\n" for line in reversed(text.splitlines())]),
    "rev": lambda _, text: "\n".join([line[::-1] for line in text.split("\n")]),
    "base64": _unpacking(_unbase64, "-d|-D|--decode|--d|--de|--dec"),
    "xxd": _unpacking(lambda text: binascii.unhexlify("".join(text.split())), "-r -p|-ps|-plain"),
    "gunzip": _unpacking(_inflate), "zcat": _unpacking(_inflate),
    "gzip": _unpacking(_inflate, "-d|--decompress"),
    "bunzip2": _unpacking(_unbzip), "bzcat": _unpacking(_unbzip),
    "bzip2": _unpacking(_unbzip, "-d|--decompress"), "tr": _tr, "cut": _cut,
    "md5sum": _digest("md5"), "sha1sum": _digest("sha1"), "sha256sum": _digest("sha256"),
}  # fmt: skip


SHOWING: Final = listed("jq yq cat bat head tail less more sort uniq column tac nl")
"""Programs that show of what they read what is asked for."""


def shows(part: Node) -> bool:
    """Whether a part of a pipe shows what it reads."""
    if not isinstance(part, Simple) or part.redirects or not part.words:
        return False
    name = part.words[0]
    return isinstance(name, str) and name in SHOWING
