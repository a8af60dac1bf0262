"""A run beside deep rules, told by a script and played on a schedule.

The script says what is recorded: for each call its risk, what each rule answers, and before which
later event an answer arrives that nobody waits for. The schedule says all that must not matter:
which of several answers comes first, whether the host and the rules are plain or async code, in
which threads, and how many each rule has.
"""

from __future__ import annotations

import asyncio
import base64
import sys
import threading
from collections.abc import Iterable
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec

from stanchion import Action, Finding, Shield
from stanchion.testing import shield_for
from tests.runtime.test_pool import until

ANSWERS: Final[list[Any]] = [
    None,
    "no",
    Finding(Action.ALLOW, "own.noted"),
    Finding(Action.WARN, "own.warned", ("a",)),
    Finding(Action.ESCALATE, "own.asks"),
    Finding(Action.BLOCK, "own.refused"),
    Finding(Action.HALT, "own.ended"),
    RuntimeError("boom"),
    7,
]
RISKS: Final = ("low", "medium", "critical")
RULES: Final = ("one", "two")
POLICY: Final[dict[str, Any]] = {
    "name": "deep",
    "tools": {risk: {"risk": risk} for risk in RISKS},
    "deep": {"medium_wait_ms": 1, "critical_wait_ms": 60_000, "rest_after": 1_000},
}
"""What is asked at low and medium risk is always late, and what is asked at critical risk never
is."""


class Reply(NamedTuple):
    """What a rule answers to a call: one of `ANSWERS`, and behind how many more calls where nobody
    waits for it."""

    answer: int
    behind: int


class Call(NamedTuple):
    """One call of the script, with the reply of each rule."""

    risk: str
    replies: tuple[Reply, Reply]


class Schedule(NamedTuple):
    """What must not matter. `ranks` say which answer of those that come together is first; `host`
    is `here`, `threads` (each call in a thread of its own) or `loop`; `awaits` says of each rule
    whether it is async code."""

    ranks: tuple[int, ...] = ()
    host: str = "here"
    awaits: tuple[bool, bool] = (False, False)
    more_threads: int = 0


class Played(msgspec.Struct, frozen=True):
    """What a story came to: its records, and its decisions as they are written out."""

    records: list[str]
    decisions: list[str]


class Told:
    """A rule that answers as it is told, each time when it is let go."""

    deep = True
    deadline_ms = 60_000

    def __init__(self, name: str, replies: list[Reply]) -> None:
        self.id = name
        self.replies = replies
        self.gates = [threading.Event() for _ in replies]
        self.open: set[int] = set()
        """The calls about which it is asked, and has not been let go."""

    def judge(self, event: Any) -> Any:
        at = event.args["at"]
        assert self.gates[at].wait(60)
        return self.said(at)

    def said(self, at: int) -> Any:
        answer = ANSWERS[self.replies[at].answer]
        if isinstance(answer, Exception):
            raise answer
        return answer


class ToldAsync(Told):
    """The same as async code."""

    async def judge(self, event: Any) -> Any:
        at = event.args["at"]
        while not self.gates[at].is_set():
            await asyncio.sleep(0)
        return self.said(at)


class Story:
    """A script on a schedule, played once."""

    def __init__(self, script: Iterable[Call], schedule: Schedule) -> None:
        self.script, self.schedule = list(script), schedule
        kinds = [ToldAsync if awaits else Told for awaits in schedule.awaits]
        self.rules = [
            kind(name, [call.replies[number] for call in self.script])
            for number, (kind, name) in enumerate(zip(kinds, RULES, strict=True))
        ]
        self.judged: list[Any] = []

    def played(self) -> Played:
        """The records and decisions of the run; what was judged is kept in `judged`."""
        threads = len(self.script) + self.schedule.more_threads
        with shield_for(POLICY, guards=self.rules, answer_threads=threads) as shield:
            self._listen(shield)
            run = shield.run("a")
            if self.schedule.host == "loop":
                asyncio.run(self._on_loop(shield, run))
            else:
                self._here(shield, run)
            records = [base64.b64encode(record.text).decode() for record in shield.journal.kept()]
            self.judged = [(run.desk.plans.policy, run.desk.info, *one) for one in self.judged]
        return Played(records, [written(decision) for *_, decision in self.judged])

    def _listen(self, shield: Shield) -> None:
        write = shield.journal.write

        def noting(moment: Any, decision: Any, *rest: Any) -> int:
            self.judged.append((moment, decision))
            return write(moment, decision, *rest)  # type: ignore[no-any-return] # a journal's mark

        shield.journal.write = noting

    def _here(self, shield: Shield, run: Any) -> None:
        for at, call in enumerate(self.script):
            self._before(shield, at)
            if self.schedule.host == "threads":
                thread = threading.Thread(target=run.check, args=(call.risk, {"at": at}))
                thread.start()
                thread.join()
            else:
                run.check(call.risk, {"at": at})
            self._asked(shield, at)
        for at in (len(self.script), len(self.script) + 1, len(self.script) + 2):
            self._arrive(shield, at)
        run.model_reply("the end")

    async def _on_loop(self, shield: Shield, run: Any) -> None:
        """The same with the host's calls on an event loop, which goes on while the story waits."""
        for at, call in enumerate(self.script):
            await asyncio.to_thread(self._before, shield, at)
            await run.acheck(call.risk, {"at": at})
            await asyncio.to_thread(self._asked, shield, at)
        for at in (len(self.script), len(self.script) + 1, len(self.script) + 2):
            await asyncio.to_thread(self._arrive, shield, at)
        await run.amodel_reply("the end")

    def _before(self, shield: Shield, at: int) -> None:
        """Let what is late arrive before a call, and what is in time during it."""
        self._arrive(shield, at)
        if self.script[at].risk == "critical":
            threading.Thread(target=self._in_time, args=(at,)).start()

    def _in_time(self, at: int) -> None:
        for rule, _ in self._ranked([(rule, at) for rule in self.rules]):
            rule.gates[at].set()

    def _asked(self, shield: Shield, at: int) -> None:
        """Note which rules are yet to answer about a call; what was in time is over."""
        for rule in self.rules:
            if self.script[at].risk == "critical":
                until(partial(is_over, shield, rule))
            elif open_of(shield, rule.id) > len(rule.open):
                rule.open.add(at)

    def _arrive(self, shield: Shield, now: int) -> None:
        """Have the answers arrive that are due before an event, one behind the other as the
        schedule has them."""
        due = [
            (rule, at)
            for rule in self.rules
            for at in rule.open
            if at + 1 + rule.replies[at].behind == now
        ]
        for rule, at in self._ranked(due):
            rule.open.discard(at)
            rule.gates[at].set()
            until(partial(is_over, shield, rule))

    def _ranked(self, answers: list[tuple[Told, int]]) -> list[tuple[Told, int]]:
        ranks = self.schedule.ranks

        def rank(one: tuple[Told, int]) -> tuple[int, str, int]:
            number = len(RULES) * one[1] + RULES.index(one[0].id)
            return ranks[number % len(ranks)] if ranks else 0, one[0].id, one[1]

        return sorted(answers, key=rank)


def written(decision: Any) -> str:
    """A decision with every part of it."""
    return msgspec.json.encode(msgspec.to_builtins(decision, str_keys=True), enc_hook=repr).decode()


def open_of(shield: Shield, rule: str) -> int:
    """How many questions to a rule are not over, and heard."""
    lane = shield.answers.lane(rule)
    with lane._lock:
        return len(lane._waiting) + len(lane._at_work) + len(lane._lingering)


def is_over(shield: Shield, rule: Told) -> bool:
    """Whether a rule has answered all that it was let go for."""
    return open_of(shield, rule.id) <= len(rule.open)


def main() -> None:
    """Play the stories that come in line by line, each on its schedule, and say what they came
    to."""
    for line in sys.stdin.buffer:
        script, schedule = msgspec.json.decode(line, type=tuple[list[Call], Schedule])
        sys.stdout.buffer.write(msgspec.json.encode(Story(script, schedule).played()) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
