"""Planted programs: settings by which a tool runs what lies where anybody may write."""

from __future__ import annotations

import re
from typing import Final

from stanchion.kernel.regex import regex

_SETTINGS: Final = regex(
    r"(?:\A|/)(?:\.(?!env\b|git(?:lab|hub)|circleci|travis|devcontainer|dockerignore)[\w.-]+|"
    r"pyproject\.toml|gradle\.properties|setup\.cfg|tox\.ini"
    r"|pytest\.ini|package\.json|bunfig\.toml|lefthook\.ya?ml|nx\.json|settings\.gradle|"
    r"nuget\.config|local\.properties)\Z"
    r"|(?:\A|/)\.(?:vscode|idea|cargo|yarn|mvn|gradle|zed|config|husky|vim|nvim)/.*\Z"
)
_OPEN: Final = (
    r"(?:/tmp|/var/tmp|/dev/shm|/private/tmp|/users/shared|%te?mp%|\$\{?tmpdir\}?|[a-z]:[\\/"
    r"]+users[\\/]+public|[a-z]:[\\/]+windows[\\/]+temp"
    r"|[a-z]:[\\/]+temp)[\\/]+[^\s\"',;\])}]+"
)
_LINE: Final = regex(
    rf"(?im)(?:^|[{{,\s])[-+]?\s*[\"']?([\w.:/@-]+)[\"']?\s*[:=]\s*[^\n,]*?({_OPEN})"
    rf"|name=[\"'](\w+)[\"']\s+value=[\"']({_OPEN})"
)
_RUNS: Final = regex(
    r"exec|command|cmd|hook|preload|require|wrapper|helper|shell|interpreter|linker|runner|loader|"
    r"program|binary|editor|pager|fsmonitor"
    r"|compiler|agent|script|plugin|options|rustc|init"
)
_RUNNABLE: Final = (
    ".sh", ".js", ".cjs", ".mjs", ".py", ".so", ".exe", ".dll", ".jar", ".dylib", ".ps1", ".bat",
    ".cmd", ".rb", ".pl", ".lua", ".vsix",
)  # fmt: skip


def runs_planted(path: str, text: str) -> bool:
    """Whether settings name a program in a folder where anybody may put one; the path is in small
    letters."""
    if _SETTINGS.search(path) is None:
        return False
    for found in _LINE.finditer(text):
        key, place = (found[1] or found[3]).lower(), (found[2] or found[4]).lower()
        last = re.split(r"[\\/]", place)[-1]
        if last.endswith(_RUNNABLE) or ("." not in last.lstrip(".") and _RUNS.search(key)):
            return True
    return False
