"""Parts of results that nobody can read: known by their own bytes, and what stands in the place of
one that is withheld while its neighbours stay."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final

import msgspec

from stanchion.kernel.findings import Patch, PathStep
from stanchion.kernel.patches import apply
from stanchion.runtime.values.binary_text import (
    DIGESTED,
    declared_type,
    digest_text,
    encoding_of,
    from_letters,
    is_textual,
    media_type,
    size_of,
)
from stanchion.runtime.values.read_value import Read
from stanchion.runtime.values.type_readers import UNORDERED, Seen, UnreadPart
from stanchion.runtime.values.words import at

LARGEST_MEDIA: Final = 8 * 1024 * 1024
"""How many bytes an image or sound may have that is let in."""

TEXT_BLOCK: Final = "text"
BLOCKS: Final[dict[str, str]] = {
    **dict.fromkeys(
        (
            "image",
            "audio",
            "video",
            "file",
            "document",
            "media",
            "resource",
            "image_url",
            "video_url",
        ),
        TEXT_BLOCK,
    ),
    **dict.fromkeys(("input_image", "input_audio", "input_file"), "input_text"),
    **dict.fromkeys(("binary", "image-url", "audio-url", "document-url"), ""),
}
"""Blocks of content by what they say they are (`type`, `kind`), and the block that says in words
what stood there; a plain text where the frameworks of these blocks take one among them."""
SEEN_OR_HEARD: Final = frozenset({f"data of type `{kind}`" for kind in ("image", "audio", "video")})
"""What says of itself that it is no text, whatever type stands beside it."""
KINDS: Final = ("type", "kind")
WRAPPED: Final = frozenset({"image", "audio", "video", "document", "inline_data", "inlineData"})
"""Blocks of the frameworks that name one by its only field."""
SAME_TYPE: Final = {
    "image/jpg": "image/jpeg",
    "audio/mp3": "audio/mpeg",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/vnd.wave": "audio/wav",
    "audio/x-flac": "audio/flac",
}
"""Media types that have two names."""


def digested(seen: Read) -> Read:
    """What came in and was read. An image or another file in base64 is known by the digest of its
    bytes, as bytes are; what is text in base64 by its own word (HTML, SVG) is read as text."""
    if not any(part.seen == Seen.SPELLED for part in seen.parts):
        return seen
    patches: list[Patch] = []
    parts: list[UnreadPart] = []
    for part in seen.parts:
        content, known = _decoded(seen.content, part)
        if content is not None:
            patches.append(Patch(part.path, content))
        if known is not None:
            parts.append(known)
    if not patches:
        return seen
    most = Seen(max([part.seen for part in parts], default=Seen.WHOLE))
    return msgspec.structs.replace(
        seen,
        content=apply(seen.content, patches),
        parts=tuple(parts),
        seen=most,
        plain=seen.plain and len(parts) == len(seen.parts),
    )


def _decoded(content: Any, part: UnreadPart) -> tuple[Any, UnreadPart | None]:
    """What stands in content for a part, where that is something else than before, and the part as
    it is known by then: `None` where it was read."""
    text = at(content, part.path) if UNORDERED not in part.path else None
    if type(text) is not str or part.seen != Seen.SPELLED:
        return None, part
    said, data = from_letters(text)
    said = said if said else _declared(content, part.path)
    if not data:
        return None, part
    if said and is_textual(said):
        drawn = said.startswith("image/") or part.what not in SEEN_OR_HEARD
        name = encoding_of(data) if drawn else ""
        return (data.decode(name), None) if name else (None, part)
    kind = media_type(data)
    if not kind:
        return None, part
    what = f"{part.what} of {len(data):,} bytes"
    if said and SAME_TYPE.get(said, said) != kind:
        kind = ""
    return digest_text(data), UnreadPart(part.path, what, Seen.DIGEST, kind)


def _declared(content: Any, path: tuple[PathStep, ...]) -> str:
    """The media type that stands beside a part; empty where none does."""
    around = at(content, path[:-1]) if path else None
    said = declared_type(around) if isinstance(around, dict) else None
    return said.partition(";")[0].strip().lower() if said else ""


def is_digest(content: Any, path: tuple[PathStep, ...]) -> bool:
    """Whether the digest of a file stands at a place, and not the file."""
    said = at(content, path)
    return isinstance(said, str) and said.startswith(DIGESTED)


def lets_in(content: Any, part: UnreadPart) -> bool:
    """Whether a part is an image or a sound as `media: allow` lets it in: its own bytes say so,
    nothing beside it says otherwise, and it is not too large."""
    if not part.kind.startswith(("image/", "audio/")):
        return False
    said, size = _declared(content, part.path), size_of(at(content, part.path))
    return SAME_TYPE.get(said, said) in ("", part.kind) and size <= LARGEST_MEDIA


def sha256_of(content: Any, part: UnreadPart) -> str:
    """The SHA-256 of a file that nobody reads; empty where it is not known."""
    said = at(content, part.path) if UNORDERED not in part.path else None
    if isinstance(said, dict):
        return str(said.get("$sha256", ""))
    if not isinstance(said, str):
        return ""
    if said.startswith(DIGESTED):
        return said.removeprefix(DIGESTED).partition(" ")[0]
    data = from_letters(said)[1]
    return sha256(data).hexdigest() if data else ""


def without(content: Any, part: UnreadPart, words: str, depth: int = 0) -> Patch | None:
    """What puts a text in the place of a part, its whole block where it has one, in content that
    stands so deep in what was read; `None` where nothing would stay beside it, or nobody finds its
    place again."""
    if UNORDERED in part.path or part.seen == Seen.NOTHING:
        return None
    path, value = next(_replaced(content, part.path, words, depth), (part.path, words))
    return Patch(path[depth:], value, kind="withheld") if len(path) > depth else None


def _replaced(
    content: Any, path: tuple[PathStep, ...], words: str, depth: int
) -> Iterator[tuple[tuple[PathStep, ...], Any]]:
    """The blocks that a part may be the content of, the innermost first, and what says so much in
    words; last the mapping that says its type."""
    typed: list[tuple[tuple[PathStep, ...], Any]] = []
    for size in range(len(path) - 1, depth - 1, -1):
        block = at(content, path[:size])
        if not isinstance(block, dict):
            continue
        said = next((BLOCKS[block[name]] for name in KINDS if block.get(name) in BLOCKS), None)
        if said is not None:
            yield path[:size], {"type": said, "text": words} if said else words
        elif len(block) == 1 and not WRAPPED.isdisjoint(block):
            yield path[:size], {"text": words}
        elif "uri" in block and "blob" in block:
            typed = [(path[:size], {"uri": block["uri"], "mimeType": "text/plain", "text": words})]
        elif size == len(path) - 1 and declared_type(block) is not None:
            typed = [(path[:size], words)]
    yield from typed
