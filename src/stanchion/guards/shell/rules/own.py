"""Own: Stanchion's command, files and variables, which are for people, however an agent spells them."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from stanchion.guards._own import STATE, Use
from stanchion.guards.shell.command import Command
from stanchion.guards.shell.effects import PATTERN_FIRST, find_roots
from stanchion.guards.shell.inline import LANGUAGES
from stanchion.guards.shell.listing import listed
from stanchion.guards.shell.opening import Open, origin_of
from stanchion.guards.shell.ours import Reach, is_ours, starts, takes, told_in
from stanchion.guards.shell.places import Roots
from stanchion.guards.shell.reaching import reach_of
from stanchion.guards.shell.rule import Rule
from stanchion.guards.shell.shells import SHELLS
from stanchion.guards.shell.usual import is_closed, is_kept
from stanchion.guards.shell.wrappers import PREFIXES

TALKS: Final = listed(
    """
    echo printf grep egrep fgrep zgrep rg ag ack man whatis apropos which whereis type hash cat tac bat less more head
    tail ls tree git gh hub touch mkdir sed wc sort uniq diff cd pushd test [ [[ true : pip pip3 brew apt apt-get
    """
)
"""Programs to which our name is a word like any other."""
LOOKS: Final = listed("echo printf ls stat test [ [[ cd pushd du tree which readlink realpath dirname basename : true")
"""Programs that say where things are, not what is in them."""
LAUNCHES: Final = (
    listed(
        """
        uv uvx pipx poetry pdm hatch rye pixi conda mamba micromamba expect socat tmux screen script ssh mosh parallel
        xargs watch flock su runuser docker podman nerdctl kubectl oc lxc nix nix-shell tox nox invoke inv make just
        task npx bunx pnpm npm yarn at batch crontab find fd sh bash dash zsh ksh ash fish eval source . cmd wsl vim
        nvim ncat nc coverage kernprof py-spy viztracer chronic ts unbuffer py pythonw
        """
    )
    | frozenset(PREFIXES)
    | frozenset(LANGUAGES)
)
"""Programs that start others."""
FOLLOWED: Final = frozenset({*SHELLS, "eval", "source", "."})
"""Those whose texts have been followed already."""
SETS: Final = listed(
    "env export unset declare typeset local readonly read printf set setenv unsetenv setx launchctl systemctl mapfile"
)
EDITS: Final = listed("vim vi nvim nano emacs ed ex patch code micro pico joe kak hx helix sponge")
IN_PLACE: Final = frozenset({"-i", "--in-place", "--inplace", "-w", "--write", "-o", "--output", "--fix"})
MOVES: Final = listed("cp mv install rsync scp ln")
KNOWN: Final = frozenset({"tickets", "operators", "safe-mode"})
"""Words that begin what only our program understands."""
GIT: Final = listed("checkout restore rm mv apply")

DEEPEST: Final = 6
"""How deep texts may stand in each other before nobody can tell."""

_PYTHON: Final = re.compile(r"(?:python|pypy)[\d.]*w?|ipython\d?|py")
_PARTED: Final = re.compile(r"[\s'\"`;,()<>|&]+")
_PIECES: Final = re.compile(r"[=@:,]")
_OURS: Final = re.compile(r"\$\{?STANCHION_")


def _takes(command: Command, roots: Roots) -> Reach:
    """How surely a command does what only a person may do.

    1. It is our program, whatever it is called by. 2. A program that starts others is given it, in words or as a text.
    3. It runs code that reaches for it. 4. A program of unknown name has our words behind it.
    """
    argv, name = command.argv, command.name
    if not argv:
        return ""
    if is_ours(argv[0]):
        return takes(argv[1:])
    runs = _runs_code(name)
    if runs:
        reach = _by_code(command, roots)
        if reach:
            return reach
    unknown = isinstance(argv[0], Open) or "$" in argv[0]
    if (unknown or runs or name in LAUNCHES) and _has_our_words(argv[1:]):
        return "danger" if any(True for _ in starts(argv[1:])) else "doubt"
    if name in TALKS and not (name == "git" and _configures(command)):
        return ""
    launches = runs or name in LAUNCHES
    given = list(starts(argv[1:]))
    if any(takes(words) == "danger" for words in given):
        return "danger" if launches else "doubt"
    texts = [word for word in argv[1:] if " " in word or "\n" in word or "\t" in word]
    texts += [command.given] if launches and command.given is not None else []
    if any(told_in(text) == "danger" for text in texts):
        return "danger" if launches else "doubt"
    if launches and not runs and name not in FOLLOWED:
        reaches = [_in_text(str(text), roots) for text in texts]
        if any(reaches):
            return "danger" if "danger" in reaches else "doubt"
    return "doubt" if launches and any(words and isinstance(words[0], Open) for words in given) else ""


def _in_text(text: str, roots: Roots) -> Reach:
    """How surely a text that a program is given does it, as a script or as code."""
    from stanchion.guards.shell.writing import script_reach

    if roots.depth >= DEEPEST:
        return "doubt"
    reach = reach_of(text, roots.own)
    return reach if reach == "danger" else script_reach(text, roots._replace(depth=roots.depth + 1)) or reach


def _runs_code(name: str) -> bool:
    return name in LANGUAGES or _PYTHON.fullmatch(name) is not None


def _by_code(command: Command, roots: Roots) -> Reach:
    given = [command.given] if command.given is not None else []
    worst: Reach = ""
    for text in (*[word for word in command.argv[1:] if len(word) > 8], *given):
        reach = reach_of(str(text), roots.own)
        if reach == "danger":
            return reach
        worst = reach if reach else worst
    if worst and _has_our_words(command.argv[1:]):
        return "danger"
    return worst


def _has_our_words(words: tuple[str, ...]) -> bool:
    """Whether two words follow each other that only our program understands so."""
    if "-h" in words or "--help" in words:
        return False
    plain = [word for word in words if word[:1] != "-"]
    return any(one in KNOWN and takes((one, two)) == "danger" for one, two in pairwise(plain))


def _configures(command: Command) -> bool:
    return "-c" in command.argv or "config" in command.operands[:1]


def _another_name(command: Command) -> bool:
    """Whether our program gets another name, by which nobody would know it."""
    if command.name == "alias":
        return any(is_ours(word.partition("=")[2].split(" ")[0]) for word in command.argv[1:] if "=" in word)
    if command.name not in MOVES or len(command.operands) < 2:
        return False
    named = [
        word for word in command.operands[:-1] if word.lower().endswith(("bin/stanchion", "scripts/stanchion.exe"))
    ]
    return bool(named) or any("which" in origin_of(word) for word in command.operands[:-1])


def _sets(command: Command) -> bool:
    """Whether a variable of ours is set or unset, by whatever sets variables."""
    if any(name.startswith("STANCHION_") for name, _ in command.settings):
        return True
    if command.name not in SETS:
        return False
    words = [word for word in command.argv[1:] if word.lstrip("-u").startswith(("STANCHION_", "stanchion_"))]
    return bool(words) and not (command.name == "printf" and "-v" not in command.argv)


def _paths(command: Command) -> list[str]:
    """Everything in a command's words that may be a path."""
    found: list[str] = [path for _, path in command.opens]
    words = list(command.argv[1:])
    if command.name in PATTERN_FIRST and command.operands and not command.flags & {"-e", "-f"}:
        words = [word for word in words if word != command.operands[0]]
    for word in words:
        if " " in word or "\n" in word:
            found.append(word)
            found += [part for part in _PARTED.split(word) if "/" in part or part.endswith(".db")]
            continue
        found.append(word)
        if word[:1] == "-" and len(word) > 2:
            found.append(word[2:])
        if "=" in word or "@" in word or ":" in word or "," in word:
            found += [piece for piece in _PIECES.split(word) if piece]
    return found


def _opens(command: Command, roots: Roots) -> bool:
    """Whether a command uses what we keep closed, in whatever way."""
    if command.cwd == "container:" or command.name in LOOKS:
        paths = [path for _, path in command.opens]
    elif command.name in TALKS and command.name in ("git", "gh", "hub"):
        paths = [word for word in command.argv[1:] if " " not in word]
    else:
        paths = _paths(command)
    own, cwd = roots.own, command.cwd
    if cwd == "container:":
        return False
    return any(is_closed(path, cwd) or own.leads_to(path, "read", cwd) == STATE for path in paths)


def _changes(command: Command, roots: Roots) -> bool:
    """Whether a command writes, deletes or moves something of ours, or the folder that it is in."""
    if command.cwd == "container:":
        return False
    return any(_changed(path, use, command, roots) for path, use in _changed_by(command))


def _changed(path: str, use: Use, command: Command, roots: Roots) -> bool:
    return is_kept(path, use, command.cwd) or bool(roots.own.leads_to(path, use, command.cwd))


def _changed_by(command: Command) -> list[tuple[str, Use]]:
    name, operands = command.name, command.operands
    if name in ("find", "gfind", "fd", "bfs"):
        return _found(command)
    inner = "find -exec" in command.via
    deletes = [path for path in command.deletes if not (inner and "**" in path)]
    writes = [path for path in command.writes if not (inner and "**" in path)]
    if name in ("chmod", "chown", "chgrp") and command.flags & {"-R", "--recursive"}:
        deletes += operands[1:]
    if name in MOVES and len(operands) > 1:
        into = dict(command.sorted.values).get("-t", operands[-1])
        writes += [f"{into.rstrip('/')}/{_last(each)}" for each in operands[:-1] if _last(each)]
    if name == "git" and operands and operands[0] in GIT:
        writes += operands[1:]
    if (
        name in EDITS
        or (command.flags & IN_PLACE and name not in TALKS)
        or (name == "sed" and command.flags & IN_PLACE)
    ):
        writes += [*operands, *[value for _, value in command.sorted.values]]
    writes += [path for op, path in command.opens if ">" in op]
    return [*[(path, "delete") for path in deletes], *[(path, "write") for path in writes]]


def _last(path: str) -> str:
    name = path.rstrip("/").rpartition("/")[2]
    return "" if name in (".", "..", "*", "~", "") else name


def _found(command: Command) -> list[tuple[str, Use]]:
    """What a `find` would delete or change, as patterns."""
    argv = command.argv
    runs = [
        argv[at + 1].rpartition("/")[2] for at, word in enumerate(argv[:-1]) if word in ("-exec", "-execdir", "-ok")
    ]
    if "-delete" not in argv and not any(
        run in ("rm", "unlink", "shred", "mv", "chmod", "chown", "sed") for run in runs
    ):
        return []
    named = [argv[at + 1] for at, word in enumerate(argv[:-1]) if word in ("-name", "-iname", "-path", "-wholename")]
    names = [word.rpartition("/")[2] for word in named] if named else [""]
    narrowed = not named and any(word in ("-newer", "-mtime", "-mmin", "-empty", "-regex", "-size") for word in argv)
    if narrowed:
        return []
    return [(f"{root}/**/{each}" if each else root, "delete") for root in find_roots(argv) for each in names]


def _links(command: Command, roots: Roots) -> bool:
    """Whether a link would lead around the names of our places."""
    if command.name != "ln" or command.cwd == "container:":
        return False
    return any(roots.own.holds(path, command.cwd) for path in command.operands[:-1])


def _asks(command: Command) -> bool:
    """Whether a command uses where our variables lead, rather than showing it."""
    return command.name not in TALKS and any(_OURS.search(word) is not None for word in command.argv[1:])


RULES: Final = (
    Rule("@", "does what only a person may do", check=lambda c, r: _takes(c, r) == "danger"),
    Rule("@", "sets or unsets a variable of Stanchion", check=lambda c, _: _sets(c)),
    Rule("@", "reaches for what Stanchion keeps for itself", check=_opens),
    Rule("@", "changes a file of Stanchion", check=_changes),
    Rule("@", "may do what only a person may do", check=lambda c, r: _takes(c, r) == "doubt", level="doubt"),
    Rule("@", "gives Stanchion's program another name", check=lambda c, _: _another_name(c), level="doubt"),
    Rule("@", "links to where Stanchion keeps its files", check=_links, level="doubt"),
    Rule("@", "uses where Stanchion keeps its files", check=lambda c, _: _asks(c), level="doubt"),
)
WRITES_DANGER: Final = Rule("@", "writes what does what only a person may do")
WRITES_DOUBT: Final = Rule("@", "writes what may do what only a person may do", level="doubt")

HITS: Final = (
    "stanchion tickets approve 01H --by ann",
    "/srv/app/.venv/bin/stanchion resume",
    "python -m stanchion safe-mode off",
    "python3.13 -Imstanchion resume",
    "uvx stanchion@latest operators add ann",
    "uv run stanchion policy trust policy.yaml",
    "pipx run stanchion store accepted --why 'it is fine'",
    "env A=1 nice -n 5 stanchion tools reset pay",
    "stanchion secrets allow 0123456789ab --by ann --why help",
    "python -c \"from stanchion import Shield; Shield.load().approve('x', by='ann')\"",
    "python -c \"__import__('stan' + 'chion').Shield.load().resume()\"",
    "python -c \"import runpy; runpy.run_module('stanchion')\" tickets approve 01H",
    'sqlite3 ~/.local/state/stanchion/state.db "update cells set number = 0"',
    "cp empty.db ~/.cache/stanchion/patterns/0af3",
    "cat ~/.config/stanchion/keys/ann.pem",
    "rm -rf ~/.stanchion",
    "rm -rf ~/.local/state",
    "STANCHION_STATE_DIR=/tmp/x sh run.sh",
    "env -u STANCHION_STORE make",
    "sed -i s/block/allow/ .stanchion/policy.yaml",
    "printf 'go:\\n\\tstanchion resume\\n' > Makefile && make go",
    "echo stanchion resume > a.sh; sh a.sh",
    "tmux new-session -d 'stanchion resume'",
    "socat - EXEC:'stanchion resume'",
    "alias s=stanchion",
    "$(which stanchion) tickets approve 01H",
)
MISSES: Final = (
    "stanchion check bash",
    "stanchion tickets list",
    "stanchion policy show default",
    "stanchion safe-mode on",
    "stanchion quarantine tool:pay",
    "stanchion tickets approve --help",
    "uv run stanchion lint policy.yaml",
    "python -m stanchion explain last",
    "pip install stanchion",
    "pytest tests/test_shield.py",
    "grep -rn 'stanchion tickets approve' docs",
    "git commit -m 'say how stanchion resume works'",
    "cd stanchion && git status",
    "ls ~/.stanchion",
    "cat src/stanchion/trail.py",
    "sed -i s/a/b/ src/stanchion/guards/shell/ours.py",
    "python -c 'import stanchion; print(stanchion.__version__)'",
    "echo 'from stanchion import Shield' > app.py",
    "python manage.py resume",
    "docker run stanchion",
)
