"""Reading rules from plain data, such as a YAML file holds: if one is wrong, that is said and none
is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, Final, Protocol, TypeVar, get_args

from stanchion.tutor.graph.nodes import ClaimKind, Soundness
from stanchion.tutor.rules.rule import Conclusion, Condition, Extract, Operator, Rule, compiled

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


class Named(Protocol):
    """What has an id."""

    @property
    def id(self) -> str:
        """It."""


R = TypeVar("R", bound=Named)


def read_rules(data: Any, where: str = "rules") -> tuple[Rule, ...]:
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


def read_rule(data: Any, where: str, domain: str = "") -> Rule:
    """One rule."""
    data, where = named(data, where, RULE)
    return Rule(
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


def _conditions(given: Any, where: str) -> tuple[Condition, ...]:
    if not isinstance(given, list) or not all(isinstance(one, Mapping) for one in given):
        raise RuleError(f"{where}: `match` is a list of conditions such as `obs.rc: {{eq: 0}}`")
    return tuple(_condition(field, told, where) for one in given for field, told in one.items())


def _condition(field: Any, told: Any, where: str) -> Condition:
    bare = str(field).removeprefix("obs.")
    if bare not in FIELDS:
        raise RuleError(f"{where}: `{field}` is no field of an observation{_nearest(bare, FIELDS)}")
    if not isinstance(told, Mapping):
        return Condition(str(field), "eq", told)
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
    return Condition(str(field), checked, value)


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
