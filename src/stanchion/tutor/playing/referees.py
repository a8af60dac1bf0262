"""The referee of a game that is known by what was played of it."""

from __future__ import annotations

from typing import Any

from stanchion import typed
from stanchion.tutor.law.v1 import TutorV1
from stanchion.tutor.law.v2 import TutorV2
from stanchion.tutor.playing.games import Game, load_rules
from stanchion.tutor.playing.recordings import Played
from stanchion.tutor.rules.typed import TypedRule


def referee(played: Played, hands: Any) -> TutorV1 | TutorV2:
    """The referee at the beginning of the game; `hands` run its commands."""
    game = typed.convert(played.game, Game)
    if played.law == "1":
        tutor = TutorV1(game.name, hands, load_rules())
        tutor.setup_game(game.goal, played.constraints)
        return tutor
    rules = typed.convert(played.rules, tuple[TypedRule, ...])
    return TutorV2(game.name, hands, game.goal, game.claims, game.writes, played.wip, rules=rules)
