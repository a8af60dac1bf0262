"""Linting a policy: what loads and works, and still cannot be what its author meant. Every rule is
an entry of one table, with its code, how sure it is, and what it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from stanchion.kernel.contract.values import Sure
from stanchion.policy import lint_rules as find, lint_traps as traps
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.document import Document, in_order
from stanchion.policy.errors import Fault, PolicyError
from stanchion.policy.found import Trusts, find_policy, nobody
from stanchion.policy.lint_rules import Findings, LintSubject
from stanchion.policy.load import compile_document, read_policy
from stanchion.policy.overlay import environment
from stanchion.policy.seat import own_points
from stanchion.policy.tool_lint import NONE_KNOWN, Schemas

if TYPE_CHECKING:
    from pathlib import Path


class LintRule(NamedTuple):
    """A rule of the linter: its code, how sure it is that something is wrong, what it is about, and
    what finds it."""

    code: str
    sure: Sure
    about: str
    find: Callable[[LintSubject], Findings]


RULES: Final = (
    LintRule(
        "contradiction", "certain", "a condition needs a name to be two things", find.contradictions
    ),
    LintRule("unreachable", "certain", "a rule needs what is never there", find.unreachable),
    LintRule("unreachable", "likely", "a rule needs a role that no agent has", find.without_role),
    LintRule("misspelt", "likely", "a name is one slip away from another", find.misspelt),
    LintRule(
        "undeclared", "info", "a name is not in the table where the others are", find.undeclared
    ),
    LintRule("always_warns", "certain", "every call gets a warning", find.always_warns),
    LintRule("unit", "likely", "a share stands where a percentage belongs", traps.units),
    LintRule("unfindable", "certain", "code that is named is not there", traps.unfindable),
    LintRule("shadow", "info", "a guard, or the whole policy, only watches", find.watching),
    LintRule("unguarded", "certain", "there is no guard", find.unguarded),
    LintRule("arguments", "likely", "a condition fits none of its tools", find.arguments),
    LintRule("effect", "likely", "nobody says what tools do that act", find.effects),
    LintRule("shadowed", "certain", "an earlier guard stops everything", find.shadowed),
    LintRule("unused", "likely", "a role has no agent", find.unused_roles),
    LintRule("unused", "likely", "no guard looks at capabilities", find.unused_capabilities),
    LintRule("unused", "certain", "an entry says nothing", find.unused_entries),
    LintRule("unused", "likely", "a risk level means nothing", find.meaningless_levels),
    LintRule("unused", "info", "no task has a risk level", find.unused_levels),
    LintRule(
        "arguments", "certain", "a mandate names an argument of no tool", find.mandate_arguments
    ),
    LintRule("replaces", "likely", "a list or an empty key drops what is inherited", find.dropped),
    LintRule("replaces", "info", "a list drops what is inherited", find.replaced),
    LintRule("joined", "likely", "a list became one text", find.joined),
    LintRule("pattern", "likely", "a regular expression stands among names", traps.patterns),
    LintRule("disabled", "info", "a guard is switched off", find.disabled),
)
"""All rules but those that guards have about their own options, and `left_out`, which is about
files."""


class Remark(msgspec.Struct, frozen=True):
    """One thing to look at: where, how sure it is that something is wrong, what it is and what to
    do.

    `info` is no mistake, only something that is easily forgotten. `env` is set where it is so in
    one environment alone.
    """

    place: str
    code: str
    sure: Sure
    message: str
    advice: str
    env: str | None = None

    def __str__(self) -> str:
        where = "" if self.env is None else f" (in environment `{self.env}`)"
        return f"{self.place}: {self.message}{where}: {self.advice}"


class Linted(NamedTuple):
    """What was found, and in which environments (`None`: without one) it was looked for."""

    remarks: tuple[Remark, ...]
    checked: dict[str | None, CompiledPolicy]

    @property
    def clean(self) -> bool:
        """Whether nothing was found that is more than worth knowing."""
        return all(remark.sure == "info" for remark in self.remarks)


def lint(
    source: str | Path | dict[str, Any], env: str | None = None, tools: Schemas = NONE_KNOWN
) -> Linted:
    """Look a policy over in one environment, or in all and without any; `PolicyError` has every
    fault of them. `tools` are the schemas of tools that are known beside those of the policy."""
    read = read_policy(source)
    documents: dict[str | None, Document] = (
        read.variants if env is None else {env: environment(read.whole, env)}
    )
    checked: dict[str | None, CompiledPolicy] = {}
    faults: list[Fault] = []
    for name, document in documents.items():
        try:
            if document.faults:
                raise PolicyError(list(document.faults))
            checked[name] = compile_document(document, read.files)
        except PolicyError as error:
            faults += error.faults
    if faults:
        raise PolicyError(in_order(faults))
    return _looked_over(documents, checked, tools)


def lint_found(
    env: str | None = None,
    trusts: Trusts = nobody,
    folder: Path | None = None,
    tools: Schemas = NONE_KNOWN,
) -> Linted:
    """Look over what counts in a folder: the user's policy with those of a project over it, and
    what of these does not count. `PolicyError` where one of its policies is wrong."""
    found = find_policy(folder, env, trusts)
    linted = _looked_over({env: found.document}, {env: found.policy()}, tools)
    advice = "have an operator trust the file, or remove it"
    left_out = [
        Remark(
            str(file.file),
            "left_out",
            "info",
            f"{each}: this is left out, because it may loosen",
            advice,
        )
        for file in found.files
        for each in file.left_out
    ]
    return Linted((*left_out, *linted.remarks), linted.checked)


def _looked_over(
    documents: dict[str | None, Document], checked: dict[str | None, CompiledPolicy], tools: Schemas
) -> Linted:
    """What there is to say of a policy that loads, in each of these environments."""
    found = {
        name: list(_remarks(LintSubject(documents[name], policy, name, tools)))
        for name, policy in checked.items()
    }
    return Linted(_merged(found), checked)


def _remarks(look: LintSubject) -> Iterator[Remark]:
    for rule in RULES:
        for place, said, advice in rule.find(look):
            yield Remark(place, rule.code, rule.sure, said, advice)
    for at, seat in look.seated:
        for code, sure, said, advice, path in own_points(seat, look.policy):
            yield Remark(look.at(at, *path), code, sure, said, advice)


def _merged(found: dict[str | None, list[Remark]]) -> tuple[Remark, ...]:
    """Each remark once, in the order of the files; what is unused counts only where it is unused
    everywhere."""
    everywhere = set.intersection(*(set(remarks) for remarks in found.values()))
    plain = set(found.get(None, ()))
    kept: dict[Remark, None] = {}
    for name, remarks in found.items():
        for remark in remarks:
            if remark in everywhere or (remark in plain and remark.code != "unused"):
                kept[remark] = None
            elif remark.code != "unused":
                kept[msgspec.structs.replace(remark, env=name)] = None
    numbered = list(kept)
    ranked = in_order([Fault(remark.place, str(at)) for at, remark in enumerate(numbered)])
    return tuple(numbered[int(each.message)] for each in ranked)
