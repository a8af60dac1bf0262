"""Checks in prose: a sentence is a named check, or it speaks of the event and becomes a
condition."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.policy.conditions import ConditionError, compile_condition
from stanchion.policy.conditions.view import STANDARD
from stanchion.policy.formats.agent33.checks import CHECKS
from stanchion.policy.nearest import hint

_REMARK: Final = regex(r"\s*\([^()]*\)\s*$")
_WORD: Final = regex(r"\b(?:agent|action|task|event)\.[a-z_]+")
_COMPARES: Final = regex(r"[=!<>]=|[<>]")
_QUOTED: Final = r"(?:'[^']*'|\"[^\"]*\")"
_MATCHES: Final = regex(
    rf"(?P<name>[a-z_]+(?:\.[a-z_]+)+)\s+(?P<verb>does not match|matches)\s+"
    rf"(?P<globs>{_QUOTED}(?:\s*(?:,|AND|OR|and|or)\s*{_QUOTED})*)"
)
_JOINED_BY_AND: Final = regex(r"\bAND\b", re.IGNORECASE)
_GLOB: Final = regex(_QUOTED)

EACH_OF: Final = {"action.target_file": "action.target_files"}
"""What stands for one of several: a call that changes many files is judged by all of them."""


def named_check(text: str) -> str | None:
    """The name of the check that a sentence writes out, or that is written itself; `None` where it
    is another."""
    plain = " ".join(text.split())
    return plain if plain in CHECKS else _sentences().get(plain.casefold())


@cache
def _sentences() -> dict[str, str]:
    """Names by sentences, each with and without the remark in brackets that ends it."""
    whole = {check.sentence.casefold(): name for name, check in CHECKS.items()}
    return whole | {_REMARK.sub("", sentence): name for sentence, name in whole.items()}


def condition(text: str) -> str:
    """A check as a condition of a policy; `ValueError` says what is wrong with it. `false` fails
    for every action that the guardrail applies to.

    `NAME does not match 'a' AND 'b'` is true where neither glob fits, `NAME matches 'a' OR 'b'`
    where one does.
    """
    speaks = _WORD.search(text) is not None
    made = _MATCHES.sub(_spelled_out, " ".join(text.split()))
    try:
        compile_condition(made, STANDARD)
    except ConditionError as error:
        if speaks:
            raise ValueError(str(error)) from None
        what = (
            "it says nothing about the action"
            if _COMPARES.search(text)
            else "there is no such check"
        )
        other = "write a condition about it, such as `event.tool != 'deploy'`, or a named check"
        raise ValueError(f"{what}: {other}: {hint(text, CHECKS)}") from None
    return made


def _spelled_out(found: re.Match[str]) -> str:
    name, globs = found["name"], _GLOB.findall(found["globs"])
    each = EACH_OF.get(name)
    tests = [f"glob({name if each is None else 'file'}, {glob})" for glob in globs]
    if found["verb"] == "matches":
        fits = (" and " if _JOINED_BY_AND.search(_GLOB.sub("", found["globs"])) else " or ").join(
            tests
        )
    else:
        fits = " and ".join(f"not {test}" for test in tests)
    return f"({fits})" if each is None else f"{each}.all(file, {fits})"
