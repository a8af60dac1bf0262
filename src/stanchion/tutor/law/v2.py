"""The second law: what it calls proven is true of what was seen, and what it calls refuted is false.

Claims have a predicate and are compared exactly. Facts follow from the words of single commands that ran to their end.
Every promotion is a derivation in the graph, and every fact counts once.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from typing import Final, Protocol

import msgspec

from stanchion.readings.claims.claim import Claim, Predicate
from stanchion.readings.claims.evidence import Evidence
from stanchion.readings.claims.facts import Content, Ran
from stanchion.readings.claims.judging import Known, Standing
from stanchion.readings.claims.verdict import CheckVerdict
from stanchion.readings.shell.single import single
from stanchion.tutor.graph.graph import Graph
from stanchion.tutor.graph.nodes import ClaimKind, EdgeType, Observation, Question, Soundness, Status, Truth
from stanchion.tutor.law.verdicts import (
    SCORE_GOOD_REFORMULATION,
    SCORE_ILLEGAL_MOVE,
    SCORE_POLICY_VIOLATION,
    SCORE_QUESTION_RESOLVED,
    SCORE_TRUTH_DIRECT,
    CheckResult,
    GameState,
    MoveResult,
    MoveVerdict,
)
from stanchion.tutor.moves.typed import (
    Ask,
    Assert,
    Challenge,
    Propose,
    Reformulate,
    Resolve,
    Respond,
    TypedMove,
    Unread,
    read,
)

WIP: Final = 2
"""How many questions and assumptions may be open before new ones are refused."""
TRIVIAL: Final = frozenset({Predicate.SUCCEEDED})
"""What is proven by any command that ends well: it counts where a goal asks for it, and scores nothing."""
TOOL: Final = "argv"
KINDS: Final = {
    Predicate.EXISTS: ClaimKind.EXISTENCE,
    Predicate.FILE: ClaimKind.EXISTENCE,
    Predicate.DIRECTORY: ClaimKind.EXISTENCE,
    Predicate.CONTAINS: ClaimKind.MEMBERSHIP,
    Predicate.LINES: ClaimKind.QUANTITATIVE,
    Predicate.BYTES: ClaimKind.QUANTITATIVE,
    Predicate.DIGEST: ClaimKind.EQUALITY,
    Predicate.VERSION: ClaimKind.EQUALITY,
}


class Outcome(msgspec.Struct, frozen=True):
    """What came of a command. `ended` says that it ran to its end; otherwise `why` says what stopped it, and whatever
    it printed is no evidence."""

    ended: bool
    rc: int = -1
    stdout: str = ""
    stderr: str = ""
    whole: bool = True
    changes: bool = False
    """Whether it could change anything."""
    why: str = ""


class Runner(Protocol):
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
        runner: Runner,
        goal: str,
        claims: Iterable[Claim] = (),
        writes: bool = False,
        wip: int = WIP,
        clock: Callable[[], str] = lambda: "",
    ) -> None:
        self.game_id = game_id
        self.pcg = Graph(game_id, clock)
        self.state = GameState()
        self.goal = tuple(claims)
        self.evidence = Evidence()
        self._runner, self._writes, self._wip = runner, writes, wip
        self._claimed: dict[str, Claim] = {}
        self._counted: set[Claim] = set()
        self._rules: dict[str, str] = {}
        self._goal = self.pcg.add_goal(goal).id

    def next_turn(self) -> None:
        """Begin the next turn."""
        self.state.turn += 1
        self.pcg.turn = self.state.turn

    def play(self, reply: str) -> MoveResult:
        """Make the one move that a reply is."""
        move = read(reply)
        if isinstance(move, Unread):
            return self._rejected(MoveVerdict.ILLEGAL, f"{move.what.value}: {move.why}", SCORE_ILLEGAL_MOVE)
        return self.execute_move(move)

    def check(self, claim: Claim) -> CheckResult:
        """What is known of a claim; nothing is changed by asking."""
        return _result(self.evidence.judge(claim))

    def validate_move(self, move: TypedMove) -> MoveResult:
        """Whether a move may be made; nothing is done."""
        match move:
            case Propose():
                return self._may_propose(move)
            case Ask() | Challenge() if self._open() >= self._wip:
                return MoveResult(MoveVerdict.BLOCKED, f"{self._open()} things are open: settle one first")
            case Ask() if not move.text.strip():
                return MoveResult(MoveVerdict.ILLEGAL, "a question has words")
            case Reformulate():
                return self._may_reformulate(move)
            case Resolve():
                return self._may_resolve(move)
            case _:
                return MoveResult(MoveVerdict.LEGAL)

    def _may_propose(self, move: Propose) -> MoveResult:
        if bool(move.argv) is bool(move.command):
            return MoveResult(MoveVerdict.ILLEGAL, "give the words of one command as `argv`, or its text as `command`")
        argv = _argv(move)
        if argv is None:
            return MoveResult(MoveVerdict.ILLEGAL, f"`{move.command}` is more than one command of literal words")
        if not argv or not argv[0] or any("\0" in word for word in argv):
            return MoveResult(MoveVerdict.ILLEGAL, "a command has a name, and no word of it has a zero byte")
        if move.write and not self._writes:
            return MoveResult(MoveVerdict.BLOCKED, "nothing may be written in this game")
        why = self._runner.refused(argv, move.write)
        return MoveResult(MoveVerdict.BLOCKED, why) if why else MoveResult(MoveVerdict.LEGAL)

    def _may_reformulate(self, move: Reformulate) -> MoveResult:
        known = self._claimed.get(move.original)
        if known is None:
            return MoveResult(MoveVerdict.ILLEGAL, f"`{move.original}` is no claim of this game")
        if known == move.claim:
            return MoveResult(MoveVerdict.ILLEGAL, "it says the same as before")
        return MoveResult(MoveVerdict.LEGAL)

    def _may_resolve(self, move: Resolve) -> MoveResult:
        if self.pcg.status(move.question) is not Status.OPEN:
            return MoveResult(MoveVerdict.ILLEGAL, f"`{move.question}` is no open question")
        if self.check(move.claim).verdict is not CheckVerdict.PROVABLE:
            return MoveResult(MoveVerdict.BLOCKED, "a question is answered by what is proven: bring evidence first")
        return MoveResult(MoveVerdict.LEGAL)

    def execute_move(self, move: TypedMove) -> MoveResult:
        """Make a move, where that is legal."""
        found = self.validate_move(move)
        if found.verdict is not MoveVerdict.LEGAL:
            lost = SCORE_POLICY_VIOLATION if found.verdict is MoveVerdict.BLOCKED else SCORE_ILLEGAL_MOVE
            return self._rejected(found.verdict, found.reason, lost)
        match move:
            case Propose():
                return self._propose(move)
            case Assert():
                return self._assert(move.claim)
            case Reformulate():
                result = self._assert(move.claim)
                if self.check(move.claim).verdict is CheckVerdict.PROVABLE:
                    self.state.score += SCORE_GOOD_REFORMULATION
                return result
            case Resolve():
                return self._resolve(move)
            case Ask():
                asked = self.pcg.add_question(move.text, [one for one in move.targets if one in self.pcg.nodes])
                self.state.open_questions += 1
                return MoveResult(MoveVerdict.LEGAL, f"question {asked.id}")
            case Challenge():
                hint = "" if move.falsified_by is None else move.falsified_by.text
                return MoveResult(MoveVerdict.LEGAL, f"assumption {self.pcg.add_assumption(move.text, hint).id}")
            case Respond():
                return MoveResult(MoveVerdict.LEGAL)

    def _rejected(self, verdict: MoveVerdict, why: str, score: int) -> MoveResult:
        self.state.score += score
        self.pcg.log("move_rejected", verdict=verdict.value, reason=why)
        return MoveResult(verdict, why)

    def _propose(self, move: Propose) -> MoveResult:
        argv = _argv(move)
        assert argv is not None  # it was validated
        line = shlex.join(argv)
        act = self.pcg.add_action(move.intent, "write" if move.write else "read", line)
        self.pcg.log("execute", data={"act": act.id, "status": Status.STARTED.value, "rc": None})
        self.pcg.promote(act.id, Status.STARTED)
        came = self._runner.run(argv, move.write)
        seen = self.pcg.add_observation(act.id, TOOL, line, came.rc, came.stdout, came.stderr)
        self.pcg.log("execute", data={"act": act.id, "status": Status.FINISHED.value, "rc": came.rc})
        self.pcg.promote(act.id, Status.FINISHED)
        if came.changes:
            self._forget()
        if not came.ended:
            return MoveResult(MoveVerdict.LEGAL, f"no evidence: {came.why}", observation=seen)
        ran = Ran(argv, came.rc, came.stdout, came.stderr, came.whole)
        new = self.evidence.take(seen.id, ran, came.changes)
        truths = tuple(self._derived(one) for one in new if isinstance(one.fact, Claim))
        self._refuted(seen)
        return MoveResult(MoveVerdict.LEGAL, observation=seen, truths=truths)

    def _derived(self, known: Known) -> Truth:
        """A fact as a claim of the graph, derived from its observation."""
        claim = known.fact
        assert not isinstance(claim, Content)  # what stands in a file is no claim yet
        truth = self._put(claim)
        self._prove(truth, (known.observation,), claim)
        return truth

    def _put(self, claim: Claim) -> Truth:
        kind = KINDS.get(claim.predicate, ClaimKind.PROPERTY)
        truth = self.pcg.add_truth(claim.text, kind, "world", claim.subject)
        self._claimed[truth.id] = claim
        return truth

    def _prove(self, truth: Truth, proof: tuple[str, ...], claim: Claim) -> None:
        name = f"V2_{claim.predicate.value}"
        if name not in self._rules:
            premise, conclusion = f"single commands that tell of `{claim.predicate.value}`", claim.predicate.value
            self._rules[name] = self.pcg.add_rule(name, Soundness.SOUND, premise, conclusion).id
        self.pcg.link(EdgeType.DERIVES, (self._rules[name], *proof), truth.id, transform=name)
        self.pcg.promote(truth.id, Status.VALIDATED)
        if claim not in self._counted:
            self._counted.add(claim)
            self.state.validated_truths += 1
            self.state.score += 0 if claim.predicate in TRIVIAL else SCORE_TRUTH_DIRECT

    def _assert(self, claim: Claim) -> MoveResult:
        found = self.evidence.judge(claim)
        if found.verdict is CheckVerdict.ILL_TYPED:
            return self._rejected(MoveVerdict.ILLEGAL, f"ill-typed: {found.reason}", SCORE_ILLEGAL_MOVE)
        truth = self._put(claim)
        data = {"proof": list(found.proof), "missing": [found.missing] if found.missing else []}
        self.pcg.log("check", truth.id, found.verdict.value, found.reason, data)
        if found.verdict is CheckVerdict.PROVABLE:
            self._prove(truth, found.proof, claim)
        elif found.verdict is CheckVerdict.REFUTABLE:
            self._refute(truth.id, found.proof)
        return MoveResult(MoveVerdict.LEGAL, f"{found.verdict.value}: {found.missing or found.reason}", truths=(truth,))

    def _refute(self, truth: str, by: tuple[str, ...]) -> None:
        for one in by:
            self.pcg.link(EdgeType.REFUTES, one, truth)
        self.pcg.promote(truth, Status.REFUTED)

    def _refuted(self, seen: Observation) -> None:
        """Refute what was claimed or proven before and is not so by what was just seen."""
        for truth, claim in self._claimed.items():
            if self.pcg.status(truth) is Status.REFUTED:
                continue
            found = self.evidence.judge(claim)
            if found.verdict is CheckVerdict.REFUTABLE and seen.id in found.proof:
                self._refute(truth, (seen.id,))

    def _forget(self) -> None:
        """Something may have changed: what was proven of the world before is a claim again."""
        for truth, claim in self._claimed.items():
            if claim.predicate not in TRIVIAL and self.pcg.status(truth) is Status.VALIDATED:
                self.pcg.promote(truth, Status.PROPOSED)

    def _resolve(self, move: Resolve) -> MoveResult:
        result = self._assert(move.claim)
        self.pcg.link(EdgeType.TARGETS, move.question, result.truths[0].id)
        self.pcg.promote(move.question, Status.CLOSED)
        self.state.open_questions -= 1
        self.state.score += SCORE_QUESTION_RESOLVED
        return result

    def _open(self) -> int:
        return len(self.pcg.of(Question, Status.OPEN))

    def check_goal_satisfaction(self) -> bool:
        """Whether everything that the goal names is proven by what is known now; a goal that names nothing is not."""
        judged = [self.evidence.judge(claim) for claim in self.goal]
        if not judged or any(one.verdict is not CheckVerdict.PROVABLE for one in judged):
            return False
        if not self.state.goal_satisfied:
            self.state.goal_satisfied = True
            by = sorted({one for found in judged for one in found.proof})
            self.pcg.log("goal_check", verdict="satisfied", data={"goal": self._goal, "by": by})
        return True


def _argv(move: Propose) -> tuple[str, ...] | None:
    return move.argv if move.argv else single(move.command)


def _result(found: Standing) -> CheckResult:
    missing = (found.missing,) if found.missing else ()
    return CheckResult(found.verdict, found.proof, missing, found.reason)
