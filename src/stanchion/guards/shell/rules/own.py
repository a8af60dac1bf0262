"""Own: what Stanchion keeps, and what its command line changes, is for people.

Judged is what commands are said to use and to run. Whoever runs as the same user can go round that;
what holds such an agent is the rights of files, another user, keys and a broker.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stanchion.guards._own import FIRST, POLICY, STATE, usually
from stanchion.guards._protected import Protected
from stanchion.guards.shell.places import Roots
from stanchion.guards.shell.rule import CHECKS, Check, asked
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.paths import used_by
from stanchion.readings.word_lists import listed

NAME: Final = "stanchion"
CHANGING: Final[dict[str, frozenset[str]]] = {
    "tickets": listed("approve deny revoke review sign answer"),
    "operators": listed("add rotate revoke"),
    "tools": listed("reset accept prune archive"),
    "secrets": listed("allow"),
    "policy": listed("trust"),
    "budget": listed("release top-up"),
    "audit": listed("prune erase retention"),
    "state": listed("resume off unlock accept"),
    "mcp": listed("unwrap"),
    "broker": frozenset(),
    "install": listed("claude codex"),
    "uninstall": listed("claude codex"),
    "hook": listed("daemon stop"),
}
"""Our commands by which an operator changes what stands, with the words that say so; none where the
command always does."""
HELP: Final = frozenset({"-h", "--help"})


def is_near(command: Command, roots: Roots) -> bool:
    """Whether a command may have to do with what is ours."""
    # What deletes a folder around it has no name of it among its words.
    if "deletes" in command.kinds or command.name in ("mv", "rsync"):
        return True
    return roots.own.sign.search(f"{command.cwd} {command.line} {command.given}") is not None


@asked
def is_for_people(command: Command, _roots: Roots) -> bool:
    """Whether our program, or our module in Python, is told to change what stands."""
    argv = command.argv
    at = argv.index("-m") + 1 if "-m" in argv[:-1] else 0
    if (argv[at] if at else command.name) != NAME or not HELP.isdisjoint(argv):
        return False
    words = [word.partition("=")[0] for word in argv[at + 1 :]]
    verbs = CHANGING.get(next((word for word in words if word[:1] != "-"), ""))
    return verbs is not None and (not verbs or not verbs.isdisjoint(words))


def _touched(command: Command, roots: Roots) -> Iterator[Protected | None]:
    """What of ours a command uses as no agent does. What only looks at a name reads nothing; a
    search and `git` delete what they find, not the folder in which they look."""
    for path, use, base, how, _ in used_by(command):
        if (how == "looks" and use == "read") or ("**" in path and "find -exec" in command.via):
            continue
        if use == "delete" and (how == "looks" or command.name == "git"):
            use = "write"
        yield from (roots.own.leads_to(path, use, base), usually(path, use, base))


def _touches(kept: Protected) -> Check:
    """Asks whether a command uses one kind of what is ours; all kinds are found together."""

    def touches(command: Command, roots: Roots) -> bool:
        known = command.__dict__.get("touched")
        if known is None or known[0] is not roots:
            known = command.__dict__["touched"] = roots, tuple(_touched(command, roots))
        return kept in known[1]

    return touches


KINDS: Final = {"touches_state": STATE, "touches_policy": POLICY, "touches_first": FIRST}
CHECKS.update({name: _touches(kept) for name, kept in KINDS.items()})
