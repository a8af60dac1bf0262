"""What a policy would have done to recorded sessions of coding agents: counted, and grouped by
finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from stanchion.guards.evidence.commands import Catalogue, unwrapped
from stanchion.guards.evidence.outcome import shell_texts
from stanchion.guards.evidence.tables import COMMITS, LINTS, TESTS
from stanchion.guards.evidence.targets import ran_by
from stanchion.kernel.actions import PROCEEDS, Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.findings import Finding
from stanchion.kernel.stages import Stage
from stanchion.ops.views.explain import DecisionCase, explain
from stanchion.ops.views.veiled import veiled
from stanchion.policy.compiled import CompiledPolicy

BUILDS: Final = (
    "make", "gmake", "ninja", "cmake --build", "bazel build", "cargo build", "cargo check",
    "go build", "tsc", "npm run build*", "npm install", "npm ci", "yarn build*", "yarn install",
    "pnpm build*", "pnpm run build*", "pnpm install", "bun run build*", "bun install",
    "vite build", "webpack", "mvn package", "mvn compile", "gradle build", "gradlew build",
    "dotnet build", "swift build", "docker build", "build", "pip install", "uv sync", "uv build",
    "poetry install", "poetry build",
)  # fmt: skip
"""Commands that build, or fetch what a build needs."""
HONEST: Final = {
    "test": Catalogue(TESTS),
    "lint": Catalogue(LINTS),
    "build": Catalogue(BUILDS),
    "commit": Catalogue(COMMITS),
}
"""Work that is honest by its kind, as it is told in a report; a push counts as a commit."""
MOST_GROUPS: Final = 200
"""How many groups are told apart; what comes later is counted in one group."""
EXAMPLE: Final = 300
"""How long the example of a group may be."""

Outcome = Literal["stopped", "asked", "unknown", "changed", "sent_back"]
"""What would have become of an event: it would not have happened, a person would have been asked
first, that cannot be said, it would have gone ahead with other content, or the answer would have
been sent back."""
OUTCOMES: Final[tuple[Outcome, ...]] = ("stopped", "asked", "unknown", "changed", "sent_back")


class PastEvent(Struct, frozen=True):
    """A thing that a recorded session tells, and how it was judged, if it was. `key` is the same in
    every copy; `skipped` names the count that it goes into without being judged. `case` gives its
    record to explain."""

    session: str
    agent: str
    at_ms: int
    key: str
    tokens: int
    cost_usd: float
    refused: bool
    skipped: str = ""
    folder: str = ""
    stage: Stage | None = None
    tool: str = ""
    args: Mapping[str, Any] = {}
    decision: Decision | None = None
    unknown: str = ""
    case: Callable[[], DecisionCase] | None = None


class PastGroup(Struct):
    """Events of which the same was found. `happens` is the action; `depends` is what nobody knows
    any more; `honest` counts the tests, linters, builds and commits among them. The example is the
    first one, without secrets; `to_pass` is what would have let it pass."""

    outcome: Outcome
    code: str
    guard: str
    happens: str
    message: str
    count: int = 0
    sessions: int = 0
    depends: str = ""
    example: str = ""
    stage: str = ""
    tool: str = ""
    agent: str = ""
    session: str = ""
    folder: str = ""
    at_ms: int = 0
    to_pass: tuple[str, ...] = ()
    advice: str = ""
    honest: dict[str, int] = {}


class PastReport(Struct):
    """What a policy would have done. `ended` counts sessions that would have been halted, and
    `after_end` the calls behind that, which were not judged. `honest` counts work that is honest by
    its kind, `touched` what of it is in a group. `hidden` counts results and prompts from which
    something would have been taken out, `warned` those with a word to the agent. `unheard` are
    calls that are refused because nobody is told what is typed into what they start; `refused` are
    calls that the host itself did not carry out, `copies` what stands in several files and is
    counted once."""

    policy: str
    hash: str
    since_ms: int | None = None
    until_ms: int | None = None
    agents: dict[str, int] = {}
    folders: int = 0
    sessions: int = 0
    commands: int = 0
    other_calls: int = 0
    stopped: int = 0
    asked: int = 0
    unknown: int = 0
    changed: int = 0
    sent_back: int = 0
    hidden: int = 0
    warned: int = 0
    ended: int = 0
    after_end: int = 0
    unheard: int = 0
    refused: int = 0
    copies: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    honest: dict[str, int] = {}
    touched: dict[str, int] = {}
    lines: int = 0
    unreadable: int = 0
    unknown_kinds: dict[str, int] = {}
    unopened: dict[str, str] = {}
    groups: list[PastGroup] = []


class ReportTally:
    """Counts the events of sessions that are in a time and a folder, each once, and keeps one
    example of each group."""

    def __init__(
        self,
        policy: CompiledPolicy,
        since_ms: int | None = None,
        until_ms: int | None = None,
        folder: str = "",
    ) -> None:
        self._policy, self._folder = policy, folder
        self._report = PastReport(policy.file.name, policy.hash, since_ms, until_ms)
        self._counts = {name: Counter[str]() for name in ("agents", "honest", "touched")}
        self._groups: dict[tuple[str, ...], PastGroup] = {}
        self._in: dict[tuple[str, ...], str] = {}
        self._folders: set[str] = set()
        self._seen: set[int] = set()

    def session(self, events: Iterable[PastEvent]) -> None:
        """Count a session."""
        agent, folder, new = "", "", set[int]()
        for event in events:
            folder = event.folder or folder
            if self._is_asked(event.at_ms, folder) and self._count(event, new):
                agent = event.agent
                self._folders |= {folder} if folder else set()
        self._seen |= new
        if agent:
            self._counts["agents"][agent] += 1

    def _is_asked(self, at_ms: int, folder: str) -> bool:
        since_ms, until_ms = self._report.since_ms, self._report.until_ms
        after = since_ms is None or at_ms >= since_ms
        before = until_ms is None or at_ms < until_ms
        return after and before and f"{folder}/".startswith(self._folder)

    def _count(self, event: PastEvent, new: set[int]) -> bool:
        """Count an event; whether it is the first of its copies, of which a session has none."""
        total, known = self._report, hash((event.agent, event.key))
        if event.key and known in self._seen:
            total.copies += event.stage is Stage.TOOL_CALL
            return False
        new |= {known} if event.key else set()
        total.tokens += event.tokens
        total.cost_usd += event.cost_usd
        total.refused += event.refused
        if event.skipped:
            setattr(total, event.skipped, getattr(total, event.skipped) + 1)
        if event.decision is not None:
            self._judged(event, event.decision)
        return True

    def _judged(self, event: PastEvent, decision: Decision) -> None:
        total, kinds = self._report, tuple[str, ...]()
        if event.stage is Stage.TOOL_CALL:
            texts = shell_texts(event.args)
            kinds = honest_kinds(texts)
            self._counts["honest"].update(kinds)
            total.commands += bool(texts)
            total.other_calls += not texts
        outcome, found = outcome_of(event.stage, decision, event.unknown), _determining(decision)
        if outcome is None:
            total.warned += decision.action is Action.WARN
            total.hidden += bool(_patching(decision))
            return
        setattr(total, outcome, getattr(total, outcome) + 1)
        total.ended += decision.action is Action.HALT
        self._counts["touched"].update(kinds)
        key = (outcome, *found)
        if key not in self._groups and len(self._groups) >= MOST_GROUPS:
            key = (outcome, "", "")
        if key not in self._groups:
            self._groups[key] = self._example(outcome, event, decision, *found)
        group = self._groups[key]
        group.count += 1
        group.sessions += self._in.get(key) != event.session
        self._in[key] = event.session
        group.honest = dict(Counter(group.honest) + Counter(kinds))

    def _example(
        self, outcome: Outcome, event: PastEvent, decision: Decision, guard: str, code: str
    ) -> PastGroup:
        reasons = () if event.case is None else explain(event.case(), self._policy).findings
        reason = next((one for one in reasons if (one.guard, one.code) == (guard, code)), None)
        return PastGroup(
            outcome,
            code,
            guard,
            decision.action.name,
            veiled(decision.message if reason is None else reason.message),
            depends=event.unknown,
            example=_words(event.args),
            stage=str(event.stage),
            tool=veiled(event.tool),
            agent=event.agent,
            session=veiled(event.session),
            folder=veiled(event.folder),
            at_ms=event.at_ms,
            to_pass=() if reason is None else reason.to_pass,
            advice="" if reason is None else reason.advice,
        )

    def done(self) -> PastReport:
        """The report of what was counted."""
        report = self._report
        report.agents = dict(self._counts["agents"])
        report.sessions, report.folders = sum(report.agents.values()), len(self._folders)
        report.honest = {kind: self._counts["honest"][kind] for kind in HONEST}
        report.touched = {kind: self._counts["touched"][kind] for kind in HONEST}
        report.groups = sorted(
            self._groups.values(),
            key=lambda one: (OUTCOMES.index(one.outcome), -one.count, one.code),
        )
        return report


def honest_kinds(texts: list[str]) -> tuple[str, ...]:
    """Which kinds of honest work shell texts do, each kind once."""
    ran = [unwrapped(step.argv) for text in texts for step in ran_by(text) if step.argv]
    return tuple(kind for kind, known in HONEST.items() if any(map(known.has, ran)))


def outcome_of(stage: Stage | None, decision: Decision, unknown: str) -> Outcome | None:
    """What would have become of an event; `None` for one that would have gone ahead as it is."""
    if decision.action <= PROCEEDS:
        # The shape of arguments is set right without anybody asking.
        other = any(one.guard != "schema" for one in _patching(decision))
        return "changed" if other and stage is Stage.TOOL_CALL else None
    if unknown:
        return "unknown"
    if stage is Stage.MODEL_REPLY:
        return "sent_back"
    return "asked" if decision.action is Action.ESCALATE else "stopped"


def _patching(decision: Decision) -> list[Finding]:
    return [one for one in decision.findings if one.patches and not one.shadow]


def _determining(decision: Decision) -> tuple[str, str]:
    """The guard and the code of the finding that decided."""
    found = decision.determining
    if decision.action <= PROCEEDS:
        found = next(iter(_patching(decision)), found)
    return ("", decision.code) if found is None else (found.guard, found.code)


def _words(args: Mapping[str, Any]) -> str:
    """What is shown of an event, in one line and without secrets: its command, or its arguments."""
    texts = shell_texts(args)
    given = {name: one for name, one in args.items() if name != "cwd"}
    text = texts[0] if texts else msgspec.json.encode(given).decode() if given else ""
    line = " ".join(veiled(text).split())
    return line if len(line) <= EXAMPLE else f"{line[:EXAMPLE]}…"
