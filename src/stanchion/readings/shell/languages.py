"""Languages: programs that run code of another language, and what that code does."""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import msgspec

from stanchion.kernel.regex import regex
from stanchion.readings.programs import program_effects
from stanchion.readings.programs.powershell import encoded
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.options import LANGUAGES, codes_in
from stanchion.readings.shell.partly_known import Open
from stanchion.readings.shell.unfold import EMBEDDED, unfolds
from stanchion.readings.shell.windows import keep_powershell
from stanchion.readings.shell.wrappers import started_by
from stanchion.readings.word_lists import in_order

if TYPE_CHECKING:
    from stanchion.readings.programs.effects import Effects
    from stanchion.readings.shell.kept import Call
    from stanchion.readings.shell.script import Walker

MANY: Final = 64
"""How many commands of one piece of code are followed."""
DEEPEST: Final = 3
"""How deep code is followed that code makes and runs."""


SOCKET: Final = in_order("socket TCPSocket Socket fsockopen net. TCPClient /inet/tcp /dev/tcp")
CONNECTS: Final = in_order("connect TCPSocket fsockopen TCPClient /inet/tcp /dev/tcp INET")
SPELLED: Final = regex(
    r"(?s)(?:sprintf\(\s*\"%c\"|fromCharCode).*\b(?:system|exec\w*|spawn\w*)\(\s*[A-Za-z_$]\w*\s*[,"
    r")]"
)
"""A text that is spelled by the numbers of its letters and then runs."""
ATTACHED: Final = (
    "dup2", "pty.spawn", "/bin/sh", "/bin/bash", "cmd.exe", "exec(", "popen", "system", "iex ",
    "IEX", '"sh"', "'sh'", "spawn(", "subprocess", "getline",
)  # fmt: skip


XOR: Final = regex(r"\s*print\s*'((?:[^'\\]|\\.)*)'\s*\^\s*'((?:[^'\\]|\\.)*)'\s*;?\s*", re.DOTALL)


_PERL: Final = regex(r"\\(['\\])")


def marks_of(code: str) -> set[str]:
    """What a piece of code is that its calls alone do not say."""
    marks: set[str] = set()
    if _any(SOCKET, code) and _any(CONNECTS, code) and _any(ATTACHED, code):
        marks.add("reverse")
    if ("%c" in code or "fromCharCode" in code) and SPELLED.search(code) is not None:
        marks.add("hidden")
    lowered = code[:512].lower()
    if "downloadstring" in lowered or ("invoke-webrequest" in lowered and "iex" in lowered):
        marks.add("fetched")
    return marks


def _any(words: tuple[str, ...], code: str) -> bool:
    return any(word in code for word in words)


def printed_by(code: str) -> str | None:
    """What a line of Perl prints that only combines two texts; None where that is not known."""
    match = XOR.fullmatch(code)
    if match is None:
        return None
    first, second = (_PERL.sub(r"\1", text).encode("latin-1", "replace") for text in match.groups())
    return bytes([one ^ other for one, other in zip(first, second, strict=False)]).decode("latin-1")


@unfolds(" ".join(LANGUAGES))
def _language(walker: Walker, call: Call) -> str | None:
    name = call.argv[0].rpartition("/")[2].lower().removesuffix(".exe")
    language = LANGUAGES[name]
    codes = codes_in(call.argv, call.given, language, walker.files)
    if name in ("powershell", "pwsh"):
        return _powershell(walker, call, codes)
    marks: set[str] = set()
    texts: list[str] = []
    argvs: list[tuple[str, ...]] = []
    for code in codes:
        walker.meter.step(1 + len(code) // 16)
        marks |= marks_of(code)
        for effects in _effects(walker, name, code):
            marks |= effects.marks
            texts += effects.texts
            argvs += effects.argvs
            argvs += [
                ("rm", "-rf", path) if whole else ("rm", path) for path, whole in effects.deletes
            ]
            _keep(walker, name, effects, call.given if code is not call.given else None)
    if len(codes) == 1 and isinstance(codes[0], Open) and codes[0] is not call.given:
        walker.emit(msgspec.structs.replace(call, given=codes[0]), frozenset({*marks, "script"}))
    else:
        walker.emit(call, frozenset(marks))
    if len(codes) == 1 and (printed := printed_by(codes[0])) is not None:
        return printed
    if not codes:
        _keep_script(walker, name, call)
    via = " ".join([name, *language.options[:1]])
    before, walker.embedded = walker.embedded, EMBEDDED
    for text in dict.fromkeys(texts[:MANY]):
        walker.under(via, partial(walker.text, text))
    for argv in dict.fromkeys(argvs[:MANY]):
        walker.start(via, call, argv, given=None, opens=(), settings=())
    walker.embedded = before
    return walker.unknown(call)


def _keep_script(walker: Walker, name: str, call: Call) -> None:
    """Keep a script or module that a language runs, with its words: `manage.py flush`."""
    started = started_by(name, call.argv[1:])
    inner = LANGUAGES.get(started[0].rpartition("/")[2]) if started else None
    if inner is not None and codes_in(started, call.given, inner, walker.files):
        follow = msgspec.structs.replace(call, argv=started)
        walker.under(name, partial(walker.run, follow))
    elif len(started) > 1:
        kept = Command(started, (*walker.via, name), given=call.given, settings=call.settings)
        walker.passed.append(kept)


def _powershell(walker: Walker, call: Call, codes: list[str]) -> str:
    """Follow PowerShell: what it runs is what its commands say, wherever they stand in it."""
    args = call.argv[1:]
    hidden = [
        encoded(value) for flag, value in pairwise(args) if flag.lower().startswith(("-e", "/e"))
    ]
    rest = " ".join([word for word in args if word[:1] not in "-/"]) if not codes else ""
    walker.emit(call)
    for text in [*codes, *[text for text in hidden if text], *([rest] if rest else [])]:
        walker.meter.step(1 + len(text) // 8)
        keep_powershell(walker, text, "powershell", surely=True)
    return walker.unknown(call)


def _effects(walker: Walker, name: str, code: str) -> list[Effects]:
    """What code does, and code that it makes and runs."""
    found: list[Effects] = []
    waiting = [code]
    while waiting and len(found) < DEEPEST:
        one = waiting.pop()
        walker.meter.step(1 + len(one) // 8)
        effects = program_effects(name, one)
        found.append(effects)
        waiting += [each for each in effects.code if each != one]
    return found


def _keep(walker: Walker, name: str, effects: Effects, given: str | None) -> None:
    """Keep what code does with files and hosts as the commands that do the same."""
    kept = [Command(("cat", path), (*walker.via, name)) for path in effects.reads[:MANY]]
    kept += [
        Command((), (*walker.via, name), opens=((">", path),)) for path in effects.writes[:MANY]
    ]
    for sending in effects.sends[:MANY]:
        files = [word for path in sending.files for word in ("-d", f"@{path}")]
        sent = Open("$(env…)", ("env",)) if sending.variables else given
        if files or sent is not None:
            kept.append(Command(("curl", *files, sending.host), (*walker.via, name), given=sent))
    walker.passed += kept
