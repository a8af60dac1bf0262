"""The rules of a game: those that hold in every game, and those that were made for one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from stanchion.tutor.rules.rule import Conclusion, Rule


class RuleLibrary:
    """Rules by id. Those of a session stand behind the permanent ones."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self._permanent: dict[str, Rule] = {}
        self._session: dict[str, dict[str, Rule]] = {}
        self.add(rules)

    def add(self, rules: Iterable[Rule]) -> None:
        """Add rules for every game; one of the same id takes the place of the one before."""
        for rule in rules:
            self._permanent[rule.id] = rule

    def add_session_rule(self, game_id: str, rule: Rule) -> Rule:
        """Add a rule for one game."""
        own = msgspec.structs.replace(rule, lifetime="session", game_id=game_id)
        self._session.setdefault(game_id, {})[rule.id] = own
        return own

    def rules(self, game_id: str = "") -> list[Rule]:
        """The rules that hold in a game, or in every one."""
        return [*self._permanent.values(), *self._session.get(game_id, {}).values()]

    def apply_all(
        self, observed: Mapping[str, Any], game_id: str = ""
    ) -> list[tuple[Rule, tuple[Conclusion, ...]]]:
        """Each rule from which something follows, with what does."""
        each = [(rule, rule.apply(observed)) for rule in self.rules(game_id)]
        return [(rule, follows) for rule, follows in each if follows]
