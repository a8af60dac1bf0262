"""Own: what Stanchion keeps, and what its command line changes, is for people.

Judged is what commands are said to use and to run. Whoever runs as the same user can go round that;
what holds such an agent is the rights of files, another user, keys and a broker.
"""

from __future__ import annotations

from typing import Final

from stanchion.guards._own import FIRST, POLICY, STATE, usually
from stanchion.guards._protected import Protected
from stanchion.guards.shell.places import Roots
from stanchion.guards.shell.rule import Rule
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.effects import DELETERS
from stanchion.readings.shell.paths import used_by
from stanchion.readings.word_lists import listed

NAME: Final = "stanchion"
CHANGING: Final[dict[str, frozenset[str]]] = {
    "tickets": listed("approve deny revoke review sign answer"),
    "operators": listed("add rotate revoke"),
    "safe-mode": listed("off"),
    "tools": listed("reset accept"),
    "secrets": listed("allow"),
    "policy": listed("trust"),
    "store": listed("accepted restored"),
    "budget": listed("release top-up"),
    "audit": listed("prune erase"),
    "experience": listed("prune archive"),
    "state": listed("--break-lock"),
    "mcp": listed("unwrap"),
    "resume": frozenset(),
    "retention": frozenset(),
    "broker": frozenset(),
}
"""Our commands by which an operator changes what stands, with the words that say so; none where the
command always does."""
HELP: Final = frozenset({"-h", "--help"})
DELETES: Final = DELETERS | {"mv", "rsync"}
"""Programs that may delete a folder around what is ours, in whose words no name of it is."""


def broken(command: Command, roots: Roots) -> list[Rule]:
    """The rules that a command breaks."""
    text = f"{command.cwd} {command.line} {command.given}"
    if command.name not in DELETES and roots.own.sign.search(text) is None:
        return []
    return [rule for rule in RULES if rule.holds(command, roots)]


def _is_for_people(command: Command, _roots: Roots) -> bool:
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


RULES: Final = (
    Rule("@", "does what only a person may do", check=_is_for_people),
    Rule("@", "reaches for what Stanchion keeps for itself",
         check=lambda c, r: _touches(c, r, STATE)),
    Rule("@", "changes a file of Stanchion", check=lambda c, r: _touches(c, r, POLICY)),
    Rule("@", "writes what Python runs before any program",
         check=lambda c, r: _touches(c, r, FIRST), loss="unknown"),
)  # fmt: skip

HITS: Final = (
    "stanchion tickets approve 01H --by ann",
    "/srv/app/.venv/bin/stanchion resume",
    "python -m stanchion safe-mode off",
    "env A=1 nice -n 5 stanchion tools reset pay",
    "stanchion state --break-lock=pay",
    "stanchion secrets allow 0123456789ab --by ann --why help",
    "X=stanchion; $X resume",
    "echo stanchion resume > a.sh; sh a.sh",
    "cp empty.db ~/.cache/stanchion/patterns/0af3",
    "cat ~/.config/stanchion/keys/ann.pem",
    "xxd < ~/.local/state/stanchion/state.db",
    "rm -rf ~/.stanchion",
    "mv ~/.local/state/stanchion /tmp/x",
    "sed -i s/block/allow/ .stanchion/policy.yaml",
    "rm -rf .venv/lib/python3.11/site-packages/stanchion",
    "echo 'import os' > .venv/lib/python3.11/site-packages/sitecustomize.py",
    "cp x ~/.local/lib/python3.11/site-packages/a.pth",
)
MISSES: Final = (
    "stanchion check bash",
    "stanchion tickets list",
    "stanchion safe-mode on",
    "stanchion quarantine tool:pay",
    "stanchion tickets approve --help",
    "uv run stanchion lint policy.yaml",
    "python -m stanchion explain last",
    "pip install 'stanchion-guard[signing]'",
    "pytest tests/test_shield.py",
    "grep -rn 'stanchion tickets approve' docs",
    "git commit -m 'say how stanchion resume works'",
    "cd stanchion && git status",
    "ls ~/.stanchion",
    "cat src/stanchion/trail.py",
    "sed -i s/a/b/ src/stanchion/readings/shell/ours.py",
    "python -c 'import stanchion; print(stanchion.__version__)'",
    "echo 'from stanchion import Shield' > app.py",
    "python manage.py resume",
    "cat .venv/lib/python3.11/site-packages/stanchion/__init__.py",
    "stanchion policy loosens old.yaml new.yaml",
    "stanchion tickets request 01H",
    "cat .venv/lib/python3.11/site-packages/a.pth",
    "cp weights.pth models/best.pth",
)
