"""Behaviours of single calls and of several: allowed, refused, changed, redacted, counted."""

from __future__ import annotations

from typing import Final

from stanchion.testing.host_suite.capped import Capped
from stanchion.testing.host_suite.expecting import holds, same
from stanchion.testing.host_suite.script import INPUT_TOKENS, OUTPUT_TOKENS, script
from stanchion.testing.host_suite.table import Table
from stanchion.testing.host_suite.tools import KEY

ADVICE: Final = "read the page of bob"
NO_ROOT: Final = {
    "id": "root",
    "use": "rule",
    "stages": ["tool_call"],
    "applies_to": {"tools": ["look"]},
    "when": "event.args.name == 'root'",
    "action": "block",
    "advice": ADVICE,
}


def allow(table: Table) -> None:
    """What is allowed runs once, as it was asked for; the model reads its result, the user the
    answer."""
    seen = table.play({"name": "bare"}, script(("look", {"name": "bob"}), "bob has a page"))
    same(seen.raised, "")
    same(seen.ran, [("look", {"name": "bob"})])
    holds("page of bob", seen.asked[-1])
    same((len(seen.asked), seen.answer), (2, "bob has a page"))
    holds(("tool_call", "look", "ALLOW"), seen.decided)
    holds(("tool_result", "look", "ALLOW"), seen.decided)


def block(table: Table) -> None:
    """What is refused does not run, and the model reads why and what to do instead."""
    seen = table.play(
        {"name": "b", "guards": [NO_ROOT]},
        script(("look", {"name": "root"}), ("look", {"name": "bob"}), "root stays"),
    )
    same(seen.raised, "")
    same(seen.ran, [("look", {"name": "bob"})])
    holds("a rule of the policy forbids this", seen.asked[1])
    holds(ADVICE, seen.asked[1])
    same(seen.answer, "root stays")
    same([one for one in seen.decided if one[2] == "BLOCK"], [("tool_call", "look", "BLOCK")])


def modify(table: Table) -> None:
    """A call whose arguments were changed runs with the changed ones alone."""
    seen = table.play(
        {"name": "m"}, script(("take", {"name": "t", "limit": 999}), "done"), guards=[Capped()]
    )
    same(seen.raised, "")
    same(seen.ran, [("take", {"name": "t", "limit": 10})])
    holds("10 rows of t", seen.asked[-1])
    same(seen.answer, "done")
    holds(("tool_call", "take", "REDACT"), seen.decided)


def redact(table: Table) -> None:
    """Of a result with a secret in it, nobody gets the secret, and the model gets the rest."""
    policy = {"name": "r", "guards": [{"use": "secrets"}]}
    seen = table.play(policy, script(("look", {"name": "ann"}), "done"))
    same((seen.raised, seen.answer), ("", "done"))
    same(seen.ran, [("look", {"name": "ann"})])
    assert KEY not in seen.everything, "the secret has left the tool"
    holds("ann's key is [redacted", seen.asked[-1])
    holds(("tool_result", "look", "REDACT"), seen.decided)


def usage(table: Table) -> None:
    """What the model reports as used is charged, and once."""
    policy = {"name": "u", "guards": [{"use": "budget", "tokens": 1_000_000, "per": "task"}]}
    seen = table.play(policy, script(("look", {"name": "bob"}), "done"))
    same((seen.raised, seen.answer), ("", "done"))
    same(table.used("tokens"), 2 * (INPUT_TOKENS + OUTPUT_TOKENS))


def parallel(table: Table) -> None:
    """Calls of one turn are judged each for itself, and together they never exceed a limit."""
    names = ["a", "b", "root", "ann", "c", "d"]
    asked = [("look", {"name": name}) for name in names]
    seen = table.play({"name": "p", "guards": [NO_ROOT, {"use": "secrets"}]}, script(asked, "done"))
    same((seen.raised, seen.answer), ("", "done"))
    same(sorted([args["name"] for _, args in seen.ran]), sorted(set(names) - {"root"}))
    for name in "abcd":
        holds(f"page of {name}", seen.asked[-1])
    holds("ann's key is [redacted", seen.asked[-1])
    holds(ADVICE, seen.asked[-1])
    assert KEY not in seen.everything, "the secret has left the tool"
    few = {"use": "budget", "calls": 4, "per": "task", "stages": ["tool_call"]}
    seen = table.play({"name": "few", "guards": [few]}, script(asked, "done"))
    same((len(seen.ran), seen.answer), (4, "done"))
