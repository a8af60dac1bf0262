"""Windows: texts for PowerShell and cmd.exe, which a shell of another kind would misread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from stanchion.kernel.regex import regex
from stanchion.readings.programs.powershell import (
    PowerShellCommand,
    looks_like_powershell,
    powershell,
)
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.known import WORDS
from stanchion.readings.shell.partly_known import OpenText
from stanchion.readings.word_lists import Strings, listed

if TYPE_CHECKING:
    from stanchion.readings.shell.kept import Keeping

PACKS: Final = listed("compress-archive copy-item copy move-item")
SENDS: Final = listed("invoke-restmethod invoke-webrequest irm iwr")
SENT: Final = listed("-infile -body -form put post")
INTO: Final = listed("-outfile -o")
"""What says that something is sent."""
STARTS: Final = WORDS["cmdlets that start a program"]
MARK: Final = frozenset({"cmdlet"})
"""The mark of commands that were read as PowerShell."""

_DELETES: Final = regex(r"\[(?:system\.)?io\.directory\]::delete\s*\([^)]*true")
_PATHS: Final = regex(r"(?:^|[\s\"'=(])(?:[A-Za-z]:\\|\\\\\w)|%[A-Za-z]+%|HK(?:LM|CU)[:\\]")


def is_windows(text: str) -> bool:
    """Whether a text has paths, variables or keys as only Windows writes them."""
    return ("\\" in text or "%" in text or "HK" in text) and _PATHS.search(text) is not None


def keep_powershell(keeping: Keeping, text: str, via: str, surely: bool = False) -> None:
    """Keep the commands of a text as PowerShell reads it, where it looks like that."""
    if not surely and not looks_like_powershell(text):
        return
    where = (*keeping.via, *filter(None, [via]))
    steps = powershell(text)
    inner = [word for word in _words(steps, STARTS) if " " in word]
    steps += tuple(chain.from_iterable(map(powershell, inner[:8])))
    made = [_command(step, where) for step in steps]
    read = [each for one in made for each in one.origin if each.startswith("<")]
    read += [f"<{slashed(word)}" for word in _words(steps, PACKS, 3)]
    carries = tuple(dict.fromkeys(read))
    fetched = {
        after for step in steps for flag, after in pairwise(step.argv) if flag.lower() in INTO
    }
    for command in made:
        runs = command.argv[command.name in STARTS :][:1]
        if command.name in SENDS and SENT.intersection(map(str.lower, command.argv)):
            command = replace(command, carries=carries)
        elif fetched.intersection(runs):
            command = replace(command, marks=MARK | {"fetched"})
        keeping.passed.append(command)
    keeping.passed += _calls(text.lower(), where)


def _words(
    steps: Iterable[PowerShellCommand], programs: frozenset[str], most: int | None = None
) -> list[str]:
    """The words that steps of these programs are given."""
    named = [step for step in steps if step.argv[0].lower() in programs]
    return [word for step in named for word in step.argv[1:most]]


def _calls(low: str, where: Strings) -> Iterator[Command]:
    """What a text does by methods, and by forms that no command has."""
    if _DELETES.search(low) is not None:
        home = any(map(low.__contains__, ("getfolderpath", "$home", "userprofile")))
        target = "~" if home else OpenText("$(…)", ("powershell",))
        yield Command(("remove-item", "-Recurse", target), where, marks=MARK)
    if "%0|%0" in low.replace(" ", ""):
        yield Command(("cmd",), where, marks=MARK | {"forks"})
    if "tcpclient" in low and any(
        map(low.__contains__, ("iex", "invoke-expression", "process", "cmd"))
    ):
        yield Command(("powershell",), where, marks=MARK | {"reverse"})


def slashed(text: str) -> str:
    """A text of cmd.exe with the slashes that a shell leaves in words."""
    return text.replace("\\", "/")


def _command(step: PowerShellCommand, via: Strings) -> Command:
    """One step as a command: what it is given is open, and tells where it comes from."""
    origin = tuple(dict.fromkeys([_plain(name) for name in (*step.before, *step.inside)]))
    words = [
        OpenText(word, origin) if word.startswith("$(") else word.replace("\\", "/")
        for word in step.argv
    ]
    given = OpenText("$(…)", tuple([_plain(name) for name in step.before])) if step.before else None
    read = tuple([name for name in origin if name.startswith("<")])
    return Command(tuple(words), via, given=given, marks=MARK, carries=read)


def _plain(name: str) -> str:
    """The name of a program, or a file, as rules compare it."""
    low = name.lower()
    if low in ("downloadstring", "downloaddata", "irm", "iwr", "curl", "wget"):
        return "invoke-webrequest"
    return "base64" if low == "frombase64string" else name.replace("\\", "/")
