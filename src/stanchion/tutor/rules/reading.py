"""Reading rules from plain data, such as a YAML file holds: if one is wrong, that is said and none is used."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final, get_args

from stanchion.tutor.graph.nodes import ClaimKind, Soundness
from stanchion.tutor.rules.rule import Conclusion, Condition, Extract, Operator, Rule, compiled

OPERATORS: Final = get_args(Operator)
KINDS: Final = tuple(kind.value for kind in ClaimKind)
SOUND: Final = tuple(one.value for one in Soundness)
FILE: Final = frozenset({"meta", "rules"})
RULE: Final = frozenset({
    "id", "soundness", "description", "match", "extract", "conclude", "domain", "lifetime", "game_id", "turn",
    "generated_by", "rationale",
})  # fmt: skip
CONCLUDED: Final = {"truth": frozenset({"text", "kind", "domain", "scope"}), "entity": frozenset({"kind", "value"})}
FIELDS: Final = ("tool", "command", "rc", "stdout", "stderr", "scope")


class RuleError(ValueError):
    """What is wrong with a rule, and what to write instead."""


def read_rules(data: Any, where: str = "rules") -> tuple[Rule, ...]:
    """The rules of a file; raises `RuleError` for the first that is wrong."""
    if not isinstance(data, Mapping):
        raise RuleError(f"{where}: give a mapping with `rules`")
    _known(data, FILE, where)
    meta, given = data.get("meta", {}), data.get("rules", [])
    if not isinstance(meta, Mapping) or not isinstance(given, list):
        raise RuleError(f"{where}: `meta` is a mapping and `rules` a list")
    rules = [
        read_rule(one, f"{where}: rule {number}", str(meta.get("domain", ""))) for number, one in enumerate(given, 1)
    ]
    names = [rule.id for rule in rules]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise RuleError(f"{where}: `{twice}` is there twice: give each rule an id of its own")
    return tuple(rules)


def read_rule(data: Any, where: str, domain: str = "") -> Rule:
    """One rule."""
    if not isinstance(data, Mapping):
        raise RuleError(f"{where}: a rule is a mapping")
    name = data.get("id")
    if not isinstance(name, str) or not name:
        raise RuleError(f"{where}: it has no `id`")
    where = f"{where} (`{name}`)"
    _known(data, RULE, where)
    return Rule(
        id=name,
        matches=_conditions(data.get("match", []), where),
        conclusions=_conclusions(data.get("conclude", {}), where),
        extracts=_extracts(data.get("extract", {}), where),
        soundness=_one_of(data.get("soundness", "sound"), SOUND, f"{where}: soundness"),
        description=str(data.get("description", "")),
        domain=str(data.get("domain", "") or domain),
        lifetime=_one_of(data.get("lifetime", "permanent"), ("permanent", "session"), f"{where}: lifetime"),
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
        raise RuleError(f"{where}: the condition on `{field}` has {len(told)} operators: give one, and more conditions")
    ((operator, value),) = told.items()
    checked: Any = _one_of(operator, OPERATORS, f"{where}: the operator of `{field}`")
    if checked == "matches":
        _pattern(value, where)
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
        _known(told, frozenset({"regex", "from"}), f"{where}: extract `{var}`")
        _pattern(told.get("regex"), where)
        found.append(Extract(str(var), told["regex"], str(told.get("from", "obs.stdout"))))
    return tuple(found)


def _conclusions(given: Any, where: str) -> tuple[Conclusion, ...]:
    if not isinstance(given, Mapping) or not given:
        raise RuleError(f"{where}: `conclude` says what follows: a `truth`, an `entity`, or both")
    found = []
    for kind, told in given.items():
        what = _one_of(kind, tuple(CONCLUDED), f"{where}: what it concludes")
        if not isinstance(told, Mapping):
            raise RuleError(f"{where}: `{kind}` is a mapping")
        _known(told, CONCLUDED[what], f"{where}: `{kind}`")
        text = told.get("text" if what == "truth" else "value")
        if not isinstance(text, str) or not text:
            raise RuleError(f"{where}: `{kind}` has no {'`text`' if what == 'truth' else '`value`'}")
        about = str(told.get("kind", ""))
        if what == "truth":
            _one_of(about, KINDS, f"{where}: the kind of its truth")
        found.append(Conclusion(what, text, about, str(told.get("domain", "")), str(told.get("scope", ""))))
    return tuple(found)


def _pattern(pattern: Any, where: str) -> None:
    if not isinstance(pattern, str) or not pattern:
        raise RuleError(f"{where}: a pattern is a text")
    try:
        compiled(pattern)
    except ValueError as error:
        raise RuleError(f"{where}: {error}") from error


def _one_of(value: Any, known: tuple[str, ...], where: str) -> str:
    if value not in known:
        raise RuleError(f"{where} is `{value}`{_nearest(str(value), known)}")
    return str(value)


def _known(data: Mapping[Any, Any], names: frozenset[str], where: str) -> None:
    for key in data:
        if key not in names:
            raise RuleError(f"{where}: `{key}` is not known{_nearest(str(key), tuple(sorted(names)))}")


def _nearest(word: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(word, known, 1)
    return f": did you mean `{near[0]}`?" if near else f": it is one of {', '.join(f'`{one}`' for one in known)}"
