"""The pipeline: four boundaries, each judged by Stanchion under the policy that the hooks amount
to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Final

from stanchion.dialects.errors import DialectError, check_options, load_shield
from stanchion.dialects.veronica.carried import (
    BOUNDARIES,
    CallerObjects,
    CarriedHooks,
    FamilySteps,
    Stated,
    checked,
    given_to_hooks,
    listed,
)
from stanchion.dialects.veronica.dispatched import beside, metadata_of
from stanchion.dialects.veronica.words import (
    Decision,
    ToolCallContext,
    dollars,
    flag,
    http_method,
    several,
    spoken,
    web_address,
)
from stanchion.guards.egress.places import places
from stanchion.kernel.decision import Decision as Judged
from stanchion.kernel.stages import Stage
from stanchion.policy.errors import PolicyError
from stanchion.policy.formats.veronica import MOST, READERS
from stanchion.runtime.calling.report_methods import judging
from stanchion.runtime.calling.reports import BadEvent
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.twins import twins
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.options import ShieldOptions
from stanchion.runtime.run import Run
from stanchion.runtime.standing.places import MEMORY
from stanchion.runtime.standing.states import asked_for_safe_mode
from stanchion.runtime.values import Unreadable, project

JUDGED: Final = ("warn", "redact", "retry")
"""What the pipeline's own run can carry out: whoever asks a boundary is told at once, and waits for
nothing."""
BLIND: Final = frozenset({"budget", "breaker", "error_rate", "recovery", "safe_mode", "step_limit"})
"""Guards that read nothing of what a call says: with no others, a call goes on whatever its
metadata are."""
UNCOUNTED: Final = (BLIND - {"budget"}) | READERS
"""Guards that look at no amounts: with no others, an amount can be too large to be counted."""
UNCHARGED: Final[dict[str, Any]] = {"tokens": 0, "cost_usd": 0.0, "api_calls": 0}
"""What is said of a call that is charged at the budget boundary, and nowhere else."""
COMES_FROM: Final = {
    "secret-guard": "secret_guard.patterns",
    "egress-allowlist": "egress.allowed_hosts",
}
"""Which option a guard is made of, where one is."""
SENT: Final = "POST"
"""The method of a request to a model."""
BRAKE: Final = "STANCHION_SAFE_MODE"
OPTIONS: Final = (
    *[name for name in ShieldOptions.__annotations__ if name not in ("guards", "safe_mode")],
    *("store", "journal", "project", "clock", "env", "notify"),
)
"""Options of `Shield.load` that are passed on; its guards and its brake come from hooks and
configuration."""


class ShieldBlockedError(Exception):
    """For callers who want an exception where something was refused. Nothing here raises it."""

    def __init__(self, decision: Decision, reason: str = "", request_id: str | None = None) -> None:
        super().__init__(reason if reason else f"the shield answers {decision}")
        self.decision = decision
        self.reason = reason
        self.request_id = request_id

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.decision, self.reason, self.request_id)


class ShieldPipeline:
    """Has every hook asked, and says what they come to: ALLOW where none has an opinion.

    Each boundary takes a hook, or several: those that are shipped, and any objects with the right
    method. `policy` adds what the dialect has no word for, in Stanchion's own (`guards`, `tools`,
    `degrade` …). State and records are kept in memory unless `store` and `journal` say otherwise;
    other options are those of `Shield.load`. By `core` an integration hands in the limits of its
    steps.
    """

    def __init__(
        self,
        pre_dispatch: Any = None,
        egress: Any = None,
        retry: Any = None,
        budget: Any = None,
        *,
        policy: Mapping[str, Any] | None = None,
        safe_mode: bool = False,
        core: Sequence[FamilySteps] = (),
        **options: Any,
    ) -> None:
        check_options(options, OPTIONS, type(self).__name__)
        more = policy_checked(policy)
        flag("safe_mode", safe_mode)
        if not isinstance(core, list | tuple) or not all(
            isinstance(one, FamilySteps) for one in core
        ):
            raise DialectError(
                "`core` bounds the calls of an integration: give it to `VeronicaIntegration`"
            )
        given = {"pre_dispatch": pre_dispatch, "egress": egress, "retry": retry, "budget": budget}
        slots = {name: listed(name, hooks) for name, hooks in given.items()}
        self.policy = policy_of(slots, more)
        own = [
            CarriedHooks(name, own)
            for name, hooks in slots.items()
            if (own := [hook for hook in hooks if not isinstance(hook, Stated)])
        ]
        brake = safe_mode or asked_for_safe_mode({BRAKE: os.environ.get(BRAKE, "")})
        kept = {"store": MEMORY, "journal": MEMORY, **resolver_of(slots), **options}
        try:
            self.shield = load_shield(self.policy, guards=[*core, *own], safe_mode=brake, **kept)
        except PolicyError as error:
            raise DialectError(in_words(error, self.policy["guards"])) from None
        self.run: Run = self.shield.run("veronica", can=JUDGED)
        self._desk: Desk = self.run.desk
        self._carries = bool(own)
        self.is_blind = all(entry.get("use") in BLIND for entry in self.policy["guards"])
        self.is_counted = bool(slots["budget"]) or any(
            entry.get("use") not in UNCOUNTED for entry in self.policy["guards"]
        )
        self._judges_requests = bool(slots["egress"]) or _reads(self.policy["guards"])

    def _before_llm_call(self, ctx: ToolCallContext) -> Flow[Decision]:
        """Judge a call of a tool, or of a model where `ctx.tool_name` is None; the metadata are its
        arguments."""
        with self._asking(ctx):
            said = beside(ctx, blind=self.is_blind)
            if ctx.tool_name is not None:
                return spoken(
                    (
                        yield from self._judged(
                            Stage.TOOL_CALL, tool=ctx.tool_name, args=said, **UNCHARGED
                        )
                    )
                )
            if not self.is_blind and not _readable(said):
                return Decision.HALT
            for url in self.destinations(said):
                leaving = spoken(
                    (yield from self._judged(Stage.EGRESS, url=url, method=SENT, payload=said))
                )
                if leaving is not Decision.ALLOW:
                    return leaving
            about = {"messages": [], "model": or_empty(ctx.model), "params": said}
            return spoken((yield from self._judged(Stage.MODEL_CALL, **about, **UNCHARGED)))

    before_llm_call, abefore_llm_call = twins(_before_llm_call)

    def _before_egress(self, ctx: ToolCallContext, url: str, method: str) -> Flow[Decision]:
        """Judge a request that is about to leave; the metadata are its payload."""
        web_address(url)
        http_method(method)
        with self._asking(ctx):
            payload = metadata_of(ctx, self.is_blind)
            about = {"payload": payload, "tool": or_empty(ctx.tool_name)}
            if not self.is_blind and not _readable(payload):
                return Decision.HALT
            return spoken((yield from self._judged(Stage.EGRESS, url=url, method=method, **about)))

    before_egress, abefore_egress = twins(_before_egress)

    def _on_error(self, ctx: ToolCallContext, err: BaseException) -> Flow[Decision]:
        """Judge an exception of a call: RETRY, HALT, or ALLOW where nobody has anything against
        another attempt."""
        if not isinstance(err, BaseException):
            raise DialectError(
                f"`err` is of the type `{type(err).__name__}`: give the exception itself"
            )
        with self._asking(ctx, err):
            return (yield from self._came(Stage.ERROR, ctx, error=err))

    on_error, aon_error = twins(_on_error)

    def _before_charge(self, ctx: ToolCallContext, cost_usd: float) -> Flow[Decision]:
        """Judge a cost, with the tokens of the context, and book it where nothing is against it."""
        with self._asking(ctx):
            about = {
                **charged(ctx, dollars("`cost_usd`", cost_usd, self.is_counted), self.is_counted)
            }
            about["tool"] = or_empty(ctx.tool_name)
            return spoken((yield from self._judged(Stage.CHARGE, **about)))

    before_charge, abefore_charge = twins(_before_charge)

    def _on_result(self, ctx: ToolCallContext, result: Any = None) -> Flow[Decision]:
        """Say that a call went well, which closes what its failures have opened."""
        with self._asking(ctx):
            if ctx.tool_name is not None:
                return (yield from self._came(Stage.TOOL_RESULT, ctx, result=result))
            reply = result if isinstance(result, str) else ""
            return (
                yield from self._came(Stage.MODEL_REPLY, ctx, text=reply, model=or_empty(ctx.model))
            )

    on_result, aon_result = twins(_on_result)

    def _came(self, stage: Stage, ctx: ToolCallContext, **what: Any) -> Flow[Decision]:
        """Judge what came of a call. It has happened and counts, without metadata that cannot be
        read."""
        said = beside(ctx, blind=self.is_blind)
        legible = self.is_blind or _readable(said)
        if stage is not Stage.MODEL_REPLY:
            what |= {"tool": or_empty(ctx.tool_name), "args": said if legible else {}}
        decision = spoken((yield from self._judged(stage, **what)))
        return decision if legible else Decision.HALT

    def _judged(self, stage: Stage, **fields: Any) -> Flow[Judged]:
        return judging(self.run, stage, fields)

    def destinations(self, said: dict[str, Any]) -> list[str]:
        """Where a request to a model goes by what is said of it, if anybody here judges requests;
        `Unreadable` where nobody can tell, because it holds itself or is too deep."""
        return (
            [place.url for place in places(project(said)) if place.sure]
            if self._judges_requests
            else []
        )

    def close(self) -> None:
        """Let go of files and connections."""
        self.run.close()
        self.shield.close()

    @contextmanager
    def _asking(self, ctx: ToolCallContext, err: BaseException | None = None) -> Iterator[None]:
        """Hooks of the user's own are given these very objects; what cannot be judged is a
        `DialectError`."""
        context_checked(ctx)
        try:
            with given_to_hooks(CallerObjects(ctx, err)) if self._carries else nullcontext():
                yield
        except BadEvent as error:
            raise DialectError(f"the context cannot be judged: {error}") from None


def _readable(said: dict[str, Any]) -> bool:
    """Whether metadata can be read: if not, every boundary answers HALT, whatever is called."""
    try:
        project(said)
    except Unreadable:
        return False
    return True


def policy_checked(policy: Mapping[str, Any] | None) -> dict[str, Any]:
    """What is said in Stanchion's own words beside hooks; `DialectError` where it is no mapping."""
    if policy is not None and not isinstance(policy, Mapping):
        raise DialectError(
            f"`policy` is of the type `{type(policy).__name__}`: give a mapping, as of a "
            f"policy file"
        )
    return {} if policy is None else dict(policy)


def in_words(error: PolicyError, guards: list[dict[str, Any]]) -> str:
    """What is wrong with a policy, in one line; guards are called by their ids, which say what they
    come from."""
    said = " ".join(str(error).splitlines()[0].split()).removeprefix("policy: ")
    for number, guard in enumerate(guards):
        said = said.replace(
            f"guards[{number}]", f"`{_word(str(guard.get('id', guard.get('use'))))}`"
        )
    return f"the shield cannot be made: {said}"


def _word(guard: str) -> str:
    """What a guard comes from, in the dialect's own word."""
    return next((word for begin, word in COMES_FROM.items() if guard.startswith(begin)), guard)


def context_checked(ctx: Any) -> ToolCallContext:
    """A context that is one; `DialectError` otherwise."""
    if type(ctx) is not ToolCallContext:
        raise DialectError(f"`ctx` is of the type `{type(ctx).__name__}`: give a `ToolCallContext`")
    return ctx


def charged(ctx: ToolCallContext, cost_usd: float | None, counted: bool) -> dict[str, Any]:
    """What one call amounts to: its tokens in both directions, its cost, and one call. Where nobody
    has it `counted`, what is too large for that stops nothing, and is written down as the largest
    that can be."""
    tokens = _or_zero(ctx.tokens_in) + _or_zero(ctx.tokens_out)
    if tokens > MOST and counted:
        raise DialectError(
            f"`tokens_in` and `tokens_out` are more than can be counted: give {MOST:,} or less"
        )
    cost = 0.0 if cost_usd is None else dollars("`cost_usd`", cost_usd, counted)
    return {"tokens": min(tokens, MOST), "cost_usd": cost, "api_calls": 1}


def policy_of(slots: Mapping[str, Iterable[Any]], more: Mapping[str, Any]) -> dict[str, Any]:
    """The policy that hooks amount to, with what is said beside them."""
    entries: list[dict[str, Any]] = []
    for boundary, hooks in slots.items():
        for hook in hooks:
            checked(boundary, hook, BOUNDARIES[boundary][0])
            if isinstance(hook, Stated):
                entries += hook.entries(boundary)
    guards = [*entries, *guards_of(more)]
    return {
        "name": "veronica",
        **({} if _reads(guards) else {"unread": "allow"}),
        **more,
        "guards": numbered(guards),
    }


def guards_of(policy: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """The guards that a policy states beside hooks."""
    guards = several(
        "policy.guards", policy.get("guards", ()), "a list of guards, as of a policy file"
    )
    for entry in guards:
        if not isinstance(entry, Mapping):
            raise DialectError(
                f"`policy.guards` has a `{type(entry).__name__}`: give a mapping, as `use: "
                f"size_limits`"
            )
    return guards


def _reads(guards: Iterable[Mapping[str, Any]]) -> bool:
    return any(entry.get("use") in READERS for entry in guards)


def resolver_of(slots: Mapping[str, Iterable[Any]]) -> dict[str, Any]:
    """What names of hosts are looked up with, where a shipped hook says so."""
    found = [
        hook.resolver for hooks in slots.values() for hook in hooks if isinstance(hook, Stated)
    ]
    given = list(dict.fromkeys([one for one in found if one is not None]))
    if len(given) > 1:
        raise DialectError(
            "two hooks have a `resolver` each, and a shield has one: give both the same"
        )
    return {"resolver": given[0]} if given else {}


def numbered(entries: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same guards, where a second of the same id has a number."""
    seen: dict[str, int] = {}
    made = []
    for entry in entries:
        given = dict(entry)
        name = given.get("id")
        if name is not None:
            seen[name] = seen.get(name, 0) + 1
            given["id"] = name if seen[name] == 1 else f"{name}-{seen[name]}"
        made.append(given)
    return made


def or_empty(text: str | None) -> str:
    """A text; an empty one where there is none."""
    return "" if text is None else text


def _or_zero(number: int | None) -> int:
    return 0 if number is None else number
