"""What a call is about: the kind of action, its command and its files, told from the tool's name
and arguments."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

from stanchion.policy.conditions.paths import normal
from stanchion.readings.act import ToolAct, act_of
from stanchion.readings.act_words import COMMANDS, LOOSE, PATHS, RESULTS, SOURCES, URLS
from stanchion.readings.names import plain

CONTENTS: Final = frozenset(
    {"content", "contents", "newstring", "newtext", "newcontent", "patch", "edits"}
)
"""Arguments of a call that writes, where its name does not say so."""


class Call(NamedTuple):
    """What a tool call is about."""

    type: str
    command: str | None
    targets: list[str]


_PATH, _LOOSE, _COMMAND, _URL, _CONTENT = 1, 2, 3, 4, 5
_ROLES: Final = {
    **dict.fromkeys(CONTENTS, _CONTENT),
    **dict.fromkeys(URLS, _URL),
    **dict.fromkeys(COMMANDS, _COMMAND),
    **dict.fromkeys(LOOSE, _LOOSE),
    **dict.fromkeys(PATHS | SOURCES | RESULTS, _PATH),
}


@lru_cache(4096)
def _role(key: str) -> int:
    """What the argument of that name is; 0 where the name says nothing."""
    return _ROLES.get(plain(key), 0)


def call_of(tool: str, args: Any) -> Call:
    """What a call is about: its kind, its command line, and the files and folders it names, in
    order, each once."""
    act = act_of(tool)
    if type(args) is not dict:
        args = {}
    named = act.of_files or act.verb != ""
    found: list[str] = []
    roles: list[int] = []
    command: str | None = None
    for key, value in args.items():
        role = _role(key) if type(key) is str else 0
        if role:
            roles.append(role)
            if role == _COMMAND and command is None:
                command = _line(value)
            elif role == _PATH or (role == _LOOSE and named):
                _collect(value, found)
        if type(value) is dict:
            _one_deeper(value, named, found)
        elif type(value) is list:
            for each in value:
                if type(each) is dict:
                    _one_deeper(each, named, found)
    targets = [_path(text) for text in found]
    if len(targets) > 1:
        targets = list(dict.fromkeys(targets))
    return Call(_type(act, roles, bool(targets), command is not None), command, targets)


def _one_deeper(args: dict[Any, Any], named: bool, found: list[str]) -> None:
    for key, value in args.items():
        role = _role(key) if type(key) is str else 0
        if role == _PATH or (role == _LOOSE and named):
            _collect(value, found)


def _collect(value: Any, found: list[str]) -> None:
    """A path, or the paths of a list."""
    if type(value) is str:
        if value:
            found.append(value)
    elif type(value) is list:
        found += [each for each in value if type(each) is str and each]


def _line(value: Any) -> str | None:
    """A command line; a list of words is joined by spaces."""
    if type(value) is str:
        return value
    if type(value) is list and value and all(type(word) is str for word in value):
        return " ".join(value)
    return None


def _path(text: str) -> str:
    if "://" in text and text[:7].lower() == "file://":
        from urllib.parse import unquote

        text = unquote(text[7:])
    return normal(text)


def _type(act: ToolAct, roles: list[int], targets: bool, command: bool) -> str:
    if act.runs or command:
        return "command"
    if act.verb and (targets or act.of_files) and not act.web:
        return f"file_{act.verb}"
    if act.web or _URL in roles:
        return "http"
    return "file_write" if targets and _CONTENT in roles else "tool"
