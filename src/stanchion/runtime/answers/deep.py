"""Deep rules as they are asked: bounded for each run, time-boxed, left alone where they fail, their
answers kept."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from hashlib import blake2b
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from stanchion.kernel.lookups import Answer, Answered, Failed
from stanchion.locks import Lock
from stanchion.runtime.answers.question import FOREVER, TimeBoxes
from stanchion.runtime.asides import aside
from stanchion.telemetry import loggers

if TYPE_CHECKING:
    from stanchion.kernel.contract.powers import Powers
    from stanchion.runtime.answers.question import LaneQuestion, Lingering


class RuleBreaker:
    """Counts failures in a row. After `after` of them the rule rests for `rest_s`; then one
    question tries it."""

    def __init__(self, after: int, rest_s: float, clock: Callable[[], float]) -> None:
        self._after, self._rest_s, self._clock = after, rest_s, clock
        self._lock = Lock()
        self._in_a_row = 0
        self._until: float | None = None
        self.tripped = False
        """Whether it rests, or is tried: else there is nothing to ask."""

    def lets(self) -> bool:
        """Whether a question may be asked now."""
        if self._until is None:
            return True
        with self._lock:
            now = self._clock()
            if self._until is None or now < self._until:
                return self._until is None
            self._until = now + self._rest_s  # whoever comes next waits for what this one finds
            return True

    def passed(self) -> None:
        """It has answered in time."""
        if self._in_a_row or self._until is not None:
            with self._lock:
                self._in_a_row, self._until, self.tripped = 0, None, False

    def failed(self) -> None:
        """It has failed, or was late."""
        with self._lock:
            self._in_a_row += 1
            if self._in_a_row >= self._after:
                self._until, self.tripped = self._clock() + self._rest_s, True


LARGEST: Final = 65_536
"""An answer of more bytes is not kept."""

_encode: Final = msgspec.msgpack.Encoder(order="deterministic").encode

Key = bytes


class KeptAnswers:
    """The newest answers of a shield's deep rules, so many at the most."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = Lock()
        self._kept: OrderedDict[Key, Answered] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Key) -> Answered | None:
        """What was answered before; the very answer."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def put(self, key: Key, answer: Answered) -> None:
        """Keep an answer; the one that was asked for longest ago makes way."""
        if not self.most or not _small(answer.value):
            return
        with self._lock:
            self._kept[key] = answer
            self._kept.move_to_end(key)
            while len(self._kept) > self.most:
                self._kept.popitem(last=False)


def key_of(tenant: str, rule: str, version: str, content: Any) -> Key | None:
    """By what an answer is found again; `None` where the content cannot be written down, and so not
    be compared."""
    try:
        written = _encode((tenant, rule, version, content))
    except (TypeError, ValueError, OverflowError, RecursionError, UnicodeEncodeError):
        return None
    return blake2b(written, digest_size=24).digest()


def _small(value: Any) -> bool:
    try:
        return len(_encode(value)) <= LARGEST
    except (TypeError, ValueError, OverflowError, RecursionError, UnicodeEncodeError):
        return False


OnCost = Callable[[int, int], None]
"""Told the tokens and the millionths of a dollar that an answer has cost."""

OUTCOMES: Final = (
    "asked",
    "kept",
    "answered",
    "failed",
    "late",
    "dropped",
    "full",
    "resting",
    "unpaid",
)
"""What can become of a question; the last three were not asked."""
MOST_TOLD: Final = 16
"""Of how many kinds of errors of one rule operators are told."""
OVER, TOLD = "over", "told"
"""What happens to a question once: it ends, and somebody has waited for it in vain."""
POLICIES: Final = 16
"""How many policies are remembered, so that a decision under way finds the rules of the one it
began with."""


class DeepTerms(NamedTuple):
    """How deep rules are asked, as a policy says it."""

    questions_for_a_run: int = 32
    time_box_s: float = 30.0
    rest_after: int = 20
    rest_s: float = 30.0
    answers_kept: int = 4_096


class Inbox:
    """The questions of one run that deep rules have not answered, so many at the most."""

    __slots__ = ("open",)

    def __init__(self) -> None:
        self.open: set[RuleQuestion] = set()

    def take(self, entry: RuleQuestion, most: int) -> bool:
        """Take a place, where there is one. Who finds too many after it has come in goes again: of
        several threads that come at once all may, but never is there one too many."""
        self.open.add(entry)
        if len(self.open) <= most:
            return True
        self.open.discard(entry)
        return False

    def leave(self, entry: RuleQuestion) -> None:
        """Give a place back."""
        self.open.discard(entry)


class RuleQuestion:
    """One question to a rule, from when it is asked until its answer, or until nobody would take it
    any more."""

    __slots__ = ("_inbox", "_key", "_left", "_on_cost", "_rule", "one", "until")

    def __init__(
        self, rule: DeepRule, inbox: Inbox, key: Key | None, until: float, on_cost: OnCost
    ) -> None:
        self._rule, self._inbox, self._key, self._on_cost = rule, inbox, key, on_cost
        self.until = until
        self.one: LaneQuestion | Lingering | None = None
        self._left = {OVER, TOLD}

    def checked(self, value: Any, /) -> Any:
        """An answer as it is recorded; raises where it is none."""
        return self._rule.guard.checked(value)

    def expired(self) -> None:
        """Somebody has waited for it in vain."""
        if not self._first(TOLD):
            return
        self._rule.tally("late")
        self._rule.breaker.failed()

    def answered(self, answer: Answer | None, /) -> None:
        """It is over: with an answer, or without one where it was never asked."""
        if not self._first(OVER):
            return
        self._inbox.leave(self)
        self.one = None  # it is over, and leaves nothing that only a collection would find
        rule = self._rule
        rule.leave(self)
        match answer:
            case Answered():
                rule.tally("answered")
                if self._key is not None:
                    rule.kept.put(self._key, answer)
                if TOLD in self._left:
                    rule.breaker.passed()
                self._charge(answer.value)
            case Failed():
                rule.tell_of(answer.error)
                rule.tally("failed")
                if TOLD in self._left:
                    rule.breaker.failed()
            case _:
                rule.tally("dropped")

    def _charge(self, value: Any) -> None:
        """Have the run pay. Whoever waits for the answer gets it, whatever goes wrong here."""
        try:
            tokens, cost_microusd = self._rule.guard.cost(value)
            if tokens or cost_microusd:
                self._on_cost(tokens, cost_microusd)
        except Exception as error:  # noqa: BLE001 - a rule's own code may raise anything
            aside("the cost of a deep rule's answer could not be charged", error)

    def overdue(self) -> None:
        """Its time box is over: have it stop, and count it as a failure."""
        one = self.one
        self.expired()
        self.answered(None)
        if one is not None:
            one.abandon()

    def _first(self, what: str) -> bool:
        """Whether this is the first to say so: of several threads one takes it out."""
        try:
            self._left.remove(what)
        except KeyError:
            return False
        return True


class DeepRule:
    """One deep rule of a shield, whoever asks it."""

    def __init__(self, name: str, guard: Powers, terms: DeepTerms, rules: DeepRules) -> None:
        self.guard, self.kept, self.terms = guard, rules.kept, terms
        clock = rules.clock
        self.breaker = RuleBreaker(terms.rest_after, terms.rest_s, clock)
        self._name, self._version, self._clock = name, str(guard.rule_version), clock
        self._counts = rules.counters(name)
        self._paid = guard.paid
        self._lock = Lock()
        self._asked: dict[RuleQuestion, None] = {}
        self._told: dict[str, None] = {}
        self._boxes = rules.boxes
        self.due = FOREVER
        """When it is to be looked whether a time box is over; none is before."""

    def enter(
        self,
        tenant: str,
        payload: Any,
        inbox: Inbox,
        on_cost: OnCost,
        pays: Callable[[], bool] = lambda: True,
    ) -> RuleQuestion | Answered | None:
        """Enter a question. Gives the answer where it is known; `None` where it is not asked, so
        that it is late.

        Cases, in this order: the same was asked before; the run cannot pay for the answer; the rule
        rests; the run has too many open questions; it is asked.
        """
        key = self._key(tenant, payload) if self.kept.most else None
        known = None if key is None else self.kept.get(key)
        if known is not None:
            self.tally("kept")
            return known
        if self._paid and not pays():
            self.tally("unpaid")
            return None
        now = self._clock()
        if now >= self.due:
            self.sweep()
        if self.breaker.tripped and not self.breaker.lets():
            self.tally("resting")
            return None
        most = self.terms.questions_for_a_run
        entry = (
            RuleQuestion(self, inbox, key, now + self.terms.time_box_s, on_cost)
            if len(inbox.open) < most
            else None
        )
        if entry is None or not inbox.take(entry, most):
            self.tally("full")
            return None
        next(self._counts["asked"])
        # In this order, and without a lock: who sweeps sees the question, or leaves it to this to
        # say when it is due.
        self._asked[entry] = None
        if entry.until < self.due:
            self.due = entry.until
            self._boxes.by(entry.until)
        return entry

    def _key(self, tenant: str, payload: Any) -> Key | None:
        """By what the answer is found again; `None` where it is not to be kept, or nobody can
        say."""
        try:
            content = self.guard.content(payload)
        except Exception:  # noqa: BLE001 - a rule's own code may raise anything, and then keeps nothing
            return None
        return None if content is None else key_of(tenant, self._name, self._version, content)

    @staticmethod
    def inbox() -> Inbox:
        """A run's inbox."""
        return Inbox()

    def leave(self, entry: RuleQuestion) -> None:
        """Forget a question that is over."""
        self._asked.pop(entry, None)

    def tally(self, what: str) -> None:
        """Count what became of a question."""
        next(self._counts[what])

    def tell_of(self, error: str) -> None:
        """Tell operators that its code raises, once for each kind of error: where nobody waited for
        the answer, no decision says so."""
        if error not in self._told and len(self._told) < MOST_TOLD:
            self._told[error] = None
            what = (
                f"the deep rule `{self._name}` failed with `{error}`: what it was to say of an "
                f"event is lost"
            )
            loggers.say(loggers.POLICY, loggers.WARNING, what)

    def forked(self) -> None:
        """In a forked process: what was asked before is the parent's."""
        self._lock, self._asked, self.due = Lock(), {}, FOREVER

    def sweep(self) -> None:
        """Have questions stop whose time box is over, oldest first."""
        while self._clock() >= self.due:
            with self._lock:
                self.due = FOREVER
                try:
                    first = next(iter(self._asked), None)
                except RuntimeError:  # somebody has asked meanwhile: the next to ask looks again
                    self.due = self._clock()
                    return
                if first is None:
                    return
                if first.until > self._clock():
                    self.due = first.until
                    return
                self.due = first.until
                self._asked.pop(first, None)
            first.overdue()


class DeepRules:
    """The deep rules of the policies that a shield has had in force, newest last."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.kept = KeptAnswers(0)
        self._counters: dict[str, dict[str, count[int]]] = {}
        self._rules: dict[tuple[str, str, DeepTerms], DeepRule] = {}
        self._known: OrderedDict[str, dict[str, DeepRule]] = OrderedDict()
        self.boxes = TimeBoxes(self._due, self._sweep, clock)

    def enter(self, policy: str, guards: Iterable[tuple[str, Any]], terms: DeepTerms) -> None:
        """Take over the rules of a policy. One that is the same as before goes on as it is: it
        rests, if it does."""
        self.kept.most = terms.answers_kept
        here: dict[str, DeepRule] = {}
        for name, guard in guards:
            key = (name, str(guard.rule_version), terms)
            known = self._rules.get(key)
            here[name] = DeepRule(name, guard, terms, self) if known is None else known
            self._rules[key] = here[name]
        self._known[policy] = here
        self._known.move_to_end(policy)
        while len(self._known) > POLICIES:
            self._known.popitem(last=False)
        used = {id(rule) for rules in self._known.values() for rule in rules.values()}
        self._rules = {key: rule for key, rule in self._rules.items() if id(rule) in used}

    def close(self) -> None:
        """Look after time boxes no more: whoever is at work was told to stop."""
        self.boxes.close()

    def forked(self) -> None:
        """In a forked process: questions and the thread that looks after them are the parent's."""
        self.boxes.forked()
        for rule in list(self._rules.values()):
            rule.forked()

    def _due(self) -> float:
        return min([rule.due for rule in list(self._rules.values())], default=FOREVER)

    def _sweep(self) -> None:
        for rule in list(self._rules.values()):
            rule.sweep()

    def of(self, policy: str, guard: str) -> DeepRule | None:
        """A rule of a policy."""
        known = self._known.get(policy)
        return None if known is None else known.get(guard)

    def counters(self, rule: str) -> dict[str, count[int]]:
        """What counts the questions to a rule, by what became of them; the same for each of its
        versions."""
        return self._counters.setdefault(rule, {outcome: count() for outcome in OUTCOMES})

    def counted(self) -> dict[tuple[str, str], int]:
        """How many questions came to what, by rule and outcome."""
        found = {
            (rule, outcome): int(repr(counter)[6:-1])
            for rule, counters in list(self._counters.items())
            for outcome, counter in counters.items()
        }
        return {key: number for key, number in found.items() if number}
