"""The commands that the first law refuses to run. It is no wall: `rm -fr /` passes, and `echo
shutdown` does not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Protocol

from stanchion.kernel.regex import regex
from stanchion.readings.claims.claim import CheckVerdict
from stanchion.tutor.graph import (
    ClaimKind,
    Constraint,
    EdgeType,
    Entity,
    Goal,
    Graph,
    Observation,
    Question,
    Status,
    Truth,
    ids_of,
)
from stanchion.tutor.law.verdicts import (
    SCORE_ILLEGAL_MOVE,
    SCORE_TRUTH_DIRECT,
    SCORE_TRUTH_RULE,
    CheckResult,
    GameState,
    MoveResult,
    MoveVerdict,
)
from stanchion.tutor.moves.legacy import (
    AskMove,
    AssertMove,
    ChallengeMove,
    Move,
    ProposeMove,
    ReformulateMove,
    RespondMove,
)
from stanchion.tutor.rules.rule import Conclusion, RuleLibrary, TextRule

DENYLIST: Final = (
    r"rm\s+-rf\s+/",
    r"rm\s+-rf\s+\*",
    r"mkfs",
    r"dd\s+if=",
    r"shutdown",
    r"reboot",
    r":(){ :|:& };:",
    r">\s*/dev/sd",
    r"chmod\s+-R\s+777\s+/",
)
_COMPILED: Final = tuple((pattern, regex(pattern, re.IGNORECASE)) for pattern in DENYLIST)


def is_safe(command: str) -> tuple[bool, str]:
    """Whether none of them is in a command, and why not."""
    for pattern, compiled in _COMPILED:
        if compiled.search(command):
            return False, f"Command matches denylist pattern: {pattern}"
    return True, ""


class Executor(Protocol):
    """Runs commands, or does not; what it says is all that the law knows of the world."""

    def is_safe(self, command: str, /) -> tuple[bool, str]:
        """Whether it would run a command, and why not."""

    def execute(self, command: str, mode: str = "read", /) -> tuple[int, str, str]:
        """Run a command; gives its exit status, output and errors. What was not run has the status
        -1."""


CONSTRAINTS: Final = (
    ("Read-only actions first; write actions only after cause is localized.", "process"),
    ("No network destruction. No deletion without confirmation.", "policy"),
    ("All truths must be provable by evidence or sound rule chains.", "epistemic"),
)
"""What every game begins with."""
CUSTOM: Final = "custom"
"""The kind of what holds in one game only."""
LOCALIZED: Final = 2
"""How many claims have to be proven before anything is written."""
ENOUGH: Final = 3
"""How many claims have to be proven for a goal to count as reached."""
ALIKE: Final = 0.5
"""Which share of words has to be the same for two claims to count as one."""
TOOL: Final = "bash"
UNLOCALIZED: Final = "Write actions blocked until cause is localized (need more evidence)"

Author = Callable[[str, Truth, Observation], TextRule]
"""Writes a rule by which a claim would follow from an observation; raises where it has none."""


class TutorV1:
    """The referee of a game. It decides by its rules alone, and runs commands through what it is
    given."""

    def __init__(
        self,
        game_id: str,
        executor: Executor,
        rules: RuleLibrary,
        author: Author | None = None,
        clock: Callable[[], str] = lambda: "",
    ) -> None:
        self.game_id = game_id
        self.executor, self.rules, self.state = executor, rules, GameState()
        self.pcg = Graph(game_id, clock)
        self.author = author

    def setup_game(self, goal: str, constraints: Iterable[str] = ()) -> None:
        """Begin a game: its goal, what always holds, and what holds in this one."""
        self.pcg.add_goal(goal)
        for text, kind in (*CONSTRAINTS, *((one, CUSTOM) for one in constraints)):
            self.pcg.add_constraint(text, kind)
        self.pcg.turn = 0

    def next_turn(self) -> None:
        """Begin the next turn."""
        self.state.turn += 1
        self.pcg.turn = self.state.turn

    def check(self, truth: Truth, commit: bool = False) -> CheckResult:
        """What is known of a claim, which need not be in the graph. Nothing is changed by it unless
        it is committed: then the verdict is written down, and a claim that is proven is promoted
        and counts.

        Cases, in this order: it says nothing; an observation supports it; a rule concludes, from
        any observation, what has more than half of its words; an observation refutes it; nobody
        knows.
        """
        found = self._checked(truth)
        if commit:
            self._commit(truth, found)
        return found

    def _checked(self, truth: Truth) -> CheckResult:
        if not truth.text:
            return CheckResult(CheckVerdict.ILL_TYPED, reason="Claim must have text and kind")
        supporting = self.pcg.supporting(truth.id)
        if supporting:
            proof = tuple(one.id for one in supporting)
            return CheckResult(CheckVerdict.PROVABLE, proof, reason="Direct evidence support")
        for seen in self.pcg.of(Observation):
            for rule, follows in self.rules.apply_all(_observed(seen), self.game_id):
                if any(_alike(one, truth) for one in follows):
                    return CheckResult(
                        CheckVerdict.PROVABLE,
                        (seen.id, rule.id),
                        reason=f"Derived via rule {rule.id}",
                    )
        for edge in self.pcg.into(EdgeType.REFUTES, truth.id):
            return CheckResult(
                CheckVerdict.REFUTABLE, ids_of(edge.src), reason="Contradicted by evidence"
            )
        missing = ("Evidence observation",)
        return CheckResult(
            CheckVerdict.UNDECIDABLE, missing=missing, reason="No evidence or rule to prove/refute"
        )

    def _commit(self, truth: Truth, found: CheckResult) -> None:
        data = {"proof": list(found.proof), "missing": list(found.missing)}
        self.pcg.log("check", truth.id, found.verdict.value, found.reason, data)
        if found.verdict is CheckVerdict.PROVABLE:
            self.pcg.promote(truth.id, Status.VALIDATED)
            self.state.validated_truths += 1
            self.state.score += SCORE_TRUTH_DIRECT

    def validate_move(self, move: Move) -> MoveResult:
        """Whether a move may be made; nothing is done."""
        match move:
            case ProposeMove():
                return self._may_propose(move)
            case AssertMove() if not move.text:
                return MoveResult(MoveVerdict.ILLEGAL, "ASSERT requires text")
            case AssertMove() | AskMove() | ChallengeMove() | ReformulateMove() | RespondMove():
                return MoveResult(MoveVerdict.LEGAL)
            case _:
                return MoveResult(MoveVerdict.ILLEGAL, f"Unknown move type: {type(move)}")

    def _may_propose(self, move: ProposeMove) -> MoveResult:
        safe, why = self.executor.is_safe(move.command)
        if not safe:
            return MoveResult(MoveVerdict.BLOCKED, why)
        constraints = self.pcg.of(Constraint, Status.ACTIVE)
        careful = any("read-only" in one.text.lower() for one in constraints)
        if careful and move.mode == "write" and len(self._validated()) < LOCALIZED:
            return MoveResult(MoveVerdict.BLOCKED, UNLOCALIZED)
        return MoveResult(MoveVerdict.LEGAL)

    def execute_move(self, move: Move) -> MoveResult:
        """Make a move, where that is legal."""
        found = self.validate_move(move)
        if found.verdict is not MoveVerdict.LEGAL:
            self.state.score += SCORE_ILLEGAL_MOVE
            self.pcg.log("move_rejected", verdict=found.verdict.value, reason=found.reason)
            return found
        match move:
            case ProposeMove():
                return self._propose(move)
            case AssertMove():
                return self._assert(move)
            case AskMove():
                asked = self.pcg.add_question(move.text, move.targets)
                self.state.open_questions += 1
                return MoveResult(MoveVerdict.LEGAL, f"Question registered: {asked.id}")
            case ChallengeMove():
                assumed = self.pcg.add_assumption(move.text, move.falsify)
                return MoveResult(MoveVerdict.LEGAL, f"Assumption registered: {assumed.id}")
            case _:
                return MoveResult(MoveVerdict.LEGAL)

    def _assert(self, move: AssertMove) -> MoveResult:
        kind = ClaimKind(move.kind) if move.kind else ClaimKind.PROPERTY
        truth = self.pcg.add_truth(move.text, kind, move.domain, move.scope)
        found = self.check(truth, commit=True)
        return MoveResult(
            MoveVerdict.LEGAL, f"CHECK verdict: {found.verdict.value}", truths=(truth,)
        )

    def _propose(self, move: ProposeMove) -> MoveResult:
        act = self.pcg.add_action(move.intent, move.mode, move.command, move.verify)
        self.pcg.log("execute", data={"act": act.id, "status": "started", "rc": None})
        rc, stdout, stderr = self.executor.execute(move.command, move.mode)
        seen = self.pcg.add_observation(act.id, TOOL, move.command, rc, stdout, stderr)
        self.pcg.log("execute", data={"act": act.id, "status": "finished", "rc": rc})
        truths: list[Truth] = []
        entities: list[Entity] = []
        for rule, follows in self.rules.apply_all(_observed(seen), self.game_id):
            for one in follows:
                if one.type == "truth":
                    truths.append(self._derived(one, rule, seen))
                else:
                    entities.append(self._mentioned(one, seen))
        return MoveResult(
            MoveVerdict.LEGAL, observation=seen, truths=tuple(truths), entities=tuple(entities)
        )

    def _derived(self, one: Conclusion, rule: TextRule, seen: Observation) -> Truth:
        truth = self.pcg.add_truth(
            one.text, ClaimKind(one.kind), one.domain, one.scope, Status.VALIDATED
        )
        self.pcg.link(EdgeType.SUPPORTS, seen.id, truth.id, transform=f"rule:{rule.id}")
        self.state.validated_truths += 1
        self.state.score += SCORE_TRUTH_RULE
        return truth

    def _mentioned(self, one: Conclusion, seen: Observation) -> Entity:
        entity = self.pcg.add_entity(one.kind, one.text)
        self.pcg.link(EdgeType.MENTIONS, seen.id, (entity.id,))
        return entity

    def request_rule(self, prompt: str, claim: Truth, seen: Observation) -> TextRule | None:
        """Have a rule written by which a claim would follow from an observation; it holds in this
        game."""
        if self.author is None:
            return None
        try:
            rule = self.rules.add_session_rule(self.game_id, self.author(prompt, claim, seen))
        except Exception as error:  # noqa: BLE001 - whoever writes rules may raise anything, and then there is none
            self.pcg.log("rule_generation_failed", reason=str(error))
            return None
        self.pcg.log(
            "rule_generated",
            rule.id,
            reason=f"Generated to derive {claim.id}",
            data={"generated_by": "fat_llm"},
        )
        return rule

    def check_goal_satisfaction(self) -> bool:
        """Whether the goal counts as reached: enough is proven, and nothing is asked."""
        goals, validated = self.pcg.of(Goal, Status.ACTIVE), self._validated()
        if not goals or len(validated) < ENOUGH or self.pcg.of(Question, Status.OPEN):
            return False
        self.state.goal_satisfied = True
        by = [one.id for one in validated[:5]]
        self.pcg.log("goal_check", verdict="satisfied", data={"goal": goals[0].id, "by": by})
        return True

    def get_context_for_llm(self, max_observations: int = 5) -> str:
        """What a player is told before a turn."""
        lines = ["=== GAME STATE ===", f"Turn: {self.state.turn}", f"Score: {self.state.score}", ""]
        validated = self._validated()
        if validated:
            lines += [
                "VALIDATED TRUTHS:",
                *(f"  [{one.id}] {one.text}" for one in validated[-10:]),
                "",
            ]
        seen = self.pcg.of(Observation)
        if seen:
            lines.append(f"RECENT OBSERVATIONS (last {max_observations}):")
            for one in seen[-max_observations:]:
                lines += [
                    f"  [{one.id}] {one.tool}: {one.command}",
                    f"      rc={one.rc}, stdout={one.stdout[:100]}...",
                ]
            lines.append("")
        asked = self.pcg.of(Question, Status.OPEN)
        if asked:
            lines += ["OPEN QUESTIONS:", *(f"  [{one.id}] {one.text}" for one in asked), ""]
        constraints = self.pcg.of(Constraint, Status.ACTIVE)
        if constraints:
            lines += ["CONSTRAINTS:", *(f"  - {one.text}" for one in constraints)]
        return "\n".join(lines)

    def _validated(self) -> list[Truth]:
        return self.pcg.of(Truth, Status.VALIDATED)


def _observed(seen: Observation) -> Mapping[str, Any]:
    return {
        "tool": seen.tool,
        "command": seen.command,
        "rc": seen.rc,
        "stdout": seen.stdout,
        "stderr": seen.stderr,
        "scope": seen.source_act,
    }


def _alike(one: Conclusion, truth: Truth) -> bool:
    """Whether a conclusion has more than half of a claim's words, and the claim of its."""
    if one.type != "truth":
        return False
    concluded, claimed = set(one.text.lower().split()), set(truth.text.lower().split())
    most = max(len(concluded), len(claimed))
    return most > 0 and len(concluded & claimed) / most > ALIKE
