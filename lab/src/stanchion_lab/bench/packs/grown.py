"""A pack that grows: one more guard that reads texts, and ten thousand rules that do not apply,
beside ten."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, ClassVar, Final

import msgspec

from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.stages import Stage
from stanchion.readings import Reading
from stanchion_lab.bench.chain import RULES
from stanchion_lab.bench.measure import cost_of
from stanchion_lab.bench.packs.engines import choose
from stanchion_lab.bench.packs.pack import Played, ahead, at_home, beside, in_memory
from stanchion_lab.bench.packs.players import Player, Shielded, play_all
from stanchion_lab.bench.packs.sessions import drawn
from stanchion_lab.bench.table import Effort, Row, Section

PLAIN: Final = "default"
WORD: Final = "guard that looks for one word"
PII: Final = "pii guard"
MORE: Final = 25
"""How many of them are added at once: what one adds is less than what the machine's noise does."""
CARDS: Final = ["credit-card"]
FEW, MANY = 10, 10_000


class OneWord(msgspec.Struct, frozen=True):
    """Reads every text of a call or a result and looks for one word: the least that a guard of
    texts can do."""

    kind: ClassVar[Kind] = Kind.PURE
    stages: ClassVar[frozenset[Stage]] = frozenset({Stage.TOOL_CALL, Stage.TOOL_RESULT})
    category: ClassVar[Category] = Category.QUALITY
    priority: ClassVar[int] = 90
    id: str
    word: str

    def judge(self, reading: Reading[Event], /) -> Finding | None:
        """Say so where a text has it."""
        said = any(self.word in leaf.text for leaf in reading.leaves)
        return Finding(Action.BLOCK, "bench.word") if said else None


def grown(effort: Effort) -> Section:
    """What `default` costs with more in it, in memory."""
    calls = drawn(effort)
    with ExitStack() as stack:
        stack.enter_context(at_home())
        choose(PLAIN)
        players: dict[str, Player] = {
            PLAIN: Shielded(in_memory(PLAIN, stack)),
            WORD: Shielded(
                in_memory(
                    PLAIN,
                    stack,
                    tuple([OneWord(f"word-{n}", f"nobody says {n}") for n in range(MORE)]),
                )
            ),
            PII: Shielded(
                in_memory(
                    _with(
                        *[{"use": "pii", "id": f"pii-{n}", "entities": CARDS} for n in range(MORE)]
                    ),
                    stack,
                )
            ),
        }
        many = MANY if effort.rounds > 4 else MANY // 10
        for rules in (FEW, many):
            players[_ruled(rules)] = Shielded(in_memory(_with(*_rules(rules)), stack))
        took = play_all(players, calls.sessions)
    steps, played = ahead(calls, took)
    note = (
        f"{len(steps):,} calls from {calls.source}; what a guard adds is a share of what {MORE} add"
    )
    return Section("packs that grow", note, _rows(played, many))


def _rows(played: Played, rules: int) -> list[Row]:
    plain = cost_of([one.call for one in played[PLAIN]])
    made = [Row(f"a call: {PLAIN}", plain)]
    for name in (WORD, PII):
        pairs = zip(played[name], played[PLAIN], strict=True)
        adds = cost_of([(more.call - less.call) // MORE for more, less in pairs])
        made.append(beside(f"one more {name} adds", adds, plain))
    few = cost_of([one.call for one in played[_ruled(FEW)]])
    many = cost_of([one.call for one in played[_ruled(rules)]])
    return [
        *made,
        Row(f"a call: {_ruled(FEW)}", few),
        beside(f"a call: {_ruled(rules)}", many, few),
    ]


def _ruled(rules: int) -> str:
    return f"default and {rules:,} rules"


def _with(*guards: dict[str, Any]) -> dict[str, Any]:
    return {"name": "grown", "extends": PLAIN, "guards": list(guards)}


def _rules(count: int) -> list[dict[str, Any]]:
    return [
        {"use": "rule", "id": f"rule-{n}", "when": RULES[n % len(RULES)].format(n=n)}
        for n in range(count)
    ]
