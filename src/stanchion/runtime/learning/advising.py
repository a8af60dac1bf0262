"""Advising: what is known of a run's tools becomes words, by the policy's style or by a program's
own resolver."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from stanchion.experience.advice_context import AdviceContext, advice_context, ever_shorter, fitting
from stanchion.experience.guidance import NOTHING, CallBeside, Guidance, guidance_of
from stanchion.experience.incident import DAY_MS
from stanchion.experience.styles import AdviceCache, AdviceStats, StyleName, advice_in, unsteady
from stanchion.experience.tally import Known, reliability_of
from stanchion.kernel.events import ToolCall
from stanchion.kernel.regex import regex
from stanchion.kernel.shown import visible
from stanchion.locks import Lock
from stanchion.locks.forks import tell_of_forks
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.learning.methods import context_for, context_of
from stanchion.runtime.learning.redacted import kept_args, kept_name
from stanchion.telemetry import loggers

if TYPE_CHECKING:
    from stanchion.kernel.decision import Decision
    from stanchion.runtime.deciding.desk import Desk

Resolver = Callable[[AdviceContext], str]
"""A program's own words for what is known; an empty text says nothing."""

MOST_TOOLS: Final = 16
"""How many tools of a run are looked at, those that were used last."""
MOST_CHARS: Final = 4_000
"""How long a resolver's answer may be."""
PICTURE: Final = regex("(?<=[\u203c-\u2bff\u3030-\u3299\U0001f000-\U0001faff])\ufe0f")
"""The mark after a sign that has it shown in colour: the one mark that cannot be seen and hides
nothing."""
ADVISER: Final = "_adviser"


class AdviceTexts(Protocol):
    """Keeps texts of advice for a program, where this process's own cache is not to."""

    def get(self, key: str) -> str | None:
        """A text by its key; `None` where there is none."""

    def put(self, key: str, text: str) -> None:
        """Keep a text."""


class Adviser:
    """Words advice for the runs of a shield. Safe between threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._cache: Final = AdviceCache()
        self._failures = 0
        self.resolver: Resolver | None = None
        self.texts: AdviceTexts | None = None
        tell_of_forks(self)

    def forked(self) -> None:
        """In a forked process: nobody is left who could hold the lock."""
        self._lock = Lock()

    def words(self, style: StyleName, context: AdviceContext) -> str:
        """Advice by the resolver, and in the style where there is none or its answer cannot be
        used."""
        if self.resolver is not None:
            own = self._resolved(self.resolver, context)
            if own is not None:
                return own
        if self.texts is not None:
            return self._elsewhere(self.texts, style, context)
        with self._lock:
            return self._cache.advice(style, context)

    def _elsewhere(self, texts: AdviceTexts, style: StyleName, context: AdviceContext) -> str:
        key = f"{style}:{sha256(msgspec.json.encode(context)).hexdigest()}"
        kept = texts.get(key)
        known = kept is not None and len(kept) <= MOST_CHARS
        with self._lock:
            self._cache.asked(known)
        if kept is not None and known:
            return kept
        said = advice_in(style, context)
        texts.put(key, said)
        return said

    def stats(self) -> AdviceStats:
        """How often advice was at hand, and how often the resolver failed."""
        with self._lock:
            return self._cache.stats(self._failures)

    def _resolved(self, resolver: Resolver, context: AdviceContext) -> str | None:
        try:
            said: object = resolver(context)
            why = (
                ""
                if isinstance(said, str) and len(said) <= MOST_CHARS
                else f"gave `{type(said).__name__}`"
            )
        except Exception as error:  # noqa: BLE001 - it is a program's own code, and advice must not fail for it
            said, why = "", f"raised `{type(error).__name__}`"
        if not why:
            return "\ufe0f".join([visible(part, lines=True) for part in PICTURE.split(str(said))])
        with self._lock:
            self._failures += 1
            first = self._failures == 1
        if first:
            loggers.say(
                loggers.TELEMETRY, loggers.WARNING, "the resolver of advice cannot be used", why=why
            )
        return None


def adviser_of(shield: Any) -> Adviser:
    """The adviser of a shield, made when it is first needed."""
    kept: Adviser | None = shield.__dict__.get(ADVISER)
    return shield.__dict__.setdefault(ADVISER, Adviser()) if kept is None else kept


def advise_with(shield: Any, resolver: Resolver | None) -> None:
    """Have a function of one's own word advice: it is given what is known (`AdviceContext`) and
    gives a text, empty where there is nothing to say. Where it raises or gives something else, the
    policy's style is used, and `advice_stats().resolver_failures` counts it. `None` takes it
    away."""
    if resolver is not None and not callable(resolver):
        raise TypeError(
            f"the resolver is `{type(resolver).__name__}`: give a function of an `AdviceContext`, "
            f"or None"
        )
    adviser_of(shield).resolver = resolver


def advice_stats(shield: Any) -> AdviceStats:
    """How often advice was at hand and how often it was worded, and how often a resolver failed."""
    return adviser_of(shield).stats()


def advice_on(desk: Desk, tool: str, args: dict[str, Any]) -> Flow[str]:
    """Advice about a call: what is known of its tool, and how it differs from one that worked."""
    shield: Any = desk.shield
    adviser = adviser_of(shield)
    context = _at_once(desk, tool) if adviser.resolver is None and shield.policy.learns else None
    if context is None:
        context = yield from context_of(desk, tool, args)
    return adviser.words(shield.policy.file.advice.style, context)


def _at_once(desk: Desk, tool: str) -> AdviceContext | None:
    """What there is to say of a tool that has not failed in this run: how it works in all. That
    needs no arguments, and nothing is redacted for it. `None` where more has to be looked at."""
    shield: Any = desk.shield
    keeper, plans = shield.experience, desk.plans
    if keeper.failing(desk.info, plans, tool):
        return None
    name = kept_name(plans, tool)
    tier = shield.policy.file.experience.tier
    known = keeper.at_hand(tier, kept_name(plans, desk.info.tenant), name, lately=False)
    if known is None:
        return None
    reliability = reliability_of(name, known.tally, shield.clock() // DAY_MS)
    return AdviceContext(visible(name), tool_reliability=reliability.rate, reliability=reliability)


def awareness(desk: Desk, tokens: int | None, count: Callable[[str], int]) -> Flow[str]:
    """What a run should know of its tools: what has failed, the most often first, and what is
    unsteady. `count` says how many tokens a text has at the most."""
    shield: Any = desk.shield
    said = shield.policy.file.advice
    most = said.tokens if tokens is None else tokens
    if most < 1:
        raise ValueError(f"tokens is `{most}`: give a positive number of tokens")
    if not shield.policy.learns:
        return ""
    keeper, whose = shield.experience, _whose(desk)
    contexts = []
    for tool in keeper.tools(*whose)[: -MOST_TOOLS - 1 : -1]:
        met = keeper.session(*whose, tool)
        contexts.append((yield from context_for(desk, tool, {} if met.bad is None else met.bad)))
    known = [one for one in contexts if one.failure_count or unsteady(one) is not None]
    known.sort(key=lambda one: -one.failure_count)
    adviser = adviser_of(shield)
    words = ((adviser.words(said.style, one) for one in ever_shorter(context)) for context in known)
    return fitting(words, most, count)


def guidance(desk: Desk, decision: Decision) -> Guidance:
    """What whoever was refused can do about it. Nothing is asked of the store for it."""
    return guidance_of(decision, beside(desk, decision) if desk.shield.policy.advises else NOTHING)


def beside(desk: Desk, decision: Decision) -> CallBeside:
    """What is known beside a decision that refused a call of this run: by the policy, and from
    memory."""
    refused = desk.last_refused
    if refused is None or refused[1].id != decision.id or not isinstance(refused[0], ToolCall):
        return NOTHING
    event, policy = refused[0], desk.shield.policy
    entry = policy.tool(event.tool)
    named = (
        () if entry is None else tuple([tool for tool in entry.alternatives if tool != event.tool])
    )
    return CallBeside(named, _remembered(desk, event).similar_success if policy.learns else None)


def _remembered(desk: Desk, event: ToolCall) -> AdviceContext:
    """What is known of a call without asking the store."""
    shield: Any = desk.shield
    keeper, plans, whose = shield.experience, desk.plans, _whose(desk)
    name = kept_name(plans, event.tool)
    met = keeper.session(*whose, name)
    known = keeper.at_hand(shield.policy.file.experience.tier, whose[0], name)
    args, _ = kept_args(plans, event.tool, event.args)
    return advice_context(
        name, args, met, Known() if known is None else known, shield.clock() // DAY_MS
    )


def _whose(desk: Desk) -> tuple[str, str]:
    """The tenant and the run, as experience knows them."""
    return kept_name(desk.plans, desk.info.tenant), kept_name(desk.plans, desk.info.id)
