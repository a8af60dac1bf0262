"""Harm: what a text would do once it is in a file of that name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from stanchion.guards.files.written.instructions import commands, conceals, is_for_agents
from stanchion.guards.files.written.origins import feigns, fetches, moves
from stanchion.guards.files.written.planted import runs_planted
from stanchion.guards.files.written.workflows import harm_in_workflow, is_workflow
from stanchion.kernel.regex import regex
from stanchion.readings.paths.included import included
from stanchion.readings.paths.swaps import Swap

HarmReader = Callable[[str, str, Callable[[str], bool]], str]
"""Says what a text, written into a file of that name, would do once it runs: a word of `HARMS`, or
nothing. It is handed what says of a shell text that it reads something protected."""
HARMS: Final = {
    "leak": "send out what nobody asked it to",
    "fetched": "run what it fetches, without being asked to",
    "takes": "read what is protected",
    "frees": "let an agent go on without a person",
    "strangers": "run what strangers send, with the project's rights",
    "planted": "run what lies where anybody may write",
    "moved": "fetch what it runs from somewhere else",
    "conceals": "have agents do something and keep it from people",
}
LONGEST: Final = 65_536
_ALL_SENT: Final = regex(
    r"\b(?:urlopen|requests\.\w+|httpx\.\w+|urllib3|sendall|fetch|axios\S*|https?\.(?:get|request)|"
    r"Net::HTTP\S*)\([^\n]{0,200}"
    r"(?:\bos\.environ\b(?!\s*[\[.])|os\.environ\.(?:items|copy)\(|JSON\.stringify\(process\.env\)|"
    r"ENV\.to_)"
)
"""Code that sends all variables somewhere."""
SHOWN: Final = (
    ".md",
    ".markdown",
    ".html",
    ".htm",
    ".py",
    ".js",
    ".ts",
    ".go",
    ".rs",
    ".java",
    ".rb",
    ".php",
    ".cs",
)
"""How the names of files end in which a function that reads a file is shown, or is the project's
own code."""


def harm_by_words(
    path: str, text: str, holds: Callable[[str], bool], shell: Callable[[str, str], str]
) -> str:
    """What a text would do by what it says, or nothing; `holds` says of a path that it leads to
    something protected, `shell` what a script of that name would do."""
    name, text = path.replace("\\", "/").lower(), text[:LONGEST]
    if is_workflow(name):
        said = harm_in_workflow(text)
        if said:
            return said
    if is_for_agents(name):
        if conceals(text):
            return "conceals"
        told = commands(text)
        said = shell("told.sh", told) if told else ""
        if said:
            return said
    if ("environ" in text or "process.env" in text or "ENV." in text) and _ALL_SENT.search(text):
        return "leak"
    if runs_planted(name, text):
        return "planted"
    if fetches(name) and feigns(name, text):
        return "moved"
    return "takes" if any(holds(one) for one in included(text, not name.endswith(SHOWN))) else ""


def harm_by_swaps(path: str, swaps: Sequence[Swap]) -> str:
    """What an edit would do by what it puts in the place of what: `moved`, or nothing."""
    name = path.replace("\\", "/").lower()
    if not swaps or not fetches(name):
        return ""
    return (
        "moved"
        if any(
            moves(swap) or (feigns(name, swap.new) and not feigns(name, swap.old)) for swap in swaps
        )
        else ""
    )
