"""Codex: its events, its tools and its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET

from stanchion.hosts.coding.agent import (
    EVENTS,
    CodingAgent,
    Heard,
    HookVerdict,
    HostAnswer,
    in_json,
    refused,
)
from stanchion.kernel.regex import regex
from stanchion.readings.shell.analysis import analysed
from stanchion.readings.word_lists import listed

UNKNOWN: Final = frozenset({"PostToolUseFailure", "ConfigChange"})
"""Events that this host has not."""
STOPPED: Final = frozenset({"call", "asks", "prompt", "result"})
"""What is stopped by a refusal whatever else it says; another event ends with the session."""


def answer(heard: Heard, verdict: HookVerdict) -> HostAnswer:
    """The answer to an event. It is refused on standard output, by the status and on standard
    error: whichever of them the host hears. A result that it cannot change it hears as words of
    refusal in its place."""
    words, changed = verdict.told, verdict.changed
    if verdict.outcome == "go":
        if changed is UNSET or heard.says != "result":
            allows = {"permissionDecision": "allow", "updatedInput": changed}
            own: dict[str, Any] = {} if changed is UNSET else allows
            return HostAnswer(in_json(heard, {}, own, verdict.notices))
        words = changed if isinstance(changed, str) else msgspec.json.encode(changed).decode()
    words = words if words.strip() else "refused"
    said, own = refused(heard, words)
    if heard.says in STOPPED or ("decision" in said and verdict.outcome != "end"):
        return HostAnswer(in_json(heard, said, own), words, 2)
    if verdict.outcome == "end":
        said = {"continue": False, "stopReason": words}
    return HostAnswer(in_json(heard, said, own))


_PATCH: Final = regex(r"\s*(?:cd [\w./-]+ && )?apply_patch <<-?(['\"]?)(\w+)\1\n")


def is_patch(heard: Heard) -> bool:
    """Whether a command is nothing but a patch: this host applies it itself."""
    command = heard.given.get("command")
    found = _PATCH.match(command) if isinstance(command, str) else None
    if found is None:
        return False
    lines = found.string[found.end() :].rstrip().split("\n")
    return lines[-1] == found[2] and lines.count(found[2]) == 1


FED: Final[Mapping[str, int]] = {
    **dict.fromkeys(listed("sh bash zsh dash ksh fish pwsh"), 0),
    **dict.fromkeys(listed("python python3 ipython node deno bun ruby irb perl php lua R ghci"), 0),
    **dict.fromkeys(listed("psql mysql mariadb sqlite3 redis-cli mongosh ssh telnet gdb"), 1),
    **dict.fromkeys(listed("screen tmux"), 0),
}
"""Programs that carry out what is typed into them, and how many words they can be given without
being given work."""
GIVES: Final = listed("-c -e -m -p -f -r -E -V -v -h --version --help --eval --command --file")
"""Options by which they are given work, or end at once."""
TERMINALS: Final = listed("/dev/tty /dev/stdin /dev/fd/0 /proc/self/fd/0")
TAKES: Final = listed("-i attach")
"""Words by which they take what is typed whatever else they are given."""


def is_fed(heard: Heard) -> str:
    """The program that a command starts and gives nothing to do: the agent types it in later, and
    this host tells nobody. Empty where there is none."""
    command = heard.given.get("command")
    for one in analysed(command).commands if isinstance(command, str) else ():
        most = FED.get(one.name)
        is_typed = one.given is None or any(path in TERMINALS for _, path in one.opens)
        if most is None or not is_typed:
            continue
        words = one.argv[1:]
        given = [word for word in words if word[:1] != "-"]
        if TAKES.intersection(words) or (len(given) <= most and not GIVES.intersection(words)):
            return one.name
    return ""


CODEX: Final = CodingAgent(
    "codex",
    {name: says for name, says in EVENTS.items() if name not in UNKNOWN},
    answer,
    renamed={"apply_patch": {"command": "patch", "input": "patch"}},
    shells=frozenset({"Bash"}),
    runs_itself=is_patch,
    fed=is_fed,
    programs=("codex",),
    marks=("CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID"),
)
