"""A game in the words of the Safety Envelope beside the same game in Stanchion's own."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import cycle
from typing import Final

import stanchion.dialects.ragix as dialect
from stanchion.tutor import TutorV1
from stanchion.tutor.envelope.envelope import TutorEnvelope
from stanchion.tutor.law.v1 import is_safe
from stanchion.tutor.rules.bash import bash_rules
from stanchion_lab.bench.measure import cost_of
from stanchion_lab.bench.table import Effort, Section, rows_of

REPLIES: Final = (
    '{"action": "ASSERT", "text": "File \'a.txt\' exists", "kind": "existence"}',
    '{"action": "PROPOSE", "command": "cat b.txt"}',
    '{"action": "ASK", "text": "which file?"}',
    '{"action": "ASSERT", "text": "File \'b.txt\' exists", "kind": "existence"}',
)
OWN: Final = "stanchion.tutor"


class Fails:
    """Commands that show an error at once: what they take is not measured."""

    def is_safe(self, command: str, /) -> tuple[bool, str]:
        """What the denylist says."""
        return is_safe(command)

    def execute(self, _command: str, _mode: str = "read", /) -> tuple[int, str, str]:
        """Nothing is found."""
        return 1, "", "cat: b.txt: No such file or directory"


def ragix(effort: Effort) -> Section:
    """A game of four moves through both, made and played, in turns; the time of this process alone
    counts."""
    games: dict[str, Callable[[], object]] = {OWN: _own, "dialects.ragix": _translated}
    spent: dict[str, list[int]] = {name: [] for name in games}
    for game in games.values():
        for _ in range(20):
            game()
    for _ in range(effort.rounds):
        for name, game in games.items():
            for _ in range(max(1, effort.calls // 20)):
                begun = time.process_time_ns()
                game()
                spent[name].append(time.process_time_ns() - begun)
    costs = {name: cost_of(took) for name, took in spent.items()}
    return Section(
        "dialect ragix",
        "a game of four moves, commands for free, no manifest, CPU time",
        rows_of(costs, OWN),
    )


def _own() -> object:
    tutor = TutorV1("game", Fails(), bash_rules())
    tutor.setup_game("find out about a.txt")
    return TutorEnvelope(tutor, layer1_schema="lenient", manifest_enabled=False).run_episode(
        _model(), len(REPLIES)
    )


def _translated() -> object:
    tutor = dialect.Tutor("game", executor=Fails())
    tutor.setup_game("find out about a.txt")
    envelope = dialect.TutorEnvelope(tutor, layer1_schema="lenient", manifest_enabled=False)
    return envelope.run_episode(_model(), len(REPLIES))


def _model() -> Callable[[str, float, int | None], str]:
    left = cycle(REPLIES)
    return lambda _prompt, _temperature, _seed: next(left)
