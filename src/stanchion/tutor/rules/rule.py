"""Rules of the first law: if an observation is so, something follows from it; how they are read,
and the library that holds them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Final, Literal, Protocol, TypeVar, get_args

import msgspec

from stanchion.kernel.regex import regex
from stanchion.tutor.graph import ClaimKind, Soundness

Operator = Literal[
    "eq",
    "neq",
    "in",
    "contains",
    "matches",
    "gt",
    "lt",
    "gte",
    "lte",
    "exists",
    "startswith",
    "endswith",
]
OBSERVED: Final = "obs."
_PLACE: Final = regex(r"\{(obs\.)?(\w+)\}")


class RuleCondition(msgspec.Struct, frozen=True):
    """What has to hold of one field of an observation."""

    field: str
    operator: Operator
    value: Any


class Extract(msgspec.Struct, frozen=True):
    """A name for a part of a field: the first group of a pattern, or the whole match."""

    var: str
    regex: str
    source: str = "obs.stdout"


class Conclusion(msgspec.Struct, frozen=True):
    """What follows; its texts may name extracts (`{path}`) and fields (`{obs.command}`)."""

    type: str
    text: str
    kind: str = ""
    domain: str = ""
    scope: str = ""


class TextRule(msgspec.Struct, frozen=True):
    """A rule. It concludes where all of its conditions hold."""

    id: str
    matches: tuple[RuleCondition, ...]
    conclusions: tuple[Conclusion, ...]
    extracts: tuple[Extract, ...] = ()
    soundness: str = "sound"
    description: str = ""
    domain: str = ""
    lifetime: str = "permanent"
    game_id: str = ""
    turn: int = 0
    generated_by: str = ""
    rationale: str = ""

    def apply(self, observed: Mapping[str, Any]) -> tuple[Conclusion, ...]:
        """What follows from an observation; nothing where a condition does not hold. What an
        extract does not find stays in the text as it is written."""
        if not all(
            holds(one.operator, value_of(observed, one.field), one.value) for one in self.matches
        ):
            return ()
        bound = {}
        for one in self.extracts:
            value = value_of(observed, one.source)
            found = search(one.regex, str(value)) if value else None
            if found is not None:
                bound[one.var] = str(found.group(1) if found.groups() else found.group(0))

        def put(text: str) -> str:
            return _PLACE.sub(lambda place: _filled(place, bound, observed), text)

        return tuple(
            Conclusion(
                one.type,
                put(one.text),
                put(one.kind),
                put(one.domain) if one.domain else self.domain,
                put(one.scope),
            )
            for one in self.conclusions
        )


def _filled(place: re.Match[str], bound: Mapping[str, str], observed: Mapping[str, Any]) -> str:
    if place[1]:
        return str(observed.get(place[2], ""))
    return bound.get(place[2], place[0])


def value_of(observed: Mapping[str, Any], path: str) -> Any:
    """A field of an observation, by its path."""
    value: Any = observed
    for part in path.removeprefix(OBSERVED).split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(part)
    return value


def holds(operator: Operator, value: Any, expected: Any) -> bool:
    """Whether a condition holds. Of a text that is empty, and of what is no number, nothing is
    said."""
    match operator:
        case "eq":
            return bool(value == expected)
        case "neq":
            return bool(value != expected)
        case "in":
            return bool(value in expected)
        case "exists":
            return bool((value is not None) == expected)
        case "gt" | "lt" | "gte" | "lte":
            return _compared(operator, value, expected)
        case _:
            return bool(value) and _worded(operator, str(value), str(expected))


def _worded(operator: str, text: str, expected: str) -> bool:
    match operator:
        case "contains":
            return expected in text
        case "startswith":
            return text.startswith(expected)
        case "endswith":
            return text.endswith(expected)
        case _:
            return search(expected, text) is not None


def _compared(operator: str, value: Any, expected: Any) -> bool:
    try:
        left, right = float(value), float(expected)
    except (TypeError, ValueError):
        return False
    return {"gt": left > right, "lt": left < right, "gte": left >= right, "lte": left <= right}[
        operator
    ]


@lru_cache(maxsize=512)
def compiled(pattern: str) -> Any:
    """A pattern as RE2 reads it, in time that grows with the text alone; raises `ValueError` for
    what is none."""
    import re2  # type: ignore[import-untyped]  # it ships no stubs

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options=options)
    except re2.error as error:
        raise ValueError(f"`{pattern}` is no pattern of RE2: {error}") from error


def search(pattern: str, text: str) -> Any:
    """Where a pattern is found first in a text."""
    return compiled(pattern).search(text)


class RuleLibrary:
    """Rules by id. Those of a session stand behind the permanent ones."""

    def __init__(self, rules: Iterable[TextRule] = ()) -> None:
        self._permanent: dict[str, TextRule] = {}
        self._session: dict[str, dict[str, TextRule]] = {}
        self.add(rules)

    def add(self, rules: Iterable[TextRule]) -> None:
        """Add rules for every game; one of the same id takes the place of the one before."""
        for rule in rules:
            self._permanent[rule.id] = rule

    def add_session_rule(self, game_id: str, rule: TextRule) -> TextRule:
        """Add a rule for one game."""
        own = msgspec.structs.replace(rule, lifetime="session", game_id=game_id)
        self._session.setdefault(game_id, {})[rule.id] = own
        return own

    def rules(self, game_id: str = "") -> list[TextRule]:
        """The rules that hold in a game, or in every one."""
        return [*self._permanent.values(), *self._session.get(game_id, {}).values()]

    def apply_all(
        self, observed: Mapping[str, Any], game_id: str = ""
    ) -> list[tuple[TextRule, tuple[Conclusion, ...]]]:
        """Each rule from which something follows, with what does."""
        each = [(rule, rule.apply(observed)) for rule in self.rules(game_id)]
        return [(rule, follows) for rule, follows in each if follows]


OPERATORS: Final = get_args(Operator)
KINDS: Final = tuple(kind.value for kind in ClaimKind)
SOUND: Final = tuple(one.value for one in Soundness)
FILE: Final = frozenset({"meta", "rules"})
RULE: Final = frozenset({
    "id", "soundness", "description", "match", "extract", "conclude", "domain", "lifetime",
    "game_id", "turn", "generated_by", "rationale",
})  # fmt: skip
CONCLUDED: Final = {
    "truth": frozenset({"text", "kind", "domain", "scope"}),
    "entity": frozenset({"kind", "value"}),
}
FIELDS: Final = ("tool", "command", "rc", "stdout", "stderr", "scope")


class RuleError(ValueError):
    """What is wrong with a rule, and what to write instead."""


class HasId(Protocol):
    """What has an id."""

    @property
    def id(self) -> str:
        """It."""


R = TypeVar("R", bound=HasId)


def read_rules(data: Any, where: str = "rules") -> tuple[TextRule, ...]:
    """The rules of a file; raises `RuleError` for the first that is wrong."""
    return each_rule(data, where, read_rule)


def each_rule(data: Any, where: str, one: Callable[[Any, str, str], R]) -> tuple[R, ...]:
    """The rules of a file, each read by `one`, which is given the data, the place and the domain of
    the file."""
    if not isinstance(data, Mapping):
        raise RuleError(f"{where}: give a mapping with `rules`")
    only_known(data, FILE, where)
    meta, given = data.get("meta", {}), data.get("rules", [])
    if not isinstance(meta, Mapping) or not isinstance(given, list):
        raise RuleError(f"{where}: `meta` is a mapping and `rules` a list")
    domain = str(meta.get("domain", ""))
    rules = [one(told, f"{where}: rule {number}", domain) for number, told in enumerate(given, 1)]
    seen: set[str] = set()
    for rule in rules:
        if rule.id in seen:
            raise RuleError(f"{where}: `{rule.id}` is there twice: give each rule an id of its own")
        seen.add(rule.id)
    return tuple(rules)


def named(data: Any, where: str, keys: frozenset[str]) -> tuple[Mapping[str, Any], str]:
    """The data of one rule that has an id and known keys alone, and its place with the id."""
    if not isinstance(data, Mapping):
        raise RuleError(f"{where}: a rule is a mapping")
    name = data.get("id")
    if not isinstance(name, str) or not name:
        raise RuleError(f"{where}: it has no `id`")
    where = f"{where} (`{name}`)"
    only_known(data, keys, where)
    return data, where


def read_rule(data: Any, where: str, domain: str = "") -> TextRule:
    """One rule."""
    data, where = named(data, where, RULE)
    return TextRule(
        id=data["id"],
        matches=_conditions(data.get("match", []), where),
        conclusions=_conclusions(data.get("conclude", {}), where),
        extracts=_extracts(data.get("extract", {}), where),
        soundness=one_of(data.get("soundness", "sound"), SOUND, f"{where}: soundness"),
        description=str(data.get("description", "")),
        domain=str(data.get("domain", "") or domain),
        lifetime=one_of(
            data.get("lifetime", "permanent"), ("permanent", "session"), f"{where}: lifetime"
        ),
        game_id=str(data.get("game_id", "")),
        turn=data["turn"] if isinstance(data.get("turn"), int) else 0,
        generated_by=str(data.get("generated_by", "")),
        rationale=str(data.get("rationale", "")),
    )


def _conditions(given: Any, where: str) -> tuple[RuleCondition, ...]:
    if not isinstance(given, list) or not all(isinstance(one, Mapping) for one in given):
        raise RuleError(f"{where}: `match` is a list of conditions such as `obs.rc: {{eq: 0}}`")
    return tuple(_condition(field, told, where) for one in given for field, told in one.items())


def _condition(field: Any, told: Any, where: str) -> RuleCondition:
    bare = str(field).removeprefix("obs.")
    if bare not in FIELDS:
        raise RuleError(f"{where}: `{field}` is no field of an observation{_nearest(bare, FIELDS)}")
    if not isinstance(told, Mapping):
        return RuleCondition(str(field), "eq", told)
    if len(told) != 1:
        raise RuleError(
            f"{where}: the condition on `{field}` has {len(told)} operators: give one, and more "
            f"conditions"
        )
    ((operator, value),) = told.items()
    checked: Any = one_of(operator, OPERATORS, f"{where}: the operator of `{field}`")
    if checked == "matches":
        check_pattern(value, where)
    if checked == "in" and not isinstance(value, list | tuple | str):
        raise RuleError(f"{where}: `in` needs a list")
    return RuleCondition(str(field), checked, value)


def _extracts(given: Any, where: str) -> tuple[Extract, ...]:
    if not isinstance(given, Mapping):
        raise RuleError(f"{where}: `extract` is a mapping from names to `regex` and `from`")
    found = []
    for var, told in given.items():
        if not isinstance(told, Mapping):
            raise RuleError(f"{where}: extract `{var}` is a mapping with `regex` and `from`")
        only_known(told, frozenset({"regex", "from"}), f"{where}: extract `{var}`")
        check_pattern(told.get("regex"), where)
        found.append(Extract(str(var), told["regex"], str(told.get("from", "obs.stdout"))))
    return tuple(found)


def _conclusions(given: Any, where: str) -> tuple[Conclusion, ...]:
    if not isinstance(given, Mapping) or not given:
        raise RuleError(f"{where}: `conclude` says what follows: a `truth`, an `entity`, or both")
    found = []
    for kind, told in given.items():
        what = one_of(kind, tuple(CONCLUDED), f"{where}: what it concludes")
        if not isinstance(told, Mapping):
            raise RuleError(f"{where}: `{kind}` is a mapping")
        only_known(told, CONCLUDED[what], f"{where}: `{kind}`")
        text = told.get("text" if what == "truth" else "value")
        if not isinstance(text, str) or not text:
            raise RuleError(
                f"{where}: `{kind}` has no {'`text`' if what == 'truth' else '`value`'}"
            )
        about = str(told.get("kind", ""))
        if what == "truth":
            one_of(about, KINDS, f"{where}: the kind of its truth")
        found.append(
            Conclusion(what, text, about, str(told.get("domain", "")), str(told.get("scope", "")))
        )
    return tuple(found)


def check_pattern(pattern: Any, where: str) -> None:
    """Raise `RuleError` for what is no pattern."""
    if not isinstance(pattern, str) or not pattern:
        raise RuleError(f"{where}: a pattern is a text")
    try:
        compiled(pattern)
    except ValueError as error:
        raise RuleError(f"{where}: {error}") from error


def one_of(value: Any, known: tuple[str, ...], where: str) -> str:
    """A word that is known; raises `RuleError` with the nearest for another."""
    if value not in known:
        raise RuleError(f"{where} is `{value}`{_nearest(str(value), known)}")
    return str(value)


def only_known(data: Mapping[Any, Any], names: frozenset[str], where: str) -> None:
    """Raise `RuleError` for a key that is none."""
    for key in data:
        if key not in names:
            raise RuleError(
                f"{where}: `{key}` is not known{_nearest(str(key), tuple(sorted(names)))}"
            )


def _nearest(word: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(word, known, 1)
    return (
        f": did you mean `{near[0]}`?"
        if near
        else f": it is one of {', '.join(f'`{one}`' for one in known)}"
    )
