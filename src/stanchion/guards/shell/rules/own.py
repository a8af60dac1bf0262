"""Own: Stanchion's command, files and variables, which are for people, however an agent spells
them."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

from stanchion.guards._own import NOWHERE, OwnPlaces
from stanchion.guards.shell.copies import COPIES, PACKS, SEARCHES, UNPACKS, covers
from stanchion.guards.shell.launchers import FOLLOWED, LAUNCHES, runs_code
from stanchion.guards.shell.own_paths import (
    CHANGERS,
    DELETES,
    MOVES,
    TALKS,
    begins,
    changes,
    links,
    opens,
)
from stanchion.guards.shell.places import Roots
from stanchion.guards.shell.reach import reach_of, written_reach
from stanchion.guards.shell.rule import Rule
from stanchion.guards.shell.signs import has_sign
from stanchion.guards.shell.stops import ATTACHES, STOPS, attaches, removes, stops
from stanchion.guards.shell.usual import may_lead
from stanchion.guards.shell.written import LONGEST, READ_BY_PEOPLE, begins_with, filled, scripts
from stanchion.kernel.regex import regex
from stanchion.readings.shell.analysis import analysed
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.ours import MARK, Reach, is_ours, starts, takes, told_in
from stanchion.readings.shell.partly_known import Open, origin_of
from stanchion.readings.word_lists import listed

SETS: Final = listed(
    "env export unset declare typeset local readonly read printf set setenv unsetenv setx "
    "launchctl systemctl mapfile"
)
KNOWN: Final = frozenset({"tickets", "operators", "safe-mode"})
"""Words that begin what only our program understands."""
FINDS: Final = listed("which command type whereis hash whence where")
"""Programs that say where another one is."""
DEEPEST: Final = 6
"""How deep texts may stand in each other before nobody can tell."""

COVERING: Final = COPIES | PACKS | SEARCHES | UNPACKS
EARLY: Final = SETS | ATTACHES | STOPS | {"alias", "sed", "perl"}

_VARIABLE: Final = regex(r"(?:-u|--unset=)?STANCHION_\w*(?:\+?=|\Z)", re.IGNORECASE)
_EXECUTES: Final = regex(r"(?:^|[\d;{}$/])\s*e\s|/[a-z]*e[a-z]*\s*(?:;|\Z)")
_HINT: Final = regex(r"tanchion|tickets|operators|safe.mode|^\S*[*?\[]", re.IGNORECASE)
"""One of these is in the words of every command that may start us, or the program's name is a
pattern."""
_OURS: Final = regex(r"\$\{?STANCHION_")


def _takes(command: Command, roots: Roots) -> Reach:
    """How surely a command does what only a person may do.

    1. It is our program, whatever it is called by. 2. A program that starts others is given it, in
    words or as a text.
    3. It runs code that reaches for it. 4. A program of unknown name has our words behind it. 5.
    The name of what it starts is made of ours by another program.
    """
    argv, name = command.argv, command.name
    if not argv or not (
        name in LAUNCHES or runs_code(name) or _HINT.search(_all(command)) is not None
    ):
        return ""
    if is_ours(argv[0]):
        return takes(argv[1:])
    if any(told_in(value) == "danger" for _, value in command.settings):
        return "doubt"
    runs = runs_code(name)
    if runs:
        reach = _by_code(command, roots)
        if reach:
            return reach
    unknown = isinstance(argv[0], Open) or "$" in argv[0]
    if (unknown or runs or name in LAUNCHES) and _has_our_words(argv[1:]):
        return "danger" if any(True for _ in starts(argv[1:])) else "doubt"
    if name in TALKS and not _talks_others_into(command):
        return ""
    launches = runs or name in LAUNCHES
    if _made_of_ours(argv, launches):
        return "doubt"
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
    return (
        "doubt" if launches and any(words and isinstance(words[0], Open) for words in given) else ""
    )


def _made_of_ours(argv: tuple[str, ...], launches: bool) -> bool:
    """Whether what is started has a name that another program made of ours, and words behind it
    that do not only read.

    As the program itself any such word is enough; behind a program that starts others, which may be
    given a file whose name has ours in it, it is one of those that only a person may use, or one
    that nobody knows.
    """
    if MARK in argv[0]:
        return takes(argv[1:]) != ""
    if not launches:
        return False
    behind = [argv[at + 1 :] for at, word in enumerate(argv) if MARK in word]
    return any(
        takes(words) == "danger" or (bool(words) and isinstance(words[0], Open)) for words in behind
    )


def candidates(command: Command, roots: Roots) -> tuple[Rule, ...]:
    """The rules that a command may break: told quickly, because most commands break none."""
    return RULES if has_sign(command, roots.own) else SILENT.get(command.name, ())


def broken(command: Command, roots: Roots) -> list[Rule]:
    """The rules that a command breaks."""
    rules = candidates(command, roots)
    if rules is not RULES:
        return [rule for rule in rules if rule.holds(command, roots)] if rules else []
    if not concerns(command, roots):
        return []
    reach = _takes(command, roots)
    held: list[Rule] = []
    for rule in RULES:
        if rule is TAKES_DANGER or rule is TAKES_DOUBT:
            holds = _reach_of(rule) == reach
        else:
            holds = rule.holds(command, roots)
        if holds:
            held.append(rule)
    return held


def _by_name(*kinds: tuple[Rule, frozenset[str]]) -> dict[str, tuple[Rule, ...]]:
    names = frozenset().union(*[names for _, names in kinds])
    return {name: tuple([rule for rule, names in kinds if name in names]) for name in names}


def concerns(command: Command, roots: Roots) -> bool:
    """Whether a command with a sign of us may be meant for us, rather than one that only looks or
    talks."""
    name = command.name
    if name in LAUNCHES or name in CHANGERS or command.settings or command.opens or runs_code(name):
        return True
    if name in COVERING and covers(command, roots):
        return True
    line, own = command.line, roots.own
    if may_lead(line, command.cwd) or _HINT.search(line) is not None or name in EARLY:
        return True
    return bool(own) and own.may_lead(line, command.cwd)


def _all(command: Command) -> str:
    """All words of a command, and what is set for it."""
    return f"{command.line} {command.settings}" if command.settings else command.line


def _in_text(text: str, roots: Roots) -> Reach:
    """How surely a text that a program is given does it, as a script or as code."""
    if roots.depth >= DEEPEST:
        return "doubt"
    reach = reach_of(text, roots.own)
    return (
        reach
        if reach == "danger"
        else script_reach(text, roots._replace(depth=roots.depth + 1)) or reach
    )


def _reach_of(rule: Rule) -> Reach:
    """How surely what breaks a rule reaches for us: not at all surely where it cannot be told what
    is lost."""
    return "doubt" if rule.loss == "unknown" else "danger"


def script_reach(script: str, roots: Roots) -> Reach:
    """How surely a shell text does what only a person may do, by the rules for commands and by what
    it writes."""
    if len(script) < 5:
        return ""
    found = analysed(script)
    worst: Reach = ""
    for command in found.commands:
        for rule in candidates(command, roots):
            if _reach_of(rule) == "danger" and rule.holds(command, roots):
                return "danger"
            if not worst and _reach_of(rule) == "doubt" and rule.holds(command, roots):
                worst = "doubt"
    for path, text in found.wrote if roots.depth < DEEPEST else ():
        reach = written(path, str(text), roots.own, roots.depth + 1)
        if reach == "danger":
            return reach
        worst = reach if reach else worst
    return worst


@lru_cache(512)
def written(path: str, text: str, own: OwnPlaces = NOWHERE, depth: int = 0) -> Reach:
    """How surely a file does what only a person may do, once it runs."""
    if len(text) < 5:
        return ""
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    shebang = begins_with(text)
    if name.endswith(READ_BY_PEOPLE) and shebang is None:
        return ""
    worst = written_reach(text[:LONGEST], own)
    if worst != "danger" and name.endswith((".yml", ".yaml")):
        worst = told_in(filled(text[:LONGEST])) or worst
    for script in scripts(name, text[:LONGEST], shebang) if worst != "danger" else ():
        reach = script_reach(script, Roots((), True, own, depth))
        if reach == "danger":
            return reach
        worst = reach if reach else worst
    return worst


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


def _talks_others_into(command: Command) -> bool:
    """Whether a program that takes words as words is told to start something."""
    if command.name == "git":
        return "-c" in command.argv or "config" in command.operands[:1]
    return command.name == "sed" and any(
        _EXECUTES.search(word) is not None for word in command.argv[1:]
    )


def _another_name(command: Command) -> bool:
    """Whether our program gets another name, by which nobody would know it."""
    if command.name == "alias":
        return any(
            _is_program(word.partition("=")[2].split(" ")[0])
            for word in command.argv[1:]
            if "=" in word
        )
    if command.name == "hash":
        return "-p" in command.argv and any(map(_is_program, command.argv[1:]))
    if command.name not in MOVES or len(command.operands) < 2:
        return False
    named = [
        word
        for word in command.operands[:-1]
        if word.lower().endswith(("bin/stanchion", "scripts/stanchion.exe"))
    ]
    return bool(named) or any(
        MARK in word for word in command.operands[:-1] if FINDS & set(origin_of(word))
    )


def _is_program(word: str) -> bool:
    return is_ours(word) or MARK in word


def _sets(command: Command) -> bool:
    """Whether a variable of ours is set or unset, by whatever sets variables."""
    for_one = command.name == "env"
    settings = [
        f"{name}={value}" for name, value in command.settings if name.startswith("STANCHION_")
    ]
    if any(not (command.argv and _counts_alone(each)) for each in settings):
        return True
    if command.name not in SETS:
        return False
    words = [word for word in command.argv[1:] if _VARIABLE.match(word) is not None]
    words = [word for word in words if not (for_one and _counts_alone(word))]
    return bool(words) and not (command.name == "printf" and "-v" not in command.argv)


def _counts_alone(setting: str) -> bool:
    """Whether a program is told to keep what it counts in its own memory, as tests do: it changes
    nobody's state."""
    return setting == "STANCHION_STORE=memory:"


def _asks(command: Command) -> bool:
    """Whether a command uses where our variables lead, rather than showing it."""
    return command.name not in TALKS and any(
        _OURS.search(word) is not None for word in command.argv[1:]
    )


CHANGES: Final = Rule("@", "changes a file of Stanchion", check=changes)
COVERS: Final = Rule(
    "@", "takes or fills a folder in which Stanchion keeps its files", check=covers, loss="unknown"
)
LINKS: Final = Rule("@", "links to where Stanchion keeps its files", check=links, loss="unknown")
TAKES_DANGER: Final = Rule(
    "@", "does what only a person may do", check=lambda c, r: _takes(c, r) == "danger"
)
TAKES_DOUBT: Final = Rule(
    "@",
    "may do what only a person may do",
    check=lambda c, r: _takes(c, r) == "doubt",
    loss="unknown",
)
RULES: Final = (
    TAKES_DANGER,
    Rule("@", "sets or unsets a variable of Stanchion", check=lambda c, _: _sets(c)),
    Rule("@", "reaches for what Stanchion keeps for itself", check=opens),
    CHANGES,
    TAKES_DOUBT,
    Rule(
        "@",
        "gives Stanchion's program another name",
        check=lambda c, _: _another_name(c),
        loss="unknown",
    ),
    Rule("@", "stops what Stanchion runs in", check=stops),
    Rule("@", "removes Stanchion", check=removes),
    Rule("@", "looks into what Stanchion runs in", check=attaches, loss="unknown"),
    Rule("@", "writes what Python runs before any program", check=begins, loss="unknown"),
    COVERS,
    LINKS,
    Rule("@", "uses where Stanchion keeps its files", check=lambda c, _: _asks(c), loss="unknown"),
)
SILENT: Final = _by_name(
    (CHANGES, DELETES), (COVERS, COVERING | {"mv"}), (LINKS, frozenset({"ln"}))
)
"""The rules that a command may break without a sign of us in it, by the name of its program."""
WRITES_DANGER: Final = Rule("@", "writes what does what only a person may do")
WRITES_DOUBT: Final = Rule("@", "writes what may do what only a person may do", loss="unknown")

HITS: Final = (
    "stanchion tickets approve 01H --by ann",
    "/srv/app/.venv/bin/stanchion resume",
    "python -m stanchion safe-mode off",
    "python3.13 -Imstanchion resume",
    "uvx stanchion@latest operators add ann",
    "uv run stanchion policy trust policy.yaml",
    "pipx run stanchion-guard store accepted --why 'it is fine'",
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
    "GIT_PAGER='stanchion resume' git log",
    "sed '1e stanchion resume' notes",
    "rm -rf .venv/lib/python3.11/site-packages/stanchion",
    "env --unset=STANCHION_STATE_DIR make",
    "$(which stanchion) tickets approve 01H",
    '"$(command -v stanchion)" resume',
    "X=$(which stanchion); $X resume",
    "python $(which stanchion) resume",
    'script -qc "$(which stanchion) resume" /dev/null',
    "which stanchion | head -1 | xargs -I@ @ resume",
    "find / -name 'stanch*' -type f -exec {} resume \\;",
    "find / -path '*bin/stanchion' -exec sh -c '{} resume' \\;",
    "M=$(basename /x/stanchion); python -m $M resume",
    "hash -p /opt/app/bin/stanchion foo; foo resume",
    "ls .venv/bin/stanchion | while read x; do $x resume; done",
    "python -c \"import os; os.execvp(''.join(map(chr, [115, 116])), ['x', 'resume'])\"",
    'python -c "__import__(name()).Shield.load().resume()"',
    "tar xf x.tar -C ~/.local/state",
    "rsync -a x/ ~/.local/state/",
    "cd ~/.local/state && unzip x.zip",
    "tar cf x.tar -C ~/.local state",
    "grep -r token ~/.local/state",
    "kill -9 $PPID",
    "kill $(pgrep -f stanchion)",
    "gdb -p $PPID",
    "cat /proc/$PPID/environ",
    "python -m pip uninstall -y stanchion-guard",
    "uv pip uninstall stanchion",
    "echo 'import os' > .venv/lib/python3.11/site-packages/sitecustomize.py",
    "cp x ~/.local/lib/python3.11/site-packages/a.pth",
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
    "docker run stanchion",
    "sed -i 's/stanchion resume/stanchion halt/' docs/x.md",
    "cat .venv/lib/python3.11/site-packages/stanchion/__init__.py",
    "$(which stanchion) check bash",
    "X=$(command -v stanchion); $X tickets list",
    "stanchion policy loosens old.yaml new.yaml",
    "stanchion tickets request 01H",
    "STANCHION_STORE=memory: pytest",
    "ln -s $(which python3) python",
    "grep -rl stanchion src | xargs sed -i s/a/b/",
    "find . -name 'stanch*' -exec grep -n resume {} +",
    (
        "python -c \"import subprocess, sys; subprocess.run([sys.executable, 'train.py', "
        "'--resume'])\""
    ),
    "python -c \"import asyncio; asyncio.run(play('resume'))\"",
    "tar xf x.tar -C ~/src",
    "tar xf nvim.tar.gz -C ~/.local --strip-components 1",
    "cp -r dist ~/site",
    "kill $(pgrep -f uvicorn)",
    "kill -0 $PPID",
    "systemctl status stanchion",
    "strace -p 1234",
    "python -m pip uninstall -y requests",
    "echo pip uninstall stanchion",
    "cat .venv/lib/python3.11/site-packages/a.pth",
    "cp weights.pth models/best.pth",
)
