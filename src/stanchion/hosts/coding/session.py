"""One session of a coding agent: its run, and what becomes of everything its host says."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from pathlib import Path
from shlex import quote
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from stanchion.approvals.act import Way
from stanchion.approvals.answerers import Dialog
from stanchion.approvals.errors import TicketError
from stanchion.approvals.rules import AnswererRole, refusal
from stanchion.audit.journal import Fact
from stanchion.hosts.coding.agent import GO, BadHook, CodingAgent, Heard, HookVerdict, HostAnswer
from stanchion.hosts.coding.later_prompts import is_later, note_later
from stanchion.hosts.coding.speaker import Process, Speaker, children_began, stat_of
from stanchion.hosts.contract.host import Hosted
from stanchion.hosts.contract.terms import Refusal, Told
from stanchion.kernel.autonomy import OPERATOR
from stanchion.kernel.regex import regex
from stanchion.kernel.shown import brief
from stanchion.locks import Lock
from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.veil import tell

MOST_CHILDREN: Final = 64
"""How many sub-agents of a session are kept open."""
MOST_CALLS: Final = 1_000
"""How many calls of a session are remembered."""
LONGEST_KEPT: Final = 65_536
"""The longest answer that is remembered for a result that is said twice."""
AFTER_S: Final = 0.02
"""How much later than the end of the last command a process must have begun, not to be it."""
YOUNG_S: Final = 5.0
"""How long ago a hook has begun at most that speaks: a server of tools is a child of its host,
too."""
ESCAPED: Final = "coverage.escaped"
UNHEARD: Final = "host.unheard"
DOUBTED: Final = "host.doubted"
SETTINGS: Final = "host.settings"
KEEPS: Final = "this session goes on with the settings it began with: start a new one for others"
PRINTING: Final = regex(r"\0(?:--print\0|-[a-zA-Z]*p)")
"""Options by which a host works without anybody before it."""


def _now_s() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class HostAtWork:
    """What is known of a host's process: the calls of all its sessions that are under way, and when
    the last one ended. Safe between threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._open: set[tuple[str, str]] = set()
        self._first_s, self._closed_s, self._heard_s = math.inf, 0.0, 0.0

    def began(self, session: str, call: str) -> None:
        """A call is under way."""
        with self._lock:
            self._open.add((session, call))
            self._first_s = min(self._first_s, _now_s())

    def ended(self, session: str = "", call: str = "") -> None:
        """A call is over; without one, nobody knows which were under way until now."""
        with self._lock:
            self._open.discard((session, call))
            self._closed_s = _now_s()
            self._first_s = self._first_s if session else 0.0

    def heard(self) -> None:
        """A hook of this host was answered: the next one begins after it."""
        self._heard_s = _now_s()

    def is_no_command(self, host: Process, begun_s: float) -> bool:
        """Whether a child of the host that began then cannot be a command, what one has left, nor a
        server: it has just begun, and after the last hook; no command is at work, and
        no other child is there that began before that. A command can make another child of its
        host, which makes the next one; the first of them is there, or has not been waited for."""
        with self._lock:
            young_s = _now_s() - YOUNG_S
            is_old = begun_s < max(young_s, self._heard_s - AFTER_S)
            if is_old or self._open or begun_s <= self._closed_s + AFTER_S:
                return False
            first_s, last_s = self._first_s - AFTER_S, self._closed_s + AFTER_S
        return not any(first_s <= one <= last_s for one in children_began(host))


class JudgedCall(Struct, frozen=True):
    """A call that was judged: what was said, and the question that the host's dialog asks."""

    heard: Heard
    verdict: HookVerdict
    asked: Refusal | None = None


class CodingSession:
    """One run of a session in one process of its host, with its sub-agents. Safe between
    threads."""

    def __init__(
        self, agent: CodingAgent, hosted: Hosted, process: Process, host: HostAtWork
    ) -> None:
        self.agent, self.hosted, self.process = agent, hosted, process
        self.shield: Shield = hosted.run.desk.shield
        self._host = host
        self._lock = Lock()
        self._calls: OrderedDict[str, JudgedCall] = OrderedDict()
        """Calls without an outcome, by the host's own names for them."""
        self._over: OrderedDict[str, HostAnswer | None] = OrderedDict()
        """What was answered to the outcomes of calls."""
        self._children: OrderedDict[str, Hosted] = OrderedDict()

    def hear(self, heard: Heard, speaker: Speaker) -> HostAnswer:
        """Judge what the host says; raises `BadHook` for what cannot be judged."""
        comes = heard.says in ("result", "failure")
        if comes and (before := self._answered_before(heard)) is not None:
            return before
        hosted = self._of(heard)
        if comes:
            self._came(hosted, heard)
        verdict = GO if heard.stage is None else self._verdict(hosted, heard, speaker)
        if "file" in heard.fields:
            # A host that takes new settings on while it works no longer calls hooks that are gone.
            self.tell(SETTINGS, self.agent.name, f"{brief(heard.fields['file'])} has changed")
            verdict = HookVerdict("refuse", KEEPS)
        if heard.says == "reply":
            self._unanswered()
        if heard.says not in ("reply", "child_reply", "asks", "news", "settings"):
            verdict = replace(verdict, notices=hosted.notices())
        answer = self.agent.words(heard, verdict)
        self._host.heard()
        if comes:
            kept = len(answer.stdout) + len(answer.stderr) <= LONGEST_KEPT
            self._remember(self._over, heard.key, answer if kept else None)
        return answer

    def close(self) -> None:
        """End the run here, with all that is under way in it; of that nobody knows the outcome."""
        self._unanswered()
        with self._lock:
            children = [*self._children.values()]
        for child in children:
            child.close()
        self.hosted.close()

    def tell(self, what: str, about: str, why: str) -> None:
        """Write down something that is no decision."""
        shield, info = self.shield, self.hosted.run.desk.info
        tell(shield, Fact(shield.clock(), what, about, info.tenant, info.id, why=why))

    def _of(self, heard: Heard) -> Hosted:
        """The run of whoever speaks: the session's own, or that of a sub-agent."""
        if not heard.child:
            return self.hosted
        with self._lock:
            child = self._children.get(heard.child)
            if child is None:
                name = f"{self.hosted.run.id}/{heard.child}"
                child = self.hosted.child(heard.kind if heard.kind else "agent", id=name)
                self._children[heard.child] = child
                if len(self._children) > MOST_CHILDREN:
                    self._children.popitem(last=False)[1].close()
            self._children.move_to_end(heard.child)
        return child

    def _verdict(self, hosted: Hosted, heard: Heard, speaker: Speaker) -> HookVerdict:
        """What becomes of what is said, as the policy has it."""
        fields = dict(heard.fields)
        match heard.says:
            case "call":
                return self._called(hosted, heard)
            case "asks":
                with self._lock:
                    calls = [*self._calls.values()]
                for call in reversed(calls):
                    if _is_same(call.heard, heard):
                        return GO if call.verdict.outcome in ("go", "ask") else call.verdict
            case "prompt":
                fields["trusted"] = self._is_the_users(heard, speaker)
            case _:
                pass
        return self._decided(heard, self._report(hosted, heard, fields))

    def _report(self, hosted: Hosted, heard: Heard, fields: dict[str, Any]) -> Told:
        assert heard.stage is not None
        return hosted.report(heard.stage, key=heard.key, **fields)

    def _called(self, hosted: Hosted, heard: Heard) -> HookVerdict:
        """Judge a call that is about to be made, and remember it until its outcome comes."""
        if fed := self.agent.fed(heard):
            why = f"`{fed}` is started without work, and what is typed into it is told to nobody"
            self.tell(UNHEARD, self.agent.name, why)
            return HookVerdict("refuse", f"{why}: give it its commands or a script at once")
        told = self._report(hosted, heard, dict(heard.fields))
        verdict = self._decided(heard, told)
        if verdict.outcome == "go" and heard.tool in self.agent.later_prompts:
            note_later(self.shield, heard.given.values())
        asked = told.answer if verdict.outcome == "ask" else None
        with self._lock:
            self._over.pop(heard.key, None)  # a host may call another call the same
        self._remember(self._calls, heard.key, JudgedCall(heard, verdict, asked))
        if verdict.outcome in ("go", "ask") and not self.agent.runs_itself(heard):
            self._host.began(heard.session, heard.key)
        return verdict

    def _came(self, hosted: Hosted, heard: Heard) -> None:
        """Take in that a call is over: one that waited for the host's dialog was allowed there, and
        one that was refused has run all the same."""
        with self._lock:
            call = self._calls.pop(heard.key, None)
        self._host.ended(heard.session, heard.key)
        if call is None:
            return
        if call.asked is not None:
            self._answer(hosted, call, heard.fields.get("error") != "Interrupted")
        elif call.verdict.outcome in ("refuse", "end"):
            why = f"{brief(heard.tool)} was refused, and its host says that it has run"
            self.tell(ESCAPED, self.agent.name, why)

    def _answer(self, hosted: Hosted, call: JudgedCall, yes: bool) -> None:
        """Record what was said in the host's dialog, by what has come of it: the call that a person
        has allowed is judged again, and goes ahead."""
        assert call.asked is not None
        words = "" if yes else "not allowed in the host's dialog"
        if hosted.answered(call.asked, yes, words) and yes:
            self._report(hosted, call.heard, dict(call.heard.fields))

    def _unanswered(self) -> None:
        """Take in that the agent's turn is over: what its host has asked and has not run is a
        no."""
        with self._lock:
            waiting = [call for call in self._calls.values() if call.asked is not None]
            for call in waiting:
                del self._calls[call.heard.key]
        for call in waiting:
            self._answer(self._of(call.heard), call, False)

    def _is_the_users(self, heard: Heard, speaker: Speaker) -> bool:
        """Whether a prompt is the user's own words.

        1. The host itself says it, and no agent has started that host.
        2. The host says that its user has written it, and no agent has written it for later.
        3. Where the host's words cannot be told from those of a command that it has started, no
           command is at work or has left something, and who speaks began after the last one.
        """
        if not heard.typed or speaker.host is None or speaker.above or heard.child:
            return False
        if is_later(self.shield, heard.fields["text"]):
            return False
        begun_s = speaker.begun_s
        if begun_s is None or self._host.is_no_command(self.process, begun_s):
            return True
        self.tell(DOUBTED, self.agent.name, "a prompt may be a command's that plays a hook")
        return False

    def _decided(self, heard: Heard, told: Told) -> HookVerdict:
        """What becomes of an event, by what was decided."""
        if told.proceeds:
            return self._going(heard, told)
        refused: Refusal = told.answer
        words = str(refused)
        if refused.ended:
            return HookVerdict("end", words)
        if not refused.waits or refused.ticket is None:
            return HookVerdict("refuse", words)
        which = f"{refused.ticket} --project {quote(heard.cwd)}"
        advice = refused.decision.advice
        if heard.says == "call" and self._is_asked_there(heard, refused.ticket):
            why = f"Stanchion asks you: {refused.decision.message}."
            yes = "A yes lets this one call go ahead as it is, and nothing after it."
            instead = f"\nAdvised instead: {advice}." if advice else ""
            more = f"{yes}{instead}\nAll of it: `stanchion tickets show {which}`"
            return HookVerdict("ask", why, command=more)
        command = f"A person answers with `stanchion tickets approve {which}`."
        instead = f"; without one: {advice}" if advice and advice not in words else ""
        return HookVerdict("refuse", words + instead, command=command)

    def _going(self, heard: Heard, told: Told) -> HookVerdict:
        """What goes ahead, changed or not. A prompt that a host cannot change does not go ahead;
        what was seen already is only written down."""
        match heard.says:
            case "call" if told.content is not None and told.content != heard.fields["args"]:
                return HookVerdict(changed=self.agent.own_args(heard, told.content))
            case "result" if told.content != heard.fields["result"]:
                return HookVerdict(changed=told.content)
            case "prompt" if told.content != heard.fields["text"]:
                why = told.decision.message
                return HookVerdict(
                    "refuse", f"This prompt is not passed on: {why}. Say it without that."
                )
            case _:
                return GO

    def _is_asked_there(self, heard: Heard, ticket: str) -> bool:
        """Whether the person before the host is asked in its own dialog: they are there, and their
        yes counts."""
        name = self.agent.name
        named = name in self.shield.policy.file.escalation.dialogs
        if not named or not self._is_attended(heard):
            return False
        try:
            asked = self.shield.authority.asked(self.shield.ticket(ticket).asked)
        except TicketError:
            return False
        return not refusal(asked, AnswererRole(Way.DIALOG, Dialog(name).name, OPERATOR))

    def _is_attended(self, heard: Heard) -> bool:
        """Whether somebody sits before the host whom it asks."""
        return heard.mode in self.agent.asking_modes and _has_terminal(self.process)

    def _answered_before(self, heard: Heard) -> HostAnswer | None:
        """What was answered to an outcome that is said once more; `None` where it is new."""
        with self._lock:
            if heard.key not in self._over:
                return None
            answer = self._over[heard.key]
        if answer is None:
            raise BadHook(heard.event, "the outcome of this call was reported before")
        return answer

    def _remember(self, known: OrderedDict[Any, Any], name: Any, value: Any) -> None:
        with self._lock:
            known[name] = value
            if len(known) > MOST_CALLS:
                known.popitem(last=False)


def _has_terminal(process: Process) -> bool:
    """Whether a host's process has a terminal, and was not started to work alone."""
    said = stat_of(process.pid)
    try:
        words = Path(f"/proc/{process.pid}/cmdline").read_bytes().decode("utf-8", "replace")
    except OSError:
        return False
    return bool(said) and said[4] != b"0" and PRINTING.search(words) is None


def _is_same(one: Heard, other: Heard) -> bool:
    """Whether two calls are one, whatever they say of themselves."""
    given = [{**each.given, "description": None} for each in (one, other)]
    return (one.tool, one.cwd, given[0]) == (other.tool, other.cwd, given[1])
