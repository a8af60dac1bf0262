"""What a model call may use before it is made, and what it has used afterwards."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion.kernel.events import Charge, ModelCall
from stanchion.kernel.guard import Kind
from stanchion.kernel.states import NORMAL
from stanchion.kernel.units import JUST_ONE, LARGEST, MICRO, Amounts, Unit, amounts, ceil_micro
from stanchion.policy.compiled import best
from stanchion.policy.prices.entry import PricedTokens
from stanchion.policy.prices.lookup import UnknownModel, price
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.spend import overruns, reserving, used_by

if TYPE_CHECKING:
    from stanchion.policy.prices.lookup import Price

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


def usage_of(reply: Any) -> PricedTokens | None:
    """The tokens of a call; `None` where the reply does not say what went in and what came out, or
    the sum."""
    said = _first(reply, "usage", "usage_metadata")
    prompt, plain = (
        _count(said, "prompt_tokens", "prompt_token_count"),
        _count(said, "input_tokens"),
    )
    output, total = (
        _count(said, "output_tokens", "completion_tokens", "candidates_token_count"),
        _total(said),
    )
    whole = plain if prompt is None else prompt
    if total is None and (whole is None or output is None):
        return None
    if whole is None and output is None:
        return PricedTokens(unsorted=_or_none(total))
    output = _or_none(output) + _or_none(_count(said, "thoughts_token_count"))
    details = _first(said, "prompt_tokens_details", "input_tokens_details", "input_token_details")
    usage = _cached(
        said, details, _or_none(whole), output, beside=prompt is None and details is None
    )
    missing = _or_none(total) - usage.total
    return usage if missing <= 0 else msgspec.structs.replace(usage, output=output + missing)


def _cached(said: Any, details: Any, whole: int, output: int, beside: bool) -> PricedTokens:
    """The tokens with those sorted out that a cache gave or took. Some vendors count them among the
    input, others beside it (then there are neither `prompt_tokens` nor details)."""
    read = _or_none(
        _count(details, "cached_tokens", "cache_read"),
        _count(
            said, "cache_read_input_tokens", "prompt_cache_hit_tokens", "cached_content_token_count"
        ),
    )
    wrote = _or_none(
        _count(details, "cache_write_tokens", "cache_creation"),
        _count(said, "cache_creation_input_tokens", "cache_write_input_tokens"),
    )
    if not beside:
        read = min(read, whole)
        wrote = min(wrote, whole - read)
        whole -= read + wrote
    hour = min(_or_none(_count(_first(said, "cache_creation"), "ephemeral_1h_input_tokens")), wrote)
    return PricedTokens(
        input=whole, cached=read, written=wrote - hour, written_1h=hour, output=output
    )


def cost_of(reply: Any) -> float | None:
    """What the provider itself says the call has cost, in dollars."""
    said = _first(reply, "usage", "usage_metadata")
    for value in (field(said, "cost_usd"), field(said, "cost"), field(reply, "cost_usd")):
        if type(value) in (int, float) and value >= 0 and math.isfinite(value):
            return float(value)
    return None


def field(value: Any, name: str) -> Any:
    """A field of a mapping or an object; `None` where it has none."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _total(said: Any) -> int | None:
    return _count(said, "total_tokens", "total_token_count")


def _first(value: Any, *names: str) -> Any:
    """The first of these fields that there is, under its name or as JSON of some vendors spells
    it."""
    if value is None:
        return None
    for name in _spelled(names):
        found = field(value, name)
        if found is not None:
            return found
    return None


def _count(value: Any, *names: str) -> int | None:
    """The same for a number of tokens."""
    for name in names:
        count = _first(value, name)
        if type(count) is int and count >= 0:
            return count
    return None


@cache
def _spelled(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names as they are and as some vendors spell them. They are those of this file, so they are
    few."""
    return tuple([spelling for name in names for spelling in (name, _camel(name))])


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join([word.title() for word in rest])


def _or_none(*counts: int | None) -> int:
    """The first that is known, or none at all."""
    return next((count for count in counts if count is not None), 0)


LIMITS: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens")
REPLIES: Final = ("n", "candidate_count")
TOOLS: Final = ("tools", "functions")
HOUR: Final = b'"1h"'
"""How a request asks that its prompt be cached for an hour, which costs most."""

UNLIMITED: Final = 1_024
"""How many tokens are reserved for a reply that nothing limits; a longer one is an overrun."""

REPORTED: Final = "its cost was reported by the provider"
RESERVED: Final = "its cost is the amount that was reserved: nothing else is known about it"
COST: Final = Unit.COST_MICROUSD


class Bill:
    """The account of one model call: what is reserved for it, and what it is settled with.

    Making one raises `UnknownModel` where a budget bounds the call's cost and nothing says what
    that may be, unless it need not be known yet (`must`).
    """

    def __init__(
        self,
        desk: Desk,
        event: ModelCall,
        tokens: int | None = None,
        cost_usd: float | None = None,
        must: bool = True,
    ) -> None:
        self._desk, self._tokens, self._cost_usd = desk, tokens, cost_usd
        self._counted, bounded = _measures(desk, event)
        self.prompt_tokens = 0
        """How many tokens its prompt may have, where somebody counts them."""
        known = self._price(event, must=must and COST in bounded and cost_usd is None)
        estimate = amounts(0 if tokens is None else tokens, 0.0 if cost_usd is None else cost_usd)
        if self._counted:
            bound = desk.shield.policy.bounds(event.stage, event.tool, event.run)
            limit = _reply_limit(desk, event)
            usage = _expected(event, tokens, limit, bound[Unit.TOKENS])
            self.prompt_tokens = usage.total - usage.output
            cost = (
                estimate[COST]
                if cost_usd is not None or known is None
                else known.cost_microusd(usage)
            )
            if (
                cost_usd is None
                and bound[COST]
                and (known is None or (limit is None and tokens is None))
            ):
                cost = max(cost, bound[COST])
            estimate = _amounts(usage.total, cost)
        estimate = JUST_ONE if estimate == JUST_ONE else estimate
        self.reserved = (
            reserving(desk, event, estimate, desk.time_left_s("", None))
            if desk.measures
            else estimate
        )

    def again(self, event: Any) -> Amounts:
        """What is reserved for a lesser request in the place of the first."""
        self.reserved = Bill(self._desk, event, self._tokens, self._cost_usd).reserved
        return self.reserved

    def settle(
        self, event: ModelCall, reply: Any, began_ms: int
    ) -> tuple[Amounts, tuple[str, ...]]:
        """What a call has used, and notes on it: where its cost was taken from, and what it used
        beyond what was reserved. What its reply does not say stays as it was reserved."""
        usage, stated = usage_of(reply), cost_of(reply)
        tokens = self.reserved[Unit.TOKENS] if usage is None else usage.total
        known = None if usage is None or stated is not None else self._price(event)
        if stated is not None:
            cost, origin = ceil_micro(min(stated, LARGEST / MICRO)), REPORTED
        elif usage is not None and known is not None:
            cost, origin = known.cost_microusd(usage), f"its cost is by {known.origin}"
        else:
            cost, origin = self.reserved[COST], RESERVED
        used = used_by(self._desk, self.reserved, began_ms, _amounts(tokens, cost, self.reserved))
        notes = (origin,) if COST in self._counted else ()
        return used, (*notes, *overruns(self.reserved, used))

    def _price(self, event: ModelCall, must: bool = False) -> Price | None:
        """What the call's model charges; `None` where nobody asks, or where it is not known and
        need not be."""
        if COST not in self._counted:
            return None

        named = event.params.get("model") if not event.model else event.model
        try:
            return price(self._desk.shield.policy, named if isinstance(named, str) else "")
        except UnknownModel:
            if must:
                raise
            return None


def _measures(desk: Desk, event: ModelCall) -> tuple[frozenset[int], frozenset[int]]:
    """Which of tokens and cost the guards of this call count, and which of them they bound in
    earnest."""
    plan = desk.plans.of((event, Charge(id=event.id, at=event.at, run=event.run)), NORMAL)
    both = frozenset({Unit.TOKENS, COST})
    if any(
        at and placed.kind is not Kind.METER
        for at, placed in zip(plan.event_of, plan.guards, strict=True)
    ):
        counted = both
    else:
        counted = both & {line.unit for line in plan.lines}
    return counted, both & {line.unit for line in plan.lines if not line.shadow}


def estimated(desk: Desk, event: ModelCall, said: Amounts, named: frozenset[Unit]) -> Amounts:
    """What a model call reserves that a host makes itself: what it says, and of the rest the most
    that is expected."""
    tokens = said[Unit.TOKENS] if Unit.TOKENS in named else None
    cost_usd = said[COST] / MICRO if COST in named else None
    expected = Bill(desk, event, tokens, cost_usd, must=False).reserved
    one, *rest = [
        said[unit] if unit in named or unit is Unit.ONE else expected[unit] for unit in Unit
    ]
    used, cost, api_calls, working = rest
    reserved = (one, used, cost, api_calls, working)
    return JUST_ONE if reserved == JUST_ONE else reserved


def _reply_limit(desk: Desk, event: ModelCall) -> int | None:
    """How many tokens a reply has at the most, by the request or by what the policy says of the
    model; `None` where neither says it."""
    limits = [
        limit for name in LIMITS if type(limit := event.params.get(name)) is int and limit >= 0
    ]
    if limits:
        return max(limits)
    named = event.params.get("model") if not event.model else event.model
    entry = best(desk.shield.policy.file.prices, named) if isinstance(named, str) else None
    return None if entry is None else entry.max_output_tokens


def _expected(event: ModelCall, tokens: int | None, limit: int | None, bound: int) -> PricedTokens:
    """The most tokens that a call is expected to take; all of its prompt may be written to a cache.
    A reply that nothing limits takes what is left of `bound`, where a budget has one."""
    body = msgspec.json.encode([event.messages, event.params])
    prompt = prompt_tokens(body, len(event.messages), any(event.params.get(name) for name in TOOLS))
    times = [
        count for name in REPLIES if type(count := event.params.get(name)) is int and count > 0
    ]
    reply = (UNLIMITED if limit is None else limit) * max(times, default=1)
    if limit is None and bound:
        reply = max(bound - prompt, 0)
    if tokens is not None:
        prompt = min(prompt, tokens)
        reply = tokens - prompt
    return (
        PricedTokens(written_1h=prompt, output=reply)
        if HOUR in body
        else PricedTokens(written=prompt, output=reply)
    )


def _amounts(tokens: int, cost_microusd: int, rest: Amounts = JUST_ONE) -> Amounts:
    """So many tokens and so much money, what else there is as in `rest`; more than can be counted
    is the most that can."""
    return (rest[0], min(tokens, LARGEST - 1), min(cost_microusd, LARGEST - 1), *rest[3:])
