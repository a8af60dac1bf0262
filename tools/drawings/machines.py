"""The state machines of Stanchion: the shield's from its own table, the others found by playing
real shields."""

import contextlib
from collections.abc import Callable
from functools import cache

from stanchion import Refused
from stanchion.approvals.errors import AnswerRefused, TicketClosed
from stanchion.approvals.words import EXPIRED
from stanchion.kernel.states import EDGES, STATES
from stanchion.ops.views.standing import tools
from stanchion.runtime.standing.states import shown
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, ScriptedTool, shield_for
from tools.drawings.exploring import explored
from tools.drawings.machine import Machine, Step, joined

HOUR = 3_600_000
AGAIN, PASSES = "the agent makes the same call again", "its time passes"
LATER = f"{PASSES}, and {AGAIN}"
"""Where neither alone changes anything."""


def shield_states() -> Machine:
    """The states of a shield, and of every tool, agent and run in it, as the kernel's table has
    them."""
    steps = tuple([Step(_words(edge.start), _words(edge.end), edge.means) for edge in EDGES])
    says = "A fleet, a tenant, a tool, an agent and a run are each in one of five."
    return Machine("The states of a shield", says, tuple(map(_words, STATES)), steps)


def _words(state: str) -> str:
    return shown(state).replace("_", " ")


class _Called:
    """A tool behind a breaker that two failures open, and that two probes close."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = MemoryStore(self.clock)
        guard = {
            "use": "breaker",
            "failure_threshold": 2,
            "successes": 2,
            "cooldown_s": 60,
        }
        shield = shield_for({"name": "p", "guards": [guard]}, clock=self.clock, store=self.store)
        self.shield, self.run, self.call = shield, shield.run("bot", id="r"), ""

    def begin(self) -> None:
        """A call begins, where it is not refused; its outcome comes later."""
        made = self.run.check("pay", {})
        self.call = made.id if made.proceeds else self.call

    def fail_often(self) -> None:
        """Calls that nobody has asked about fail one after the other."""
        for _ in range(2):
            self.run.error("pay", ConnectionError("no route to host"), call="another")

    def fail(self) -> None:
        """The call that is under way fails."""
        self.run.error(
            "pay", ConnectionError("no route to host"), call=self.call if self.call else None
        )

    def work(self) -> None:
        """The call that is under way works."""
        self.run.result("pay", {}, "paid", call=self.call if self.call else None)

    def work_twice(self) -> None:
        """It works, and so does the next one."""
        self.work()
        self.begin()
        self.work()

    def state(self) -> str:
        """How the breaker is seen by operators; a probe under way is told apart."""
        found = [one for tool in tools(self.store, self.clock()) for one in tool.breakers]
        if not found:
            return "closed"
        return "probing" if found[0].probing else found[0].state.replace("_", "-")


@cache
def breaker() -> Machine:
    """The states of a breaker."""
    moves: dict[str, Callable[[_Called], object]] = {
        "failures in a row reach failure_threshold": _Called.fail_often,
        "a call begins": _Called.begin,
        "it fails": _Called.fail,
        "it works": _Called.work,
        "it works, and is the last of successes": _Called.work_twice,
        "time passes": lambda one: one.clock.advance(HOUR),
        "an operator resets it": lambda one: one.shield.reset_tool("pay", by="ann"),
    }
    steps = joined(explored(_Called, moves, _Called.state))
    states = ("closed", "open", "half-open", "probing")
    return Machine(
        "The states of a breaker",
        "Found by playing calls of a tool. While it is probing, one call is under way.",
        states,
        steps,
    )


class _Asked:
    """A call that waits for a person, with its ticket."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        asks = {"use": "tool_denylist", "tools": ["pay"], "action": "escalate"}
        policy = {"name": "p", "guards": [asks], "escalation": {"timeout_s": 1800}}
        self.shield = shield_for(policy, clock=self.clock)
        self.run, self.ticket = self.shield.run("bot", id="r"), ""
        self.repeat()

    def repeat(self) -> None:
        """The agent makes the call; where it is told that nobody has answered, it asks again, as it
        is told."""
        try:
            self.run.call(ScriptedTool("paid", name="pay"), amount=5)
        except Refused as refused:
            self.ticket = refused.ticket if refused.ticket else self.ticket
            if refused.decision.code == EXPIRED:
                self.repeat()

    def repeat_later(self) -> None:
        """The agent makes the call when nobody can answer any more."""
        self.clock.advance(HOUR)
        self.repeat()

    def answer(self, yes: bool) -> None:
        """Somebody answers, where that is still possible."""
        with contextlib.suppress(AnswerRefused, TicketClosed):
            if yes:
                self.shield.approve(self.ticket, by="ann")
            else:
                self.shield.deny(self.ticket, by="ann", comment="not today")

    def state(self) -> str:
        """Where the ticket stands."""
        return self.shield.ticket(self.ticket).state.value


@cache
def ticket() -> Machine:
    """The states of a ticket about an action."""
    moves: dict[str, Callable[[_Asked], object]] = {
        "somebody who may answer says yes": lambda one: one.answer(True),
        "somebody says no": lambda one: one.answer(False),
        AGAIN: _Asked.repeat,
        PASSES: lambda one: one.clock.advance(HOUR),
        LATER: _Asked.repeat_later,
    }
    found = explored(_Asked, moves, _Asked.state)
    alone = {step.start for step in found if step.on in (AGAIN, PASSES)}
    steps = joined([step for step in found if step.on != LATER or step.start not in alone])
    states = ("open", "approved", "denied", "withdrawn", "expired", "used")
    return Machine(
        "The states of a ticket",
        "Found by playing a call that a person is asked about.",
        states,
        steps,
    )


class _Working:
    """A run with a tool that a person is asked about, and for whose answer everything waits."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        waits = {"prompt": "May it be paid?", "timeout_s": 60, "scope": "run"}
        asks = {
            "use": "rule",
            "id": "ask",
            "when": "event.tool == 'pay'",
            "action": "escalate",
            "pause": waits,
        }
        ends = {"use": "rule", "id": "end", "when": "event.tool == 'leak'", "action": "halt"}
        self.shield = shield_for({"name": "p", "guards": [asks, ends]}, clock=self.clock)
        self.run, self.ticket = self.shield.run("bot", id="r"), ""

    def pay(self) -> None:
        """It makes a call that a person is asked about."""
        try:
            self.run.call(ScriptedTool("paid", name="pay"), amount=5)
        except Refused as refused:
            self.ticket = refused.ticket if refused.ticket else self.ticket

    def answer(self) -> None:
        """A person answers the ticket, where there is an open one."""
        with contextlib.suppress(AnswerRefused, TicketClosed):
            if self.ticket:
                self.shield.deny(self.ticket, by="ann", comment="not today")

    def state(self) -> str:
        """How it has ended, or what it is told of a harmless call."""
        ended = self.run.desk.ended
        code = self.run.check("look", {}).code if ended is None else ended.code
        return "at work" if not code else code.removeprefix("kernel.")


@cache
def run() -> Machine:
    """The states of a run."""
    moves: dict[str, Callable[[_Working], object]] = {
        "a call asks a person, and the rule has the run wait": _Working.pay,
        "the person answers": _Working.answer,
        "the time of the ticket is over": lambda one: one.clock.advance(HOUR),
        "a guard says halt": lambda one: one.run.check("leak", {}),
        "the program cancels it": lambda one: one.run.cancel(),
        "the program closes it": lambda one: one.run.close(),
        "an operator halts it": lambda one: one.shield.halt("look at this", scope="run:r"),
        "an operator lets it go on": lambda one: one.shield.resume(scope="run:r"),
    }
    steps = joined(explored(_Working, moves, _Working.state))
    states = ("at work", "paused", "halted", "ended", "cancelled")
    return Machine(
        "The states of a run",
        "Found by playing a run, under a rule that has it wait.",
        states,
        steps,
    )
