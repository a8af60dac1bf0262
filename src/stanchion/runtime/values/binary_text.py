"""Bytes as text: what they say where they say something, and what they are where not."""

from __future__ import annotations

import codecs
from base64 import b64decode, b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from stanchion.kernel.regex import regex
from stanchion.runtime.values.type_readers import Seen, Unreadable, ValueLeaf

MAX_CHARS: Final = 16 * 1024 * 1024
"""How long a text, or all texts of a value together, may be."""

ESCAPE: Final = "\ufdd0"
"""Stands before what is written otherwise in content than it was given, and before itself: so no
two values that say different things have the same content. No text has this character, which
Unicode keeps free for such use."""

DIGESTED: Final = f"{ESCAPE}sha256:"
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MEDIA: Final = (
    (b"\x89PNG\r\n", "an image (PNG)", "image/png"),
    (b"\xff\xd8\xff", "an image (JPEG)", "image/jpeg"),
    (b"GIF8", "an image (GIF)", "image/gif"),
    (b"BM", "an image (BMP)", "image/bmp"),
    (b"II*\0", "an image (TIFF)", "image/tiff"),
    (b"MM\0*", "an image (TIFF)", "image/tiff"),
    (b"%PDF-", "a PDF document", "application/pdf"),
    (b"RIFF", "an image, sound or film (RIFF)", ""),
    (b"ID3", "sound (MP3)", "audio/mpeg"),
    (b"OggS", "sound or film (Ogg)", "audio/ogg"),
    (b"fLaC", "sound (FLAC)", "audio/flac"),
    (b"PK\x03\x04", "an archive or office document (ZIP)", ""),
    (b"\x1f\x8b", "compressed data (gzip)", ""),
    (b"7z\xbc\xaf", "an archive (7z)", ""),
    (b"SQLite format 3\0", "a database (SQLite)", ""),
    (b"\x7fELF", "a program (ELF)", ""),
    (b"MZ", "a program (Windows)", ""),
)
"""How files that are no text begin, what they are, and their media type where it is an image's,
sound's or document's. What begins so and reads as text all the same is text."""
_IN_RIFF: Final = {b"WAVE": "audio/wav", b"WEBP": "image/webp"}
"""What stands behind the length in a file of RIFF."""


_HEADS: Final = frozenset(
    [b64encode(head + bytes(3))[:3].decode() for head, *_ in _MEDIA if len(head) > 2]
)
_LETTERS: Final = regex(r"[A-Za-z0-9+/]{64}")
_TEXTUAL: Final = regex(
    r"$|text/|application/(?:json|xml|javascript|[\w.-]+\+(?:json|xml))|image/svg\+xml"
)

_SPELLED: Final = regex(rf"{ESCAPE}({ESCAPE}|\\x[0-9a-f]{{2}}|\\u[0-9a-f]{{4}})")
_KIND: Final = regex(r"[\w.+/-]{1,64}")
_DECLARING: Final = ("mimeType", "mime_type", "media_type")
_DATA: Final = ("data", "blob", "base64")
_SEEN_OR_HEARD: Final = frozenset({"image", "audio", "video"})


def text_leaf(data: bytes, handed: Any) -> ValueLeaf:
    """Bytes as content: their text, or what they are by length and hash."""
    if len(data) > MAX_CHARS:
        raise Unreadable(f"it has more than {MAX_CHARS:,} bytes")
    name = encoding_of(data)
    if name:
        return ValueLeaf(data.decode(name), handed)
    what = f"{media(data)} of {len(data):,} bytes"
    if what.startswith(UNKNOWN):
        return ValueLeaf(bytes_spelled_out(data), handed, what, Seen.SPELLED)
    return ValueLeaf(digest_of(data), handed, what, Seen.DIGEST, media_type(data))


def digest_of(data: bytes) -> dict[str, Any]:
    """What stands in content for bytes that nobody reads."""
    return {"$bytes": len(data), "$sha256": sha256(data).hexdigest()}


def digest_text(data: bytes) -> str:
    """What stands in content for bytes in base64: a text, as they were; no other text has it."""
    return f"{DIGESTED}{sha256(data).hexdigest()} {len(data)}"


def size_of(content: Any) -> int:
    """How many bytes there are of which content has the digest."""
    return int(content["$bytes"] if isinstance(content, dict) else content.rpartition(" ")[2])


def encoding_of(data: bytes) -> str:
    """The encoding in which bytes are text; empty where they are none."""
    name = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(name)
    except UnicodeDecodeError:
        return ""
    return "" if "\0" in text else name


UNKNOWN: Final = "data that is not text"


def media(data: bytes) -> str:
    """What kind of file begins like that, in words."""
    if data[4:8] == b"ftyp":
        return "a film or image (MP4)"
    return next((what for head, what, _ in _MEDIA if data.startswith(head)), UNKNOWN)


def media_type(data: bytes) -> str:
    """The media type of an image, a sound or a document, by how it begins; empty where it is
    none of them."""
    kind = next((kind for head, _, kind in _MEDIA if data.startswith(head)), "")
    return kind if kind else _IN_RIFF.get(data[8:12], "") if data.startswith(b"RIFF") else ""


def in_letters(text: str) -> str:
    """What kind of file a text has in it, written in letters (base64); empty where it is a text
    like any other."""
    if text.startswith("data:"):
        kind, comma, _ = text[5:133].partition(",")
        name = kind.partition(";")[0]
        return (
            f"data of type `{name}`"
            if comma and ";base64" in kind and not _TEXTUAL.match(name)
            else ""
        )
    if len(text) < 64 or text[:3] not in _HEADS or not _LETTERS.fullmatch(text[:64]):
        return ""
    what = media(b64decode(text[:64]))
    return "" if what == UNKNOWN else f"{what} in base64"


def declared(parts: Mapping[str, Any]) -> tuple[str, str]:
    """What a mapping says that its data is, where that is no text: the name of the part, and the
    kind. Data that looks like a text is no text to whoever takes it for an image."""
    kind = declared_type(parts)
    data = next((name for name in _DATA if isinstance(parts.get(name), str) and parts[name]), "")
    if kind is None or not data or (len(parts[data]) >= 64 and in_letters(parts[data])):
        return "", ""
    if parts.get("type") in _SEEN_OR_HEARD:
        return data, f"data of type `{parts['type']}`"
    if _TEXTUAL.match(kind) and data != "blob":
        return "", ""
    return data, f"data of type `{kind}`" if _KIND.fullmatch(kind) else "data of a type of its own"


def declared_type(parts: Mapping[str, Any]) -> str | None:
    """The media type that a mapping says its data has; `None` where it says none."""
    return next((parts[name] for name in _DECLARING if isinstance(parts.get(name), str)), None)


def is_textual(kind: str) -> bool:
    """Whether what has that media type is text, as HTML and SVG are."""
    return bool(_TEXTUAL.match(kind))


def from_letters(text: str) -> tuple[str, bytes]:
    """The media type that a text in base64 says of itself (in a `data:` address), and its bytes;
    none where it is not that."""
    kind = ""
    if text.startswith("data:"):
        head, comma, text = text[5:].partition(",")
        kind = head.partition(";")[0] if comma and head.endswith(";base64") else ""
    try:
        return kind, b64decode(text, validate=True)
    except ValueError:
        return kind, b""


def in_letters_again(was: str, text: str) -> str:
    """A changed text in base64, as the text was that it has come from."""
    head, comma, _ = was.rpartition(",")
    return f"{head}{comma}{b64encode(text.encode()).decode()}"


def bytes_again(value: bytes, text: Any) -> Any:
    """A changed text in the encoding that the bytes had."""
    if not isinstance(text, str):
        return text
    name = encoding_of(value)
    return text.encode(
        name if name else "utf-8", "surrogatepass" if name in ("", "utf-8") else "replace"
    )


def encodable(text: str) -> bool:
    """Whether a text stands for itself: it has no halves of characters in it, which no encoding
    has, and no `ESCAPE`."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return ESCAPE not in text


def spelled_out(text: str) -> str:
    """A text with such halves written out, as `\\udc00` behind an `ESCAPE`: never as another text
    is."""
    odd = {
        ord(char): ESCAPE + (ESCAPE if char == ESCAPE else _half(ord(char)))
        for char in set(text)
        if char == ESCAPE or "\ud800" <= char <= "\udfff"
    }
    return text.translate(odd)


def unspelled(text: str) -> str:
    """A text of content as it was before it was spelled out."""
    if ESCAPE not in text:
        return text
    return _SPELLED.sub(lambda found: _whole(found[1]), text)


def _whole(written: str) -> str:
    if written == ESCAPE:
        return ESCAPE
    digits = written[2:]
    return chr(int(digits, 16) + (0xDC00 if written[1] == "x" else 0))


def bytes_spelled_out(data: bytes) -> str:
    """Bytes as text, with those that are none written out, as `\\xff` behind an `ESCAPE`."""
    return spelled_out(data.decode("utf-8", "surrogateescape"))


def _half(code: int) -> str:
    """Half of a character; Python has a byte that is no text as one, too."""
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"
