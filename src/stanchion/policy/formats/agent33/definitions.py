"""Definitions: the guardrails of a file, each in one form however it is written, and what is wrong
with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from stanchion.kernel.regex import regex
from stanchion.policy.document import Document, Node, Step, shown
from stanchion.policy.errors import Fault, PolicyError
from stanchion.policy.formats.agent33.checks import BUILT_IN, CHECKS, NAME_OF, Marks, milder
from stanchion.policy.formats.agent33.prose import condition, named_check
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


class Definition(msgspec.Struct, frozen=True):
    """One guardrail: what it checks, when and for whom, and what follows. `check` is the name of a
    check, or empty where `expression` is what must be true. `action` is empty where the risk level
    says what follows."""

    id: str
    node: Node
    category: str
    priority: int
    hooks: tuple[str, ...]
    action: str
    check: str = ""
    expression: str = ""
    when: str = "true"
    marks: Marks = Marks()
    description: str = ""
    places: dict[str, Node] = {}

    @property
    def built_in(self) -> bool:
        """Whether it is always active."""
        return self.id.startswith("builtin-")


def standard(guardrail: str, at: Node) -> Definition:
    """A guardrail of the specification as it stands there, for a file that only names it."""
    name = NAME_OF[guardrail]
    check = CHECKS[name]
    category = CATEGORY_OF.get(guardrail, guardrail.partition("-")[0])
    priority = PRIORITIES[category] if check.priority is None else check.priority
    return Definition(
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


class Reading:
    """Reads the guardrails of one file and collects what is wrong with them."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.faults: list[Fault] = []
        convert(document, GuardrailFile)

    def definitions(self) -> Iterator[Definition]:
        """The guardrails, in the order of the file."""
        root = self.document.root.value
        for key, node in root.items() if isinstance(root, dict) else ():
            category, _, last = key.rpartition("_")
            if last in ("chain", "integration"):
                continue
            own = category if category in CATEGORIES else ""
            for path in (
                [(key, at) for at in range(len(node.value))]
                if isinstance(node.value, list)
                else [(key,)]
            ):
                made = self._definition(path, own)
                if made is not None:
                    yield made

    def _fault(self, message: str, *path: Step) -> None:
        self.faults.append(Fault(self.document.where(*path), message))

    def _definition(self, path: tuple[Step, ...], listed_as: str) -> Definition | None:
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
        return Definition(
            said["id"], node, category, priority, hooks, action, check, expression,
            scope.get("expression", "true"), marks, said.get("description", ""), places,
        )  # fmt: skip

    def _category(self, said: dict[str, Any], listed_as: str, path: tuple[Step, ...]) -> str:
        """The category of a guardrail, held against its id and the list that it stands in."""
        found = ID.fullmatch(said["id"])
        given = str(said.get("category", listed_as))
        if found is None:
            known = f"`{given or 'safety'}-001`, or `custom-{given or 'safety'}-001` for your own"
            self._fault(
                f"{shown(said['id'])} is not the id of a guardrail: write {known}", *path, "id"
            )
            return given if given else CATEGORIES[0]
        of_id = found["custom"] if found["custom"] else found["own"]
        custom = str(path[0]).startswith("custom")
        if custom != bool(found["custom"]):
            wanted = f"custom-{given}-001" if custom else f"{given if given else 'builtin'}-001"
            self._fault(
                f"`{said['id']}` does not belong under `{path[0]}`: write an id such as `{wanted}`",
                *path,
                "id",
            )
        elif (of_id == "builtin") != str(path[0]).startswith("builtin"):
            message = (
                f"`{said['id']}` does not belong under `{path[0]}`: only built-in guardrails have "
                f"ids `builtin-…`"
            )
            self._fault(message, *path, "id")
        elif of_id == "builtin" and path[0] != f"builtin_{NAME_OF.get(said['id'], '')}":
            wanted = CHECKS[str(path[0]).removeprefix("builtin_")].id
            self._fault(
                f"`{said['id']}` does not belong under `{path[0]}`: write `{wanted}`", *path, "id"
            )
        elif given and of_id not in (given, "builtin"):
            self._fault(
                f"`{said['id']}` is not an id of the category `{given}`: write `{given}-001`",
                *path,
                "id",
            )
        if of_id == "builtin":
            return CATEGORY_OF.get(said["id"], "scope")
        return of_id

    def _keeps(self, said: dict[str, Any], check: str, action: str, path: tuple[Step, ...]) -> None:
        """Whether a built-in guardrail that is written out is still what the specification says:
        what is always active may neither check something else nor lead to something milder."""
        guardrail = said["id"]
        usual = CHECKS[NAME_OF[guardrail]]
        if said.get("enabled") is False:
            self._fault(
                f"`{guardrail}` is built in and always active: leave `enabled` out",
                *path,
                "enabled",
            )
        if check != NAME_OF[guardrail]:
            own = "give your own guardrail an id such as `custom-scope-001`"
            self._fault(
                f"`{guardrail}` checks `{NAME_OF[guardrail]}` and nothing else: {own}",
                *path,
                "check",
            )
        if milder(usual.action, NAMED_ACTIONS.get(action, action)) != usual.action:
            self._fault(
                f"`{guardrail}` does not only `{action}`: write `{usual.action}`",
                *path,
                "action_on_fail",
            )

    def _built_in(self, guardrail: str, marks: Marks, path: tuple[Step, ...]) -> Marks:
        """The marks of a built-in guardrail: those that the file leaves out stay, and none comes
        later than it does in the specification."""
        usual = CHECKS[NAME_OF[guardrail]].marks
        for name, given, latest in (
            ("warn", marks.warn_at, usual.warn_at),
            ("escalate", marks.escalate_at, usual.escalate_at),
        ):
            if given is not None and latest is not None and given > latest:
                message = (
                    f"`{guardrail}` is built in, and its mark `{name}` stands at {latest:g} "
                    f"% at the latest"
                )
                self._fault(f"{message}: give less, or leave it out", *path, "thresholds", name)
        warn = usual.warn_at if marks.warn_at is None else marks.warn_at
        escalate = usual.escalate_at if marks.escalate_at is None else marks.escalate_at
        return Marks(warn, escalate, usual.blocks)

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
        priority = said.get("priority", usual)
        if not isinstance(priority, int):
            self._fault(
                "`priority` is empty: give a whole number, or leave it out", *path, "priority"
            )
            return usual
        if custom and priority < FIRST_CUSTOM:
            message = (
                f"custom guardrails run after the built-in ones: give a `priority` of "
                f"{FIRST_CUSTOM} or more"
            )
            self._fault(message, *path, "priority")
        elif not custom and not 1 <= priority < FIRST_CUSTOM:
            self._fault(
                f"only custom guardrails have this priority: give 1 to {FIRST_CUSTOM - 1}",
                *path,
                "priority",
            )
        return priority

    def _marks(
        self, rules: dict[str, Any], check: str, path: tuple[Step, ...], body: tuple[str, ...]
    ) -> Marks:
        """The shares of a budget at which is spoken; other checks have none."""
        given, thresholds = rules.get("threshold"), rules.get("thresholds", {})
        if given is None and not thresholds:
            return Marks()
        where = (*path, *body, "threshold") if given is not None else (*path, "thresholds")
        if not check or not CHECKS[check].measured:
            self._fault("only checks of budgets have thresholds: leave it out", *where)
            return Marks()
        if given is not None:
            return Marks(self._share(given, where))
        found = {name: self._percent(text, (*where, name)) for name, text in thresholds.items()}
        if found.get("block", 100.0) not in (100, None):
            self._fault(
                "a budget refuses where it is used up: write `100%`, or give the task less",
                *where,
                "block",
            )
        return Marks(found.get("warn"), found.get("escalate"), "block" in found)

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


def read(document: Document, fault: Callable[[Fault], None]) -> tuple[Definition, ...]:
    """The guardrails of a file; what is wrong with it is told to `fault`."""
    try:
        reading = Reading(document)
    except PolicyError as error:
        for each in error.faults:
            fault(each)
        return ()
    found = tuple(reading.definitions())
    for each in reading.faults:
        fault(each)
    return found
