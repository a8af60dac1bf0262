"""The effect ledger: what happens once, however often it is asked for, by whichever process.

A record goes from nothing to `started`, in the batch that starts the action, and then to what came
of it. Only what is known not to have happened starts again.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.approvals.errors import TicketError
from stanchion.approvals.questions import about_effect
from stanchion.audit.redaction import masked
from stanchion.kernel.actions import Action
from stanchion.kernel.chain import Permit
from stanchion.kernel.decision import Decision
from stanchion.kernel.engine import TRIES
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.state import CLOCK, Batch, Put, Reply, Stake, StoreLost, When, key
from stanchion.kernel.words import Words, declare
from stanchion.runtime.asides import aside
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.escalation import filed, never, write_down
from stanchion.runtime.driving.flow import Flow

EFFECT: Final = "effect `{2}`, of call `{1}`"

CODES: Final = declare(
    {
        "ledger.in_progress": Words(
            "another call of tool `{}` is already doing this",
            "wait until it is done; do not start it a second time",
            EFFECT,
        ),
        "ledger.outcome_unknown": Words(
            "another call of tool `{}` started this and never reported an outcome: it is not known "
            "whether it happened",
            "do not repeat it: report that a person has to find out whether it happened",
            f"{EFFECT}: `settle_effect` says whether it happened",
        ),
        "ledger.result_not_kept": Words(
            "another call of tool `{}` has already done this, and its result was not kept",
            "do not repeat it; check the result where it took effect",
            EFFECT,
        ),
        "ledger.other_call": Words(
            "the key of this call belongs to another call of tool `{}`, with other arguments",
            "use a separate key for everything that must happen once",
            EFFECT,
        ),
    }
)

ONCE: Final = "once"
"""The annotation of a tool each of whose calls happens once."""

STARTED, DONE, FAILED, UNKNOWN = "started", "done", "failed", "unknown"
AGAIN: Final = frozenset({FAILED})
"""States in which it is known that nothing has happened, or that it was undone."""

LEASE_MS: Final = 3_600_000
"""How long a call without a time limit counts as under way."""
MAX_RESULT: Final = 65_536
"""How many bytes of a result are kept; a longer one is not."""
MAX_PLACES: Final = 10_000
"""How many different calls a run counts; the oldest is forgotten first."""

_encode = msgspec.json.Encoder(order="deterministic").encode


class LedgerEffect(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of something that happens once. `until` is when its call should have said what
    came of it."""

    state: str
    tool: str = ""
    what: str = ""
    call: str = ""
    run: str = ""
    at: int = 0
    until: int = 0
    kept: bool = False
    result: Any = None
    by: str = ""


class LedgerPage:
    """One call's page in the ledger: which effect it is, what was found there, and whether this
    call has it."""

    __slots__ = ("effect", "id", "key", "named", "now", "ours", "tool", "version", "what")

    def __init__(self, run: RunInfo, tool: str, what: str, named: str, place: int) -> None:
        self.tool, self.what = tool, what
        self.named = named
        self.id = id_of(run, named) if named else _digest(["call", run.id, what, place])
        self.key = key(run.tenant, "effect", self.id)
        self.version, self.effect = 0, LedgerEffect("")
        self.now = 0
        self.ours = False

    @property
    def answers(self) -> bool:
        """Whether it was done before, so that its result is the answer."""
        return not self.ours and self.effect.state == DONE and self.effect.kept and self._same

    @property
    def _same(self) -> bool:
        return not self.effect.what or self.effect.what == self.what

    def look(self, desk: Desk) -> Flow[None]:
        """Read what the store has, and its time: expect what cannot be, and take what comes
        back."""
        self.ours = False
        reply: Reply = yield Batch(
            desk.new_id(), desk.info.tenant, True, ((self.key, 0, 1), (CLOCK, 0, 1))
        )
        self._found(reply)

    def _found(self, reply: Reply) -> None:
        self.now = reply.now
        self.version, self.effect = 0, LedgerEffect("")
        for fresh in reply.fresh:
            if fresh.key == self.key:
                self.version, self.effect = fresh.number, typed.convert(fresh.value, LedgerEffect)

    def against(self) -> tuple[Finding, ...]:
        """What stands against starting it; nothing where it can start, or where its result is
        known."""
        if self.answers or self.effect.state in ("", *AGAIN):
            return ()
        state, about = self.effect.state, (self.effect.tool, self.effect.call, self.id)
        if not self._same:
            code = "ledger.other_call"
        elif state == DONE:
            code = "ledger.result_not_kept"
        elif state == STARTED and self.now < self.effect.until:
            code = "ledger.in_progress"
        else:
            code = "ledger.outcome_unknown"
        return (Finding(Action.BLOCK, code, about, guard="kernel"),)

    def stakes(self, event: ToolCall, limit_s: float | None) -> tuple[Stake, ...]:
        """The record that the start of the call rests on."""
        lease = LEASE_MS if limit_s is None else int(limit_s * 1000)
        run = event.run.id
        self.effect = LedgerEffect(
            STARTED, self.tool, self.what, event.id, run, self.now, self.now + lease
        )
        return (Stake(self.key, self.version, msgspec.to_builtins(self.effect)),)

    def taken(self) -> None:
        """The stake was written: what becomes of it is this call's to say."""
        self.version += 1
        self.ours = True

    def permit(self, state: str) -> Permit:
        """How this page is put to a state by somebody who does not know whether it was begun."""
        return (self.key, partial(_put_to, state), "")

    def left(self, begun: bool) -> Permit:
        """How this page is marked where its call was left: what was begun may have happened."""
        return self.permit(UNKNOWN if begun else FAILED)

    def mark(self, desk: Desk, state: str, **more: Any) -> Flow[bool]:
        """Write down what came of it; says whether it is written. Where somebody else has settled
        it meanwhile, their word stands."""
        if not self.ours:
            return False
        effect = msgspec.structs.replace(self.effect, state=state, until=0, **more)
        put: Put = (self.key, msgspec.to_builtins(effect), When.JUDGED, 0, 0)
        expects = ((self.key, self.version, self.version + 1),)
        batch = Batch(desk.new_id(), desk.info.tenant, True, expects, puts=(put,))
        reply: Reply | None = yield from desk.shield.unsettled.send(batch)
        if reply is None:
            desk.tell(
                "the state store cannot be used: the outcome of the last call is not written there "
                "yet"
            )
            return False
        desk.shield.records.pop(self.key, None)
        if reply.stale:
            desk.tell(
                "a person has settled the outcome of the last call while it was running; what the "
                "person said is kept"
            )
            self.ours = False
            return False
        self.version, self.effect = self.version + 1, effect
        return True

    def keep(self, desk: Desk, result: Any) -> Flow[None]:
        """Keep a judged result, so that it answers whoever asks again: one that is short and has no
        secrets in it."""
        if not self.named:
            finished(desk, self.what)
        if not self.effect.kept and kept(result):
            yield from self.mark(desk, DONE, kept=True, result=result)

    def reversed(self, desk: Desk) -> Flow[None]:
        """It was undone: it can start again."""
        yield from self.mark(desk, FAILED, kept=False, result=None, by="undo")

    def moved(self, desk: Desk, what: str, limit_s: float | None) -> Flow[LedgerPage]:
        """This call's page, where it has turned out to be another call than it seemed: its
        arguments were patched.

        The new page is begun and the old one given back at once, or not at all.
        """
        if self.named or what == self.what:
            return self
        run = desk.info
        other = LedgerPage(run, self.tool, what, "", place(desk, what))
        lease = LEASE_MS if limit_s is None else int(limit_s * 1000)
        for _ in range(TRIES):
            yield from other.look(desk)
            if other.answers or other.against():
                break
            begun = msgspec.structs.replace(
                self.effect, what=what, at=other.now, until=other.now + lease
            )
            free = msgspec.structs.replace(self.effect, state=FAILED, until=0)
            puts: tuple[Put, ...] = (
                (self.key, msgspec.to_builtins(free), When.JUDGED, 0, 0),
                (other.key, msgspec.to_builtins(begun), When.JUDGED, 0, 0),
            )
            expects = tuple([(page.key, page.version, page.version + 1) for page in (self, other)])
            reply: Reply = yield Batch(desk.new_id(), run.tenant, True, expects, puts=puts)
            if not reply.stale:
                other.effect = begun
                other.taken()
                return other
        yield from self.mark(desk, FAILED)
        return other


def _put_to(state: str, value: Any, calls: frozenset[str]) -> Any:
    """A page as it is where one of those calls is left that has begun it; `None` where none has, or
    what came of it is known."""
    effect = None if value is None else typed.convert(value, LedgerEffect)
    if effect is None or effect.state != STARTED or effect.call not in calls:
        return None
    return msgspec.to_builtins(msgspec.structs.replace(effect, state=state, until=0))


def entry(desk: Desk, event: ToolCall, named: str) -> LedgerPage:
    """The page of a call: by the name its caller gave it, or as the call that it is."""
    what = what_of(event)
    return LedgerPage(desk.info, event.tool, what, named, 0 if named else place(desk, what))


def place(desk: Desk, what: str) -> int:
    """How often a run has got the result of that very call: the same call once more is another
    effect only then."""
    return desk.places.get(what, 0)


def finished(desk: Desk, what: str) -> None:
    """The run has got the result of that very call."""
    places = desk.places
    with desk.counting:
        places[what] = places.get(what, 0) + 1
        places.move_to_end(what)
        if len(places) > MAX_PLACES:
            del places[next(iter(places))]


def what_of(event: ToolCall) -> str:
    """The digest of a tool and its arguments."""
    return _digest([event.tool, event.args])


def id_of(run: RunInfo, named: str) -> str:
    """The id of an effect that a caller has named: once in a task, or in a run without one."""
    scope = ["task", run.task] if run.task else ["run", run.purse if run.purse else run.id]
    return _digest(["key", *scope, named])


def kept(result: Any) -> bool:
    """Whether a result can be kept as it is."""
    if isinstance(result, dict) and "$object" in result:
        return False
    try:
        return masked(result) is result and len(_encode(result)) <= MAX_RESULT
    except (TypeError, ValueError):
        return False


def _digest(data: Any) -> str:
    from hashlib import sha256

    return sha256(_encode(data)).hexdigest()[:32]


OUTCOME_UNKNOWN: Final = "ledger.outcome_unknown"


def is_unknown(against: tuple[Finding, ...]) -> bool:
    """Whether a call is refused because nobody knows what came of one before it."""
    return any(one.code == OUTCOME_UNKNOWN for one in against)


def ask_about(desk: Desk, page: LedgerPage, event: ToolCall, decision: Decision) -> Flow[None]:
    """Have a person asked what came of an effect. The call is refused all the same, also where
    nobody can be asked."""
    run, veil = desk.info, desk.shield.policy.veil
    effect = page.effect
    about = {"call": veil.name(effect.call), "run": veil.name(effect.run), "began_at": effect.at}
    agents = [veil.name(name) for name in (run.agent, *desk.lineage)]
    risk = event.risk.name.lower()
    wanted = about_effect(run.tenant, page.id, veil.name(effect.tool), risk, about, agents)
    life_s, batch = desk.shield.policy.file.escalation.timeout_s, f"{decision.id}.effect"
    try:
        roster = yield from desk.shield.authority.roster()
        kept = (yield from filed(desk, batch, wanted, roster, never, life_s)).kept
    except (StoreLost, TicketError) as error:
        aside(f"nobody could be asked about effect `{page.id}`", error)
        return
    if kept is not None and kept.ticket is not None:
        desk.waits_for(decision, kept.ticket.id)
        if kept.opened:
            write_down(desk, kept.ticket, decision.id)
