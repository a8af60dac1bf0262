"""Own: what Stanchion keeps, and what its command line changes, is for people.

Judged is what commands are said to use and to run. Whoever runs as the same user can go round that;
what holds such an agent is the rights of files, another user, keys and a broker.
"""

from __future__ import annotations

from typing import Final

from stanchion.guards._own import FIRST, POLICY, STATE, usually
from stanchion.guards._protected import Protected
from stanchion.guards.shell.places import Roots
from stanchion.guards.shell.rule import CHECKS, asked
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


def _touches(command: Command, roots: Roots, kept: Protected) -> bool:
    """Whether a command uses files of ours as no agent does. What only looks at a name reads
    nothing; a search and `git` delete what they find, not the folder in which they look."""
    for path, use, base, how, _ in used_by(command):
        if (how == "looks" and use == "read") or ("**" in path and "find -exec" in command.via):
            continue
        if use == "delete" and (how == "looks" or command.name == "git"):
            use = "write"
        if kept in (roots.own.leads_to(path, use, base), usually(path, use, base)):
            return True
    return False


CHECKS.update(
    {
        "touches_state": lambda command, roots: _touches(command, roots, STATE),
        "touches_policy": lambda command, roots: _touches(command, roots, POLICY),
        "touches_first": lambda command, roots: _touches(command, roots, FIRST),
    }
)
