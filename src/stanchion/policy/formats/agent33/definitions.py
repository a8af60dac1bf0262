"""Definitions: the guardrails of a file, each in one form however it is written, and what is wrong
with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from stanchion.kernel.regex import regex
from stanchion.policy.document import Document, DocumentNode, Step, shown
from stanchion.policy.errors import Fault, PolicyError
from stanchion.policy.formats.agent33.checks import (
    BUILT_IN,
    CHECKS,
    NAME_OF,
    BudgetMarks,
    condition,
    milder,
    named_check,
)
from stanchion.policy.formats.agent33.schema import ACTIONS, CATEGORIES, GuardrailFile
from stanchion.policy.nearest import hint
from stanchion.policy.struct_check import convert

_NUMBER: Final = r"[0-9]{3,}"
_CATEGORY: Final = "|".join(CATEGORIES)
ID: Final = regex(rf"(?:(?P<own>{_CATEGORY}|builtin)|custom-(?P<custom>{_CATEGORY}))-{_NUMBER}")
ACTION: Final = regex(r"([a-z]+)(?:\s*\(at 100\s?%\))?")
SHARE: Final = regex(r"([0-9.]+)(?:\s*\(warn at ([0-9.]+)\s?%\))?")
PERCENT: Final = regex(r"([0-9.]+)\s?%(?: (?:consumed|elapsed))?")

PRIORITIES: Final = {category: 10 * (at + 1) for at, category in enumerate(CATEGORIES)}
"""Where a guardrail stands that does not say it, by its category, as in the specification's example
of a chain."""
FIRST_CUSTOM: Final = 100
CATEGORY_OF: Final = {
    "builtin-001": "budget",
    "builtin-002": "budget",
    "builtin-003": "scope",
    "builtin-004": "scope",
}
"""The categories of the built-in guardrails, whose ids do not say it."""
NAMED_ACTIONS: Final = {"log": "allow"}
"""What an action of the specification is called in a policy, where it is called otherwise."""


class GuardrailDefinition(msgspec.Struct, frozen=True):
    """One guardrail: what it checks, when and for whom, and what follows. `check` is the name of a
    check, or empty where `expression` is what must be true. `action` is empty where the risk level
    says what follows."""

    id: str
    node: DocumentNode
    category: str
    priority: int
    hooks: tuple[str, ...]
    action: str
    check: str = ""
    expression: str = ""
    when: str = "true"
    marks: BudgetMarks = BudgetMarks()
    description: str = ""
    places: dict[str, DocumentNode] = {}

    @property
    def built_in(self) -> bool:
        """Whether it is always active."""
        return self.id.startswith("builtin-")


def standard(guardrail: str, at: DocumentNode) -> GuardrailDefinition:
    """A guardrail of the specification as it stands there, for a file that only names it."""
    name = NAME_OF[guardrail]
    check = CHECKS[name]
    category = CATEGORY_OF.get(guardrail, guardrail.partition("-")[0])
    priority = PRIORITIES[category] if check.priority is None else check.priority
    return GuardrailDefinition(
        guardrail,
        at,
        category,
        priority,
        (next(iter(check.hooks)),),
        check.action,
        name,
        "",
        "true",
        check.marks,
    )


class GuardrailReading:
    """Reads the guardrails of one file and collects what is wrong with them."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.faults: list[Fault] = []
        convert(document, GuardrailFile)

    def definitions(self) -> Iterator[GuardrailDefinition]:
        """The guardrails, in the order of the file."""
        for key, node in self.document.root.fields.items():
            category, _, last = key.rpartition("_")
            if last in ("chain", "integration"):
                continue
            own = category if category in CATEGORIES else ""
            several = isinstance(node.value, list)
            paths = [(key, at) for at in range(len(node.items))] if several else [(key,)]
            yield from filter(None, [self._definition(path, own) for path in paths])

    def _fault(self, message: str, *path: Step) -> None:
        self.faults.append(Fault(self.document.where(*path), message))

    def _definition(self, path: tuple[Step, ...], listed_as: str) -> GuardrailDefinition | None:
        """One guardrail; `None` where something is wrong with it that has been told."""
        before = len(self.faults)
        node = self.document.node(*path)
        said = node.data()
        body = ("validation",) if "validation" in said else ()
        rules = {**said, **said.get("validation", {})}
        category = self._category(said, listed_as, path)
        priority = self._priority(said, category, path) if len(self.faults) == before else 0
        given = rules.get("action_on_fail")
        action = "" if given is None else self._word(given, (*path, *body, "action_on_fail"))
        check, expression = self._check(rules["check"], (*path, *body, "check"))
        marks = self._marks(rules, check, path, body)
        hook = said.get("type")
        if check:
            self._fits(check, hook, action, said, path, (*path, *body, "action_on_fail"))
        if len(self.faults) == before and said["id"] in BUILT_IN:
            self._keeps(said, check, action, path)
            marks = self._built_in(said["id"], marks, path)
        if len(self.faults) > before:
            return None
        hooks = (
            (hook,)
            if hook is not None
            else (next(iter(CHECKS[check].hooks)) if check else "pre_execution",)
        )
        scope = said.get("condition", {})
        places = {
            name: self.document.node(*path, *step)
            for name, step in {
                "action": (*body, "action_on_fail"), "check": (*body, "check"),
                "priority": ("priority",), "type": ("type",),
                "applies_to": ("condition", "applies_to"), "when": ("condition", "expression"),
                "bypass": ("bypass",), "enabled": ("enabled",), "id": ("id",),
            }.items()
        }  # fmt: skip
        return GuardrailDefinition(
            said["id"], node, category, priority, hooks, action, check, expression,
            scope.get("expression", "true"), marks, said.get("description", ""), places,
        )  # fmt: skip

    def _category(self, said: dict[str, Any], listed_as: str, path: tuple[Step, ...]) -> str:
        """The category of a guardrail, held against its id and the list that it stands in."""
        id_, key = said["id"], str(path[0])
        found = ID.fullmatch(id_)
        given = str(said.get("category", listed_as))
        if found is None:
            known = f"`{given or 'safety'}-001`, or `custom-{given or 'safety'}-001` for your own"
            self._fault(f"{shown(id_)} is not the id of a guardrail: write {known}", *path, "id")
            return given if given else CATEGORIES[0]
        of_id = found["custom"] if found["custom"] else found["own"]
        custom, built_in = key.startswith("custom"), of_id == "builtin"
        astray, wrong = f"`{id_}` does not belong under `{key}`", ""
        if custom != bool(found["custom"]):
            wanted = f"custom-{given}-001" if custom else f"{given if given else 'builtin'}-001"
            wrong = f"{astray}: write an id such as `{wanted}`"
        elif built_in != key.startswith("builtin"):
            wrong = f"{astray}: only built-in guardrails have ids `builtin-…`"
        elif built_in and key != f"builtin_{NAME_OF.get(id_, '')}":
            wrong = f"{astray}: write `{CHECKS[key.removeprefix('builtin_')].id}`"
        elif given and of_id not in (given, "builtin"):
            wrong = f"`{id_}` is not an id of the category `{given}`: write `{given}-001`"
        if wrong:
            self._fault(wrong, *path, "id")
        return CATEGORY_OF.get(id_, "scope") if built_in else of_id

    def _keeps(self, said: dict[str, Any], check: str, action: str, path: tuple[Step, ...]) -> None:
        """Whether a built-in guardrail that is written out is still what the specification says:
        what is always active may neither check something else nor lead to something milder."""
        id_, wrong = said["id"], {}
        name = NAME_OF[id_]
        usual = CHECKS[name].action
        if said.get("enabled") is False:
            wrong["enabled"] = f"`{id_}` is built in and always active: leave `enabled` out"
        if check != name:
            own = "give your own guardrail an id such as `custom-scope-001`"
            wrong["check"] = f"`{id_}` checks `{name}` and nothing else: {own}"
        if milder(usual, NAMED_ACTIONS.get(action, action)) != usual:
            wrong["action_on_fail"] = f"`{id_}` does not only `{action}`: write `{usual}`"
        for key, message in wrong.items():
            self._fault(message, *path, key)

    def _built_in(self, guardrail: str, marks: BudgetMarks, path: tuple[Step, ...]) -> BudgetMarks:
        """The marks of a built-in guardrail: those that the file leaves out stay, and none comes
        later than it does in the specification."""
        usual = CHECKS[NAME_OF[guardrail]].marks
        made = []
        for name, given, latest in (
            ("warn", marks.warn_at, usual.warn_at),
            ("escalate", marks.escalate_at, usual.escalate_at),
        ):
            if given is not None and latest is not None and given > latest:
                said = f"`{guardrail}` is built in, and its mark `{name}` stands at {latest:g} %"
                how = "at the latest: give less, or leave it out"
                self._fault(f"{said} {how}", *path, "thresholds", name)
            made.append(latest if given is None else given)
        return BudgetMarks(made[0], made[1], usual.blocks)

    def _word(self, text: str, path: tuple[Step, ...]) -> str:
        """An action, with a remark behind it or without."""
        found = ACTION.fullmatch(text.strip())
        if found is None or found[1] not in ACTIONS:
            self._fault(
                f"{shown(text)} is not a value of `action_on_fail`: {hint(text, ACTIONS)}", *path
            )
            return ACTIONS[0]
        return found[1]

    def _check(self, text: str, path: tuple[Step, ...]) -> tuple[str, str]:
        """The name of a check, or the condition that it is."""
        name = named_check(text)
        if name is not None:
            return name, ""
        try:
            return "", condition(text)
        except ValueError as error:
            self._fault(f"{shown(text)}: {error}", *path)
            return "", "true"

    def _priority(self, said: dict[str, Any], category: str, path: tuple[Step, ...]) -> int:
        custom = said["id"].startswith("custom-")
        name = NAME_OF.get(said["id"])
        usual = None if name is None else CHECKS[name].priority
        if usual is None:
            usual = FIRST_CUSTOM if custom else PRIORITIES.get(category, 10)
        priority, wrong = said.get("priority", usual), ""
        if not isinstance(priority, int):
            priority, wrong = usual, "`priority` is empty: give a whole number, or leave it out"
        elif custom and priority < FIRST_CUSTOM:
            said_ = "custom guardrails run after the built-in ones"
            wrong = f"{said_}: give a `priority` of {FIRST_CUSTOM} or more"
        elif not custom and not 1 <= priority < FIRST_CUSTOM:
            wrong = f"only custom guardrails have this priority: give 1 to {FIRST_CUSTOM - 1}"
        if wrong:
            self._fault(wrong, *path, "priority")
        return priority

    def _marks(
        self, rules: dict[str, Any], check: str, path: tuple[Step, ...], body: tuple[str, ...]
    ) -> BudgetMarks:
        """The shares of a budget at which is spoken; other checks have none."""
        given, thresholds = rules.get("threshold"), rules.get("thresholds", {})
        if given is None and not thresholds:
            return BudgetMarks()
        where = (*path, *body, "threshold") if given is not None else (*path, "thresholds")
        if not check or not CHECKS[check].measured:
            self._fault("only checks of budgets have thresholds: leave it out", *where)
            return BudgetMarks()
        if given is not None:
            return BudgetMarks(self._share(given, where))
        found = {name: self._percent(text, (*where, name)) for name, text in thresholds.items()}
        if found.get("block", 100.0) not in (100, None):
            self._fault(
                "a budget refuses where it is used up: write `100%`, or give the task less",
                *where,
                "block",
            )
        return BudgetMarks(found.get("warn"), found.get("escalate"), "block" in found)

    def _share(self, given: float | str, path: tuple[Step, ...]) -> float | None:
        """A share such as `0.9`, with the percentage behind it or without."""
        found = SHARE.fullmatch(str(given).strip())
        share = _number(found[1]) if found is not None else None
        if share is None or not 0 < share <= 1:
            self._fault(
                f"{shown(str(given))} is not a share: write a number above 0 and up to 1, such as "
                f"`0.9`",
                *path,
            )
            return None
        percent = round(share * 100, 6)
        if found is not None and found[2] is not None and _number(found[2]) != percent:
            self._fault(f"{shown(str(given))} says two things: {share:g} is {percent:g} %", *path)
        return percent

    def _percent(self, text: str, path: tuple[Step, ...]) -> float | None:
        found = PERCENT.fullmatch(str(text).strip())
        percent = _number(found[1]) if found is not None else None
        if percent is None or not 0 < percent <= 100:
            self._fault(
                f"{shown(str(text))} is not a percentage: write one up to `100%`, such as `80%`",
                *path,
            )
            return None
        return percent

    def _fits(
        self,
        check: str,
        hook: str | None,
        action: str,
        said: dict[str, Any],
        path: tuple[Step, ...],
        acts: tuple[Step, ...],
    ) -> None:
        """Whether a named check can be made as a guardrail wants it."""
        known = CHECKS[check]
        if hook is not None and hook not in known.hooks:
            self._fault(
                f"`{check}` cannot be checked at `{hook}`: {hint(hook, known.hooks)}", *path, "type"
            )
        if action == "log" and not known.logs:
            self._fault(
                f"`{check}` cannot only log: choose among `block`, `escalate`, `warn`", *acts
            )
        if said.get("condition", {}).get("expression", "true").strip() != "true":
            message = (
                f"`{check}` is narrowed by `applies_to` only: leave `expression` out, or "
                f"write the check as a condition"
            )
            self._fault(message, *path, "condition", "expression")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def read(document: Document, fault: Callable[[Fault], None]) -> tuple[GuardrailDefinition, ...]:
    """The guardrails of a file; what is wrong with it is told to `fault`."""
    try:
        reading = GuardrailReading(document)
    except PolicyError as error:
        for each in error.faults:
            fault(each)
        return ()
    found = tuple(reading.definitions())
    for each in reading.faults:
        fault(each)
    return found
