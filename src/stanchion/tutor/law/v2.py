"""The second law: what it calls proven is true of what was seen, and what it calls refuted is
false.

Claims have a predicate and are compared exactly. Facts follow from the words of single commands
that ran to their end. Every promotion is a derivation in the graph, and every fact counts once.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Protocol

import msgspec

from stanchion.readings.claims.claim import CheckVerdict, Claim, fault, normal
from stanchion.readings.claims.evidence import ClaimStanding, Evidence
from stanchion.readings.claims.facts import Ran, facts
from stanchion.tutor.advice.advisor import WIP, CardAdvice, PlayHistory
from stanchion.tutor.advice.failures import GameTrace, goes_in_a_circle
from stanchion.tutor.advice.intent import IntentCourse
from stanchion.tutor.graph import (
    Action,
    Assumption,
    EdgeType,
    Goal,
    Graph,
    Observation,
    Question,
    Status,
    Truth,
)
from stanchion.tutor.law.ledger import TRIVIAL, Ledger
from stanchion.tutor.law.verdicts import (
    LEGAL,
    SCORE_GOOD_REFORMULATION,
    SCORE_ILLEGAL_MOVE,
    SCORE_POLICY_VIOLATION,
    SCORE_QUESTION_RESOLVED,
    SCORE_TRUTH_DIRECT,
    CheckResult,
    GameState,
    MoveResult,
    MoveVerdict,
    blocked,
    illegal,
)
from stanchion.tutor.moves.typed import (
    AskQuestion,
    Assert,
    Challenge,
    Propose,
    Reformulate,
    Resolve,
    Respond,
    TypedMove,
    UnreadReply,
    WriteRule,
    argv_of,
    read,
    runnable,
)
from stanchion.tutor.rules.rule import RuleError
from stanchion.tutor.rules.typed import TypedRule, TypedRules, check_rule

TOOL: Final = "argv"
MOST_RULES: Final = 16
"""How many rules may be written in one game."""


class Outcome(msgspec.Struct, frozen=True):
    """What came of a command. `ended` says that it ran to its end; otherwise `why` says what
    stopped it, and whatever it printed is no evidence."""

    ended: bool
    rc: int = -1
    stdout: str = ""
    stderr: str = ""
    whole: bool = True
    changes: bool = False
    """Whether it could change anything."""
    why: str = ""
    began: bool = True
    """Whether it was started. What is known of a command stays if it was not, and not if it was
    stopped."""
    beyond: tuple[str, ...] = ()
    """Words of the command that lead out of the folder: of what they name it sees the walls
    alone."""


class CommandRunner(Protocol):
    """Runs the words of a command, confined, or says why not."""

    def refused(self, argv: tuple[str, ...], write: bool, /) -> str:
        """Why it would not run a command; empty where it would."""

    def run(self, argv: tuple[str, ...], write: bool, /) -> Outcome:
        """Run a command."""


class TutorV2:
    """The referee of a game whose goal is a list of claims that have to be proven."""

    def __init__(
        self,
        game_id: str,
        runner: CommandRunner,
        goal: str,
        claims: Iterable[Claim] = (),
        writes: bool = False,
        wip: int = WIP,
        clock: Callable[[], str] = lambda: "",
        rules: Iterable[TypedRule] = (),
    ) -> None:
        self.game_id = game_id
        self.pcg = Graph(game_id, clock)
        self.state = GameState()
        self.goal = tuple(claims)
        self.evidence = Evidence()
        self.runner, self.writes, self.wip = runner, writes, wip
        self._ledger = Ledger(self.pcg)
        self.rules, self._written = TypedRules(rules), 0
        self._counted: set[Claim] = set()
        self._answers: set[Claim] = set()
        self._assumed: dict[str, Claim] = {}
        self._played, self._facts = PlayHistory(), 0
        self._goal = self.pcg.add(Goal, text=goal)

    def next_turn(self) -> None:
        """Begin the next turn."""
        if self.state.turn:
            self._played.turned(self._facts)
        self.state.turn += 1
        self.pcg.turn = self.state.turn

    def play(self, reply: str) -> MoveResult:
        """Make the one move that a reply is."""
        move = read(reply)
        if isinstance(move, UnreadReply):
            return self._rejected(
                MoveVerdict.ILLEGAL, f"{move.what.value}: {move.why}", SCORE_ILLEGAL_MOVE
            )
        return self.execute_move(move)

    def advise(self, model: str = "") -> CardAdvice | None:
        """What the player is told now, where anything is to be said. It is written down, and a game
        has few."""
        found = self._played.advise(self.pcg, self.trace(), model)
        if found is not None:
            self.pcg.log("advice", reason=found.why, data={"card": found.card.card_id})
        return found

    def trace(self) -> GameTrace:
        """The last commands and turns; what is known is what was proven of the world, each fact
        once."""
        return self._played.trace(self.state.turn, self._facts)

    def course(self) -> IntentCourse:
        """Whether the last commands come closer to what the goal says."""
        return self._played.course(self._goal.text)

    def check(self, claim: Claim, commit: bool = False) -> CheckResult:
        """What is known of a claim. Nothing is changed by asking unless it is committed: then the
        claim is written down with the verdict, and counts where it is proven. One that says nothing
        is not written."""
        found = self.evidence.judge(claim)
        if commit and found.verdict is not CheckVerdict.ILL_TYPED:
            self._claim(claim, found)
        return _result(found)

    def validate_move(self, move: TypedMove) -> MoveResult:
        """Whether a move may be made; nothing is done. What is known of the claim that a move makes
        is for `check`: one that says nothing is refused when it is made."""
        match move:
            case Propose():
                return self._may_propose(move)
            case AskQuestion() | Challenge():
                return self._may_open(move)
            case Reformulate():
                return self._may_reformulate(move)
            case Resolve():
                return self._may_resolve(move)
            case WriteRule():
                return self._may_write(move.rule)
            case Assert() | Respond():
                return LEGAL

    def _may_open(self, move: AskQuestion | Challenge) -> MoveResult:
        if not move.text.strip():
            return illegal("a question or an assumption has words")
        wrong = fault(move.falsified_by) if isinstance(move, Challenge) else ""
        if wrong:
            return illegal(_ill_typed(wrong))
        count = self.state.open_questions + len(self._assumed)
        if count >= self.wip:
            return blocked(f"{count} things are open: settle one first")
        if count and goes_in_a_circle(self.trace()):
            return blocked(
                "the last commands go round in a circle: settle what is open first",
            )
        return LEGAL

    def _may_write(self, rule: TypedRule) -> MoveResult:
        if self._written >= MOST_RULES:
            return blocked(
                f"{MOST_RULES} rules were written in this game: there may be no more",
            )
        try:
            check_rule(rule, f"`{rule.id}`")
        except RuleError as error:
            return illegal(str(error))
        if not rule.id or rule.id in self.rules:
            return illegal(f"`{rule.id}` is no new id: give the rule one of its own")
        return LEGAL

    def _may_propose(self, move: Propose) -> MoveResult:
        if bool(move.argv) is bool(move.command):
            return illegal(
                "give the words of one command as `argv`, or its text as `command`",
            )
        argv = argv_of(move)
        if argv is None:
            return illegal(f"`{move.command}` is more than one command of literal words")
        if not argv or not argv[0] or not all(map(runnable, argv)):
            why = "a command has a name, and no word of it has a zero byte or half a character"
            return illegal(why)
        if move.write and not self.writes:
            return blocked("nothing may be written in this game")
        why = self.runner.refused(argv, move.write)
        return blocked(why) if why else LEGAL

    def _may_reformulate(self, move: Reformulate) -> MoveResult:
        known = self._ledger.claim(move.original)
        if known is None:
            return illegal(f"`{move.original}` is no claim of this game")
        if normal(known) == normal(move.claim):
            return illegal("it says the same as before")
        return LEGAL

    def _may_resolve(self, move: Resolve) -> MoveResult:
        if self.pcg.status(move.question) is not Status.OPEN:
            return illegal(f"`{move.question}` is no open question")
        found = self.check(move.claim)
        if found.verdict is CheckVerdict.ILL_TYPED:
            return illegal(_ill_typed(found.reason))
        if found.verdict is not CheckVerdict.PROVABLE:
            return blocked(
                "a question is answered by what is proven: bring evidence first",
            )
        return LEGAL

    def execute_move(self, move: TypedMove) -> MoveResult:
        """Make a move, where that is legal."""
        found = self.validate_move(move)
        if found.verdict is not MoveVerdict.LEGAL:
            lost = (
                SCORE_POLICY_VIOLATION
                if found.verdict is MoveVerdict.BLOCKED
                else SCORE_ILLEGAL_MOVE
            )
            return self._rejected(found.verdict, found.reason, lost)
        match move:
            case Propose():
                return self._propose(move)
            case Assert():
                return self._assert(move.claim)
            case Reformulate():
                return self._reformulate(move)
            case Resolve():
                return self._resolve(move)
            case AskQuestion():
                asked = self.pcg.add(
                    Question,
                    text=move.text,
                    targets=tuple(one for one in move.targets if one in self.pcg.nodes),
                )
                self.state.open_questions += 1
                return MoveResult(MoveVerdict.LEGAL, f"question {asked.id}")
            case Challenge():
                return self._assume(move)
            case WriteRule():
                return self._write(move.rule)
            case Respond():
                return LEGAL

    def _rejected(self, verdict: MoveVerdict, why: str, score: int) -> MoveResult:
        self.state.score += score
        self.pcg.log("move_rejected", verdict=verdict.value, reason=why)
        return MoveResult(verdict, why)

    def _propose(self, move: Propose) -> MoveResult:
        argv = argv_of(move)
        assert argv is not None  # it was validated
        line = shlex.join(argv)
        act = self.pcg.add(
            Action, intent=move.intent, mode="write" if move.write else "read", command=line
        )
        self.pcg.log("execute", data={"act": act.id, "status": Status.STARTED.value, "rc": None})
        self.pcg.promote(act.id, Status.STARTED)
        came = self.runner.run(argv, move.write)
        seen = self.pcg.add_observation(act.id, TOOL, line, came.rc, came.stdout, came.stderr)
        self.pcg.log(
            "execute", data={"act": act.id, "status": Status.FINISHED.value, "rc": came.rc}
        )
        self.pcg.promote(act.id, Status.FINISHED)
        if came.changes:
            self._ledger.forget()
        # What was stopped tells nothing, and may have changed something: it is taken as a command
        # without words.
        ended = argv if came.ended else ()
        ran = Ran(ended, came.rc, came.stdout, came.stderr, came.whole, move.write, came.beyond)
        fails = came.rc != 0 and len(facts(ran)) <= 1  # that it failed is all that it tells
        self._played.stepped(line, came.stdout or came.stderr, fails or not came.ended)
        new = self.evidence.take(seen.id, ran, came.changes)
        if not came.ended:
            if came.began:
                self._ledger.reopen(self.evidence.stopped(argv))
            return MoveResult(MoveVerdict.LEGAL, f"no evidence: {came.why}", observation=seen)
        for one in new:
            self._ledger.refuted_by(seen.id, one.fact)
        derived = [self._claim(one.fact) for one in new if isinstance(one.fact, Claim)]
        truths = (*derived, *self._hinted(seen, ran))
        self._settle()
        return MoveResult(MoveVerdict.LEGAL, observation=seen, truths=truths)

    def _hinted(self, seen: Observation, ran: Ran) -> Iterator[Truth]:
        """What rules speak for. A rule that says it is sound is believed where the law proves the
        same, and even then whoever plays scores only by claiming it."""
        for rule, claim in self.rules.speak(ran):
            if self._ledger.stands(claim):
                continue
            found = self.evidence.judge(claim)
            if found.verdict is CheckVerdict.PROVABLE and rule.soundness == "sound":
                truth = self._ledger.put(claim)
                self._ledger.prove(truth, claim, found.proof)
            else:
                truth = self._ledger.hint(rule, claim, seen.id)
                if found.verdict is CheckVerdict.REFUTABLE:
                    self._ledger.refute(truth.id, found.proof)
            yield truth

    def _write(self, rule: TypedRule) -> MoveResult:
        own = msgspec.structs.replace(rule, soundness="heuristic")
        self.rules.add(own)
        self._written += 1
        node = self._ledger.known_rule(own)
        self.pcg.log(
            "rule_generated", node, reason="written in this game: what it concludes is a hint"
        )
        return MoveResult(MoveVerdict.LEGAL, f"rule {node}: what it concludes is a hint")

    def _claim(self, claim: Claim, found: ClaimStanding | None = None) -> Truth:
        """Write a claim down as what is known of it has it."""
        judged = self.evidence.judge(claim) if found is None else found
        truth = self._ledger.put(claim)
        if found is not None:
            data = {"proof": list(found.proof), "missing": [found.missing] if found.missing else []}
            self.pcg.log("check", truth.id, found.verdict.value, found.reason, data)
        if judged.verdict is CheckVerdict.PROVABLE:
            self._ledger.prove(truth, claim, judged.proof)
            self._count(normal(claim), found is None or claim.polarity or claim.value is None)
        elif judged.verdict is CheckVerdict.REFUTABLE:
            self._ledger.refute(truth.id, judged.proof)
        return truth

    def _count(self, claim: Claim, tells: bool) -> None:
        """Count a claim once. One tells little, and scores nothing, if it denies a value that no
        command was about: whoever has seen that a file has two lines could deny all other
        numbers."""
        if claim not in self._counted:
            self._counted.add(claim)
            self.state.validated_truths += 1
            if tells and claim.predicate not in TRIVIAL:
                self._facts += 1
                self.state.score += SCORE_TRUTH_DIRECT

    def _assert(self, claim: Claim) -> MoveResult:
        found = self.evidence.judge(claim)
        if found.verdict is CheckVerdict.ILL_TYPED:
            return self._rejected(MoveVerdict.ILLEGAL, _ill_typed(found.reason), SCORE_ILLEGAL_MOVE)
        truth = self._claim(claim, found)
        return MoveResult(
            MoveVerdict.LEGAL,
            f"{found.verdict.value}: {found.missing or found.reason}",
            truths=(truth,),
        )

    def _reformulate(self, move: Reformulate) -> MoveResult:
        again = normal(move.claim) in self._counted
        result = self._assert(move.claim)
        if not again and normal(move.claim) in self._counted:
            self.state.score += SCORE_GOOD_REFORMULATION
        return result

    def _resolve(self, move: Resolve) -> MoveResult:
        result = self._assert(move.claim)
        self.pcg.link(EdgeType.TARGETS, move.question, result.truths[0].id)
        self.pcg.promote(move.question, Status.CLOSED)
        self.state.open_questions -= 1
        if normal(move.claim) not in self._answers:
            self._answers.add(normal(move.claim))
            self.state.score += SCORE_QUESTION_RESOLVED
        return result

    def _assume(self, move: Challenge) -> MoveResult:
        assumed = self.pcg.add(Assumption, text=move.text, falsify_hint=move.falsified_by.text)
        self._assumed[assumed.id] = move.falsified_by
        self._settle()
        return MoveResult(MoveVerdict.LEGAL, f"assumption {assumed.id}")

    def _settle(self) -> None:
        """Close the assumptions that what is known decides: one is refuted if the claim against it
        is proven, and closed, not proven, if that claim is refuted. There are never more than may
        be open."""
        ends = {CheckVerdict.PROVABLE: Status.REFUTED, CheckVerdict.REFUTABLE: Status.CLOSED}
        for assumed, against in tuple(self._assumed.items()):
            status = ends.get(self.evidence.judge(against).verdict)
            if status is not None:
                self.pcg.promote(assumed, status)
                del self._assumed[assumed]

    def check_goal_satisfaction(self) -> bool:
        """Whether everything that the goal names is proven by what is known now; a goal that names
        nothing is not."""
        judged = [self.evidence.judge(claim) for claim in self.goal]
        if not judged or any(one.verdict is not CheckVerdict.PROVABLE for one in judged):
            return False
        if not self.state.goal_satisfied:
            self.state.goal_satisfied = True
            by = sorted({one for found in judged for one in found.proof})
            self.pcg.log("goal_check", verdict="satisfied", data={"goal": self._goal.id, "by": by})
        return True


def _ill_typed(why: str) -> str:
    return f"{CheckVerdict.ILL_TYPED.value}: {why}"


def _result(found: ClaimStanding) -> CheckResult:
    missing = (found.missing,) if found.missing else ()
    return CheckResult(found.verdict, found.proof, missing, found.reason)
