"""Blocks of a streamed reply: which of them an object is about, which it ends, and whether it
repeats them as a whole.

Known by how the events of providers are built, not by their names one by one: `content_block_stop`
and `response.output_text.done` end something, and an event without a `delta` that is named in this
way brings whole texts.
"""

from __future__ import annotations

from typing import Any, Final

NUMBERS: Final = ("output_index", "content_index", "summary_index")
BLOCKS: Final = "content_block"
"""What is in the type of an event about one of several blocks."""
ENDING: Final = ("_stop", ".done", ".completed", ".incomplete", ".failed", ".cancelled")
STARTING: Final = ("_start", ".created", ".added", ".in_progress", ".queued")
WHOLE: Final = (*ENDING, *STARTING)

Block = tuple[int, ...]
"""Numbers that name a block, from the outermost; a part of it has the same and more."""


def numbers_of(content: Any, outermost: bool) -> Block:
    """The numbers that an object, or a part of one, gives to what it is about.

    An object's own `index` may just count objects. It is that of a block only where the object says
    so.
    """
    if not isinstance(content, dict):
        return ()
    own = not outermost or BLOCKS in str(content.get("type"))
    numbers = [content.get(name) for name in (("index", *NUMBERS) if own else NUMBERS)]
    return tuple([number for number in numbers if type(number) is int])


def is_whole(content: Any) -> bool:
    """Whether an object brings whole texts: those that came in pieces once more, or such as come at
    once."""
    return isinstance(content, dict) and "delta" not in content and _named(content).endswith(WHOLE)


def ended_by(content: Any) -> list[Block]:
    """The blocks that end with an object; without numbers all of them do."""
    if not isinstance(content, dict):
        return []
    if _named(content).endswith(ENDING):
        return [numbers_of(content, True)]
    choices = content.get("choices")
    over = [one for one in choices if isinstance(one, dict)] if isinstance(choices, list) else []
    return [numbers_of(one, False) for one in over if one.get("finish_reason") is not None]


def is_of(block: Block, outer: Block) -> bool:
    """Whether a block is another one, or a part of it."""
    return block[: len(outer)] == outer


def _named(content: dict[str, Any]) -> str:
    name = content.get("type")
    return name if isinstance(name, str) else ""
