"""What a policy would have done to recorded sessions of coding agents: counted, and grouped by
finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from stanchion.guards.evidence.commands import Catalogue, unwrapped
from stanchion.guards.evidence.outcome import shell_texts
from stanchion.guards.evidence.tables import COMMITS, LINTS, TESTS
from stanchion.guards.evidence.targets import ran_by
from stanchion.kernel.actions import PROCEEDS, Action
from stanchion.kernel.decision import Decision
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
    """An event of a recorded session as it was judged; `case` gives its record to explain."""

    session: str
    agent: str
    folder: str
    at_ms: int
    stage: Stage
    tool: str
    args: Mapping[str, Any]
    decision: Decision
    unknown: str
    case: Callable[[], DecisionCase]


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
    """Counts judged events, and keeps one example of each group."""

    def __init__(self, policy: CompiledPolicy, since_ms: int | None, until_ms: int | None) -> None:
        self._policy = policy
        self.report = PastReport(policy.file.name, policy.hash, since_ms, until_ms)
        self._honest: Counter[str] = Counter()
        self._touched: Counter[str] = Counter()
        self._agents: Counter[str] = Counter()
        self._groups: dict[tuple[str, str, str], PastGroup] = {}
        self._in: dict[tuple[str, str, str], str] = {}
        self._folders: set[str] = set()

    def session(self, agent: str, folders: set[str]) -> None:
        """Count a session that has anything in the time that is reported."""
        self._agents[agent] += 1
        self._folders |= folders

    def add(self, event: PastEvent) -> None:
        """Count an event."""
        kinds: tuple[str, ...] = ()
        if event.stage is Stage.TOOL_CALL:
            texts = shell_texts(event.args)
            kinds = honest_kinds(texts)
            self._honest.update(kinds)
            self.report.commands += bool(texts)
            self.report.other_calls += not texts
        outcome = outcome_of(event)
        if outcome is None:
            decision = event.decision
            self.report.warned += decision.action is Action.WARN
            self.report.hidden += any(one.patches for one in decision.findings if not one.shadow)
            return
        setattr(self.report, outcome, getattr(self.report, outcome) + 1)
        self.report.ended += event.decision.action is Action.HALT
        self._touched.update(kinds)
        self._grouped(outcome, event, kinds)

    def _grouped(self, outcome: Outcome, event: PastEvent, kinds: tuple[str, ...]) -> None:
        found = _determining(event)
        key = (outcome, found[1], found[0])
        if key not in self._groups and len(self._groups) >= MOST_GROUPS:
            key = (outcome, "", "")
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = self._example(outcome, event, *found)
        group.count += 1
        group.sessions += self._in.get(key) != event.session
        self._in[key] = event.session
        group.honest = dict(Counter(group.honest) + Counter(kinds))

    def _example(self, outcome: Outcome, event: PastEvent, guard: str, code: str) -> PastGroup:
        reasons = explain(event.case(), self._policy).findings
        reason = next((one for one in reasons if (one.guard, one.code) == (guard, code)), None)
        return PastGroup(
            outcome,
            code,
            guard,
            event.decision.action.name,
            veiled(event.decision.message if reason is None else reason.message),
            depends=event.unknown,
            example=_words(event),
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
        report = self.report
        report.agents, report.sessions = dict(self._agents), sum(self._agents.values())
        report.folders = len(self._folders)
        report.honest = {kind: self._honest[kind] for kind in HONEST}
        report.touched = {kind: self._touched[kind] for kind in HONEST}
        report.groups = sorted(
            self._groups.values(),
            key=lambda one: (OUTCOMES.index(one.outcome), -one.count, one.code),
        )
        return report


def honest_kinds(texts: list[str]) -> tuple[str, ...]:
    """Which kinds of honest work shell texts do, each kind once."""
    ran = [unwrapped(step.argv) for text in texts for step in ran_by(text) if step.argv]
    return tuple(kind for kind, known in HONEST.items() if any(map(known.has, ran)))


def outcome_of(event: PastEvent) -> Outcome | None:
    """What would have become of an event; `None` for one that would have gone ahead as it is."""
    decision = event.decision
    if decision.action <= PROCEEDS:
        changed = event.stage is Stage.TOOL_CALL and any(
            one.patches and one.guard != "schema" and not one.shadow for one in decision.findings
        )
        return "changed" if changed else None
    if event.unknown:
        return "unknown"
    if event.stage is Stage.MODEL_REPLY:
        return "sent_back"
    return "asked" if decision.action is Action.ESCALATE else "stopped"


def _determining(event: PastEvent) -> tuple[str, str]:
    """The guard and the code of the finding that decided."""
    decision = event.decision
    found = decision.determining
    if decision.action <= PROCEEDS:
        found = next((one for one in decision.findings if one.patches and not one.shadow), found)
    return ("", decision.code) if found is None else (found.guard, found.code)


def _words(event: PastEvent) -> str:
    """What is shown of an event, in one line and without secrets: its command, or its arguments."""
    texts = shell_texts(event.args)
    given = {name: one for name, one in event.args.items() if name != "cwd"}
    text = texts[0] if texts else msgspec.json.encode(given).decode() if given else ""
    line = " ".join(veiled(text).split())
    return line if len(line) <= EXAMPLE else f"{line[:EXAMPLE]}…"


def honest_words(counts: Mapping[str, int]) -> Iterator[str]:
    """Numbers of honest work in words: `3 tests`."""
    for kind, number in counts.items():
        if number:
            yield f"{number:,} {kind}{'' if number == 1 else 's'}"
