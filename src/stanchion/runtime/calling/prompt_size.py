"""How many tokens a request may have, judged by its bytes: as many as a tokenizer makes of it, and
rather more."""

from __future__ import annotations

from typing import Final

PER_MESSAGE: Final = 8
"""What a model's own marks between messages may take."""
PER_TOOLSET: Final = 1_000
"""What vendors add to a prompt, unseen, once it offers tools."""

_KINDS: Final = bytes(
    [
        97 if 97 <= byte <= 122 else 65 if 65 <= byte <= 90 else 32 if byte == 32 else 46
        for byte in range(256)
    ]
)
"""Every byte as what it counts for: `a` a small letter, `A` a capital, a space, `.` anything
else."""


def prompt_tokens(body: bytes, messages: int, tools: bool) -> int:
    """An upper bound for the tokens of a request, given as JSON, with what a vendor adds to it."""
    return text_tokens(body) + PER_MESSAGE * (messages + 1) + (PER_TOOLSET if tools else 0)


def text_tokens(body: bytes) -> int:
    """An upper bound for the tokens of a text in UTF-8.

    Three small letters make at most two tokens and a word at least one; a space before a word is
    part of it, and further spaces there are one token, up to sixteen of them; every other byte is a
    token of its own.
    """
    kinds = body.translate(_KINDS)
    small, spaces = kinds.count(b"a"), kinds.count(b" ")
    words = kinds.count(b".a") + kinds.count(b"Aa") + kinds.count(b" a") + kinds.startswith(b"a")
    wide = kinds.count(b".  ") + kinds.count(b"A  ") + kinds.count(b"a  ") + kinds.startswith(b"  ")
    gaps = kinds.count(b" .") + wide + spaces // 16
    return 1 + len(body) - small - spaces + -(-(2 * small + words) // 3) + gaps
