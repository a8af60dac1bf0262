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

    def clear_session(self, game_id: str) -> int:
        """Forget the rules of a game; says how many there were."""
        return len(self._session.pop(game_id, {}))

    def rules(self, game_id: str = "", domain: str = "") -> list[Rule]:
        """The rules that hold in a game, or in every one; those of a domain, where one is named."""
        found = [*self._permanent.values(), *self._session.get(game_id, {}).values()]
        return [rule for rule in found if not domain or rule.domain in ("", domain)]

    def apply_all(
        self, observed: Mapping[str, Any], game_id: str = ""
    ) -> list[tuple[Rule, tuple[Conclusion, ...]]]:
        """Each rule from which something follows, with what does."""
        each = [(rule, rule.apply(observed)) for rule in self.rules(game_id)]
        return [(rule, follows) for rule, follows in each if follows]

    def summary(self) -> dict[str, Any]:
        """How many rules there are, and for what."""
        return {
            "permanent_rules": len(self._permanent),
            "session_games": len(self._session),
            "session_rules": sum(map(len, self._session.values())),
            "domains": sorted({rule.domain for rule in self._permanent.values() if rule.domain}),
        }
