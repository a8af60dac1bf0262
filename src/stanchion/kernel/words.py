"""Codes and their words: a finding carries a code and arguments, the text is made when somebody
reads it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import count
from typing import Final

import msgspec

from stanchion.kernel.regex import regex
from stanchion.kernel.shown import visible


class Words(msgspec.Struct, frozen=True, gc=False):
    """What a code says: to the agent why, and what to do instead; in `detail` to people alone what
    the agent has no use for, or could use to help itself: ids, commands, places, names. `asked` is
    what to do where a person is asked, if that is something else.

    `{}` takes the finding's arguments in order, `{2}` the one with that number, counted from 0.
    """

    message: str
    advice: str = ""
    detail: str = ""
    asked: str = ""


PLACE: Final = regex(r"\{([0-9]?)\}")
"""Where an argument stands in a template."""


_table: dict[str, Words] = {}


def declare(codes: Mapping[str, Words]) -> Mapping[str, Words]:
    """Enter a module's codes into the one table; a code that means something else already is an
    error."""
    for code, words in codes.items():
        known = _table.setdefault(code, words)
        if known != words:
            raise ValueError(
                f"code `{code}` is taken: codes are never reused, choose another `area.reason`"
            )
    return codes


def declared() -> Mapping[str, Words]:
    """All codes known so far."""
    return dict(_table)


def is_declared(code: str) -> bool:
    """Whether a code has words of its own."""
    return code in _table


def say(template: str, args: tuple[object, ...]) -> str:
    """Fill a template's places; a missing argument leaves its place visible, never an error."""
    if not args or "{" not in template:
        return template
    order = count()

    def filled(place: re.Match[str]) -> str:
        at = int(place[1]) if place[1] else next(order)
        return visible(str(args[at])) if at < len(args) else place[0]

    return PLACE.sub(filled, template)


def message_of(code: str, args: tuple[object, ...]) -> str:
    """The message of a code, or the bare code where nobody declared words for it."""
    words = _table.get(code)
    return say(words.message, args) if words else code


def advice_of(code: str, args: tuple[object, ...], asked: bool = False) -> str:
    """The advice of a code, or what to do where a person is `asked`; empty where there is none."""
    words = _table.get(code)
    if words is None:
        return ""
    return say(words.asked if asked and words.asked else words.advice, args)


def detail_of(code: str, args: tuple[object, ...]) -> str:
    """What people read of a code beside its message, and no agent does; empty where there is
    nothing more to know."""
    words = _table.get(code)
    return say(words.detail, args) if words else ""


KERNEL: Final = declare(
    {
        "kernel.guard_error": Words(
            "guard `{}` failed with `{}`, so it is refused",
            "report the failing guard to whoever maintains the policy; do not repeat the action",
        ),
        "kernel.lookup_expired": Words(
            "guard `{}` got no answer in time, so it is refused",
            "try again later, or choose an action that does not need this check",
        ),
        "kernel.lookup_failed": Words(
            "guard `{}` failed with `{}`, so it is refused",
            "try again later, or choose an action that does not need this check",
        ),
        "kernel.lookup_late": Words(
            "guard `{}` is late; the action goes ahead, and its answer applies to the next event"
        ),
        "kernel.lookup_undecided": Words(
            "guard `{}` got no answer in time, so a person has to say whether it goes ahead",
            "wait for the answer, or choose an action that does not need this check",
        ),
        "kernel.store_lost": Words(
            "the state store cannot be used, so nothing can be counted",
            "wait until the store is back, then try again",
            "{}",
        ),
        "kernel.crowded": Words(
            "{} others wait for the state store, and this has waited {} s, so the action is "
            "refused",
            "try again in a moment",
            "{2}",
        ),
        "kernel.store_forgot": Words(
            "the state store has lost its contents, including halts, budgets and approvals, so "
            "only reads go ahead",
            "stop, and report it: a person has to look at the store before anything else goes "
            "ahead",
            "`stanchion state accept` or `stanchion state accept --restored` lets it go on",
        ),
        "kernel.audit_lost": Words(
            "the audit trail cannot be written; nothing happens unrecorded, so the action is "
            "refused",
            "wait until the trail can be written again, then try again",
            "{}",
        ),
        "kernel.shield_closed": Words(
            "what judges this was closed, so nothing can go ahead here any more",
            "report that the program has closed its shield; trying again changes nothing",
        ),
        "kernel.done_unrecorded": Words(
            "the audit trail cannot be written, so its record is not safe yet",
            "go on with something else: its record is written as soon as the trail can be",
            "{}",
        ),
        "kernel.done_unsettled": Words(
            "the state store cannot be used, so it is not settled yet",
            "go on with something else: it is settled as soon as the store is back",
            "{}",
        ),
        "kernel.done_unjudged": Words(
            "its result could not be judged",
            "report it, so that a person can check the result",
            "{}",
        ),
        "kernel.contention": Words(
            "the state changed {} times while this was judged, so the action is refused",
            "try again in a moment",
        ),
        "kernel.patch_failed": Words(
            "the redaction of guard `{}` does not fit the content, so it is refused",
            "report the guard to whoever maintains the policy",
        ),
        "kernel.third_warning": Words(
            "guard `{}` has now warned {} times in this task; a person has to look at it",
            "stop what causes the warnings, or ask for approval",
        ),
        "kernel.taken": Words(
            "something that this action depends on was used or changed in the meantime, so it does "
            "not start",
            "check what has changed before you try again",
        ),
        "kernel.lapsed": Words(
            "this was allowed, but its process was suspended before it began: what it depends on "
            "may have been used since, so it does not start",
            "try again: it is judged again",
        ),
        "kernel.cancelled": Words("the run was cancelled: {}", "stop working on this task"),
        "kernel.ended": Words(
            "the run has ended: {}", "stop: nothing in this run goes ahead any more"
        ),
        "kernel.paused": Words(
            "this run waits until a person has answered a question about it",
            "wait for the answer, then go on",
            "ticket `{}` is open",
        ),
        "strikes.reached": Words(
            "guard `{}` has given {} {} strikes",
            "stop what you are doing, and wait for a person to look at it",
        ),
        "kernel.halted": Words(
            "{2} is halted: {1}",
            "do not go on with it, and report that a person has to let it go on",
            "`{0}` is halted",
        ),
        "kernel.quarantined": Words(
            "{1} is quarantined",
            "use something else until the quarantine ends; others are not affected",
            "`{0}` is quarantined",
        ),
        "kernel.late_answer": Words("a late answer from guard `{}` about an earlier event: {}"),
        "kernel.exhausted": Words(
            "a budget of this run is used up, so nothing new begins",
            "report what is done so far, or ask for a larger budget",
        ),
        "kernel.approval": Words(
            "the risk level of this run is `{}`: a person has to say yes to every action",
            "wait for the answer and repeat the same action; meanwhile prepare what needs none",
        ),
        "kernel.deadline": Words(
            "the run's deadline has passed", "stop working on this task; report what is done so far"
        ),
        "kernel.no_lesser": Words(
            "a lesser request is required, but the policy defines none for this one, so it is "
            "refused",
            "go on without it, or report that the policy defines no lesser request",
        ),
        "kernel.too_large": Words(
            "it has more than {} characters: that is more than any guard reads, so it is refused "
            "unread",
            "send less: a part, a summary or a reference",
        ),
        "kernel.too_dense": Words(
            "guard `{}` would have to look closely at more than {} places of it: that is more than "
            "its length allows, so it is refused unread",
            "send less: a part, a summary or a reference",
        ),
        "kernel.bad_event": Words(
            "the event cannot be read: {}",
            "send the event again with the fields that its stage requires",
        ),
    }
)
