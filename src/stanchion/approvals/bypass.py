"""Bypasses: a request to go past one guardrail with one action, who may say yes to it when, and
when nobody has to."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, NamedTuple

import msgspec

from stanchion.approvals.errors import BypassRefused
from stanchion.approvals.words import says_something
from stanchion.kernel.autonomy import BYPASSERS, OPERATOR, SUPERVISOR, may_bypass

LEAST_WORDS: Final = 4
"""How many different words a reason has at least."""
LONGEST: Final = 2_000
"""How many characters a reason has at the most."""

EMPTY_WORDS: Final = frozenset(
    {
        "a",
        "an",
        "and",
        "bypass",
        "emergency",
        "is",
        "it",
        "now",
        "of",
        "please",
        "the",
        "this",
        "to",
        "urgent",
    }
)
"""Words that say nothing about why."""

UNSPACED: Final = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")
"""How the names of letters begin that are written without spaces: each counts as a word."""


NOBODY: Final = ("nobody",)
"""The role that nobody has who could say yes."""


class Urgency(StrEnum):
    """How long a request can wait, by the word of whoever asks; by itself it allows nothing."""

    NORMAL = "normal"
    """Where nobody answers in time it is denied."""
    URGENT = "urgent"
    """Where nobody answers in time the next higher authority is asked."""
    EMERGENCY = "emergency"
    """The same; but a tool that the policy lists as a safety response need not wait."""


class Requested(msgspec.Struct, frozen=True, kw_only=True):
    """What a ticket keeps of a request: its id, past what, why, who may say yes (`asks`, the first
    authority first; empty where nobody may) and how long each of them has. `override_ms` is after
    how long it goes ahead unanswered, 0 where it never does, `review_ms` how long people have to
    review that, and `overridden` that it did."""

    id: str
    guardrail: str
    reason: str
    urgency: Urgency
    asks: tuple[str, ...] = ()
    each_ms: int
    override_ms: int = 0
    review_ms: int = 0
    overridden: bool = False


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """What a review is about: the ticket that was overridden, until when it is due, and that it was
    missed."""

    of: str
    due_at: int
    missed: bool = False


class BypassRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for a bypass, as whoever asked gets it. `ticket` is what people answer; the same
    call goes ahead once when it is asked for again after their yes."""

    id: str
    guardrail_id: str
    requested_by: str
    reason: str
    urgency: Urgency
    timestamp: str
    ticket: str


class Stand(NamedTuple):
    """How an unanswered request stands at a time: who may say yes, whether it is denied because its
    time is over, and whether it may go ahead unanswered."""

    roles: tuple[str, ...]
    over: bool
    overrides: bool


def authorities(required: str, roles: tuple[str, ...], mode: str) -> tuple[str, ...]:
    """Who may say yes to a bypass in a mode, from the role that the guardrail asks for to the
    highest one.

    `roles` are those of the policy in their order. A supervisor stands above all of them, and a
    human operator above everybody.
    """
    if mode not in BYPASSERS:
        return ()
    below = [role for role in dict.fromkeys(roles) if role not in (SUPERVISOR, OPERATOR)]
    steps = (*below, SUPERVISOR, OPERATOR)
    above = (
        steps[steps.index(required) :] if required in steps else (required, SUPERVISOR, OPERATOR)
    )
    return tuple([role for role in above if may_bypass(mode, role)])


def stand(requested: Requested, opened_at: int, now: int) -> Stand:
    """How a request stands that was opened at a time and that nobody has answered. The one table of
    all rules about
    time: it depends on nothing else."""
    passed = now - opened_at
    if passed >= life_ms(requested):
        return Stand((), True, False)
    overrides = requested.urgency is Urgency.EMERGENCY and 0 < requested.override_ms <= passed
    roles = requested.asks[passed // requested.each_ms :]
    return Stand(roles if roles else NOBODY, False, overrides)


def life_ms(requested: Requested) -> int:
    """How long a request can be answered in all: a normal one by those who are asked first, others
    by each authority in turn."""
    turns = 1 if requested.urgency is Urgency.NORMAL else max(1, len(requested.asks))
    return turns * requested.each_ms


def urgency_of(word: str) -> Urgency:
    """The urgency of that name; `BypassRefused` where there is none."""
    try:
        return Urgency(word)
    except ValueError:
        known = ", ".join(f"`{one}`" for one in Urgency)
        raise BypassRefused(f"there is no urgency `{word}`: give one of {known}") from None


def checked_reason(reason: str, *names: str) -> str:
    """A reason that says something; `BypassRefused` where it does not. It has at least four
    different words besides the guardrail's and the tool's names and those that say nothing about
    why."""
    if not isinstance(reason, str) or not says_something(reason):
        raise BypassRefused(
            "a bypass needs a reason: say what has to be done, and why this guardrail is wrong here"
        )
    if len(reason) > LONGEST:
        raise BypassRefused(
            f"the reason has {len(reason):,} characters: say it in at most {LONGEST:,}"
        )
    named = {word for name in names for word in _words(name)}
    said = set(_words(reason)) - named - EMPTY_WORDS
    if len(said) < LEAST_WORDS:
        raise BypassRefused(
            f"the reason says too little: give at least {LEAST_WORDS} different words on what has "
            f"to be done and why, "
            "besides names and words like `urgent`"
        )
    return reason.strip()


def _words(text: str) -> list[str]:
    """The words of a text, each letter by itself where no spaces are written; what stands for
    itself is none."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    found: list[str] = []
    for word in re.findall(r"[^\W\d_]+", plain):
        if unicodedata.name(word[0], "").startswith(UNSPACED):
            found += word
        elif len(set(word)) > 1 or word in ("a", "i"):
            found.append(word)
    return found


def timestamp(at_ms: int) -> str:
    """A time as ISO 8601 writes it."""
    return (
        datetime.fromtimestamp(at_ms / 1000, UTC)
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
    )
