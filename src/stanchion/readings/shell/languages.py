"""Languages: programs that run code of another language, and what that code does."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import msgspec

from stanchion.readings.programs import program_effects
from stanchion.readings.programs.powershell import encoded
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.inline import LANGUAGES, codes_in, marks_of, printed_by
from stanchion.readings.shell.partly_known import Open
from stanchion.readings.shell.windows import keep_powershell
from stanchion.readings.shell.wrappers import EMBEDDED, started_by, unfolds

if TYPE_CHECKING:
    from stanchion.readings.programs.effects import Effects
    from stanchion.readings.shell.kept import Call
    from stanchion.readings.shell.script import Walker

MANY: Final = 64
"""How many commands of one piece of code are followed."""
DEEPEST: Final = 3
"""How deep code is followed that code makes and runs."""


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
