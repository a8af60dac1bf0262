"""Shells and programs that run code: what the text that they are given does."""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from stanchion.kernel.regex import regex
from stanchion.readings.programs import program_effects
from stanchion.readings.programs.powershell import encoded
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.known import WORDS
from stanchion.readings.shell.options import LANGUAGES, VALUED, clustered, codes_in
from stanchion.readings.shell.outputs import printf
from stanchion.readings.shell.partly_known import OpenText, joined, origin_of
from stanchion.readings.shell.patterns import fits, pieces
from stanchion.readings.shell.unfold import EMBEDDED, unfolds
from stanchion.readings.shell.windows import keep_powershell
from stanchion.readings.shell.wrappers import Prefix, inner_of, started_by
from stanchion.readings.word_lists import Strings, in_order

if TYPE_CHECKING:
    from stanchion.readings.programs.effects import Effects
    from stanchion.readings.shell.kept import PendingCommand
    from stanchion.readings.shell.script import Walker


SHELLS: Final = "sh bash dash zsh ksh ash fish rbash mksh csh tcsh"


@unfolds(SHELLS)
def _shell(walker: Walker, call: PendingCommand) -> str:
    name = call.argv[0].rpartition("/")[2].lower()
    args = tuple([_wrote(walker, word) for word in call.argv[1:]])
    files = [walker.files[word] for word in args if word in walker.files]
    if files:
        walker.emit(replace(call, given=files[0]), frozenset({"script"}))
    else:
        walker.emit(call)
    words = list(args)
    while words and words[0][:1] in "-+" and len(words[0]) > 1:
        word = words.pop(0)
        if word == "--":
            break
        if "c" in word[1:] and not word.startswith("--"):
            return _text(walker, call, f"{name} -c", next(iter(words), ""), tuple(words[1:]))
        match word, words:
            case ("--rcfile" | "--init-file", [path, *_]) if path in walker.files:
                _text(walker, call, f"{name} {word}", walker.files[path], ())
        del words[: word in ("-o", "+o", "-O", "+O", "--rcfile", "--init-file")]
    if words and words[0] not in ("-", "/dev/stdin"):
        script = walker.files.get(words[0])
        if script is None:
            return walker.unknown(call)
        via = f"{name} {words[0]}" if "/fd/" not in words[0] else name
        return _text(walker, call, via, script, tuple(words))
    if call.given is None:
        return walker.unknown(call)
    return _text(walker, call, name, call.given, ())


def _wrote(walker: Walker, word: str) -> str:
    """The file that the text wrote and that a pattern fits, or the word itself."""
    if not walker.files or not any(char in word for char in "*?[") or " " in word:
        return word
    pattern = pieces(word.removeprefix("./"))
    return next((path for path in walker.files if fits(pattern, path, walker.meter)), word)


def _text(walker: Walker, call: PendingCommand, via: str, text: str, given: tuple[str, ...]) -> str:
    """Follow a text in a shell of its own; one that is not known at all is left to the rules."""
    if isinstance(text, OpenText) and text.origin and (not text or text.startswith("$(")):
        return walker.unknown(call)
    env, cwd = walker.words.env, walker.cwd
    walker.words.env = {
        **env,
        **dict(call.settings),
        "@": list(given[1:]),
        "0": given[0] if given else "bash",
    }
    printed = walker.under(via, lambda: walker.text(text))
    walker.words.env, walker.cwd = env, cwd
    return printed


@unfolds("eval")
def _eval(walker: Walker, call: PendingCommand) -> str:
    words = call.argv[1:]
    walker.emit(call)
    text = joined([each for word in words for each in (word, " ")]) if words else ""
    if isinstance(text, OpenText) and text.origin and text.startswith("$("):
        return walker.unknown(call)
    return walker.under("eval", lambda: walker.text(text, call.given))


@unfolds("source .")
def _source(walker: Walker, call: PendingCommand) -> str:
    path = _wrote(walker, call.argv[1]) if len(call.argv) > 1 else ""
    held = walker.files.get(path)
    marks = frozenset({"script"}) if held is not None else frozenset()
    walker.emit(replace(call, given=held if held is not None else call.given), marks)
    script = held if path != "/dev/stdin" else call.given
    if script is None or (isinstance(script, OpenText) and script.startswith("$(")):
        return ""
    return walker.under("source", lambda: walker.text(script))


@unfolds("trap")
def _trap(walker: Walker, call: PendingCommand) -> str:
    walker.emit(call)
    words = [word for word in call.argv[1:] if word not in ("-p", "-l", "--")]
    if len(words) > 1 and words[0] not in ("", "-"):
        walker.under("trap", lambda: walker.text(words[0]))
    return ""


@unfolds("alias")
def _alias(walker: Walker, call: PendingCommand) -> str:
    walker.emit(call)
    for word in call.argv[1:]:
        name, equals, text = word.partition("=")
        if equals and name:
            walker.under(f"alias {name}", partial(walker.text, text))
    return ""


@unfolds("export declare typeset local readonly")
def _declare(walker: Walker, call: PendingCommand) -> str | None:
    settings = []
    named = any(word[:1] == "-" and "n" in word for word in call.argv[1:])
    for word in call.argv[1:]:
        name, equals, value = word.partition("=")
        if named and equals and name.isidentifier() and value.isidentifier() and name != value:
            walker.words.refs[name] = value
        elif equals and name.rstrip("+").isidentifier():
            walker.words.env[name.rstrip("+")] = (
                OpenText(value) if isinstance(word, OpenText) else value
            )
            settings.append((name.rstrip("+"), value))
    walker.emit(replace(call, settings=(*call.settings, *settings)))
    return "" if settings else walker.unknown(call)


@unfolds("printenv")
def _printenv(walker: Walker, call: PendingCommand) -> str | None:
    """What variables that the text set hold; of others nothing is known."""
    values = [walker.words.env.get(word) for word in call.argv[1:] if word[:1] != "-"]
    known = [value for value in values if isinstance(value, str)]
    if not values or len(known) < len(values):
        return None
    walker.emit(call)
    return joined([each for value in known for each in (value, "\n")])


@unfolds("unset")
def _unset(walker: Walker, call: PendingCommand) -> str:
    walker.emit(call)
    for word in call.argv[1:]:
        walker.words.env.pop(word, None)
    return ""


@unfolds("cd pushd chdir")
def _cd(walker: Walker, call: PendingCommand) -> str:
    walker.emit(call)
    words = [word for word in call.argv[1:] if word not in ("--", "-P", "-L", "-e")]
    walker.go(words[0] if words else "~")
    return ""


@unfolds("set")
def _set(walker: Walker, call: PendingCommand) -> str:
    walker.emit(call)
    words = call.argv[1:]
    if words and (words[0] == "--" or words[0][:1] not in "-+"):
        walker.words.env["@"] = list(words[1:] if words[0] == "--" else words)
    return ""


@unfolds("shift")
def _shift(walker: Walker, _call: PendingCommand) -> str:
    given = walker.words.env.get("@", [])
    walker.words.env["@"] = list(given[1:])
    return ""


@unfolds("read mapfile readarray getopts")
def _read(walker: Walker, call: PendingCommand) -> str:
    walker.emit(call)
    names = [word for word in call.argv[1:] if word.isidentifier()]
    given = call.given
    known = given is not None and not isinstance(given, OpenText)
    fields = (
        given.partition("\n")[0].split(None, max(0, len(names) - 1))
        if given is not None and known
        else []
    )
    for at, name in enumerate(names):
        walker.words.env[name] = (
            fields[at]
            if at < len(fields)
            else ""
            if known
            else OpenText(f"${name}", origin_of(given))
        )
    return ""


@unfolds("tee")
def _tee(walker: Walker, call: PendingCommand) -> str:
    walker.emit(call)
    given = call.given if call.given is not None else ""
    for word in call.argv[1:]:
        if not word.startswith("-"):
            walker.keep(word, given)
    return given


@unfolds("curl wget aria2c")
def _fetch(walker: Walker, call: PendingCommand) -> str | None:
    writes = Command(call.argv).writes
    for path in writes:
        walker.keep(
            path, OpenText(f"$({call.argv[0]}…)", (call.argv[0].rpartition("/")[2].lower(),))
        )
    return None


@unfolds("printf")
def _printf(walker: Walker, call: PendingCommand) -> str | None:
    if call.argv[1:2] == ("-v",) and len(call.argv) > 3:
        walker.emit(call)
        walker.words.env[call.argv[2]] = printf(call.argv[3:])
        return ""
    return None


@unfolds("ssh mosh autossh")
def _ssh(walker: Walker, call: PendingCommand) -> str:
    walker.emit(call)
    words, _ = inner_of(Prefix(VALUED["ssh"]), call.argv[1:])
    if len(words) > 1:
        text = joined([each for word in words[1:] for each in (word, " ")])
    elif words and call.known is not None:
        text = call.known
    else:
        return walker.unknown(call)
    _text(walker, call, f"ssh {words[0]}", text, ())
    return walker.unknown(call)


@unfolds("su runuser script flock watch vagrant sg ssh-agent wsl cmd")
def _option_c(walker: Walker, call: PendingCommand) -> str | None:
    name, args = call.argv[0].rpartition("/")[2].lower(), call.argv[1:]
    for at, word in enumerate(args[:-1]):
        if word in ("-c", "--command", "/c", "/C") or clustered(word, ("-c",)):
            walker.emit(call)
            text = " ".join(args[at + 1 :]) if word[0] == "/" else args[at + 1]
            return walker.under(f"{name} -c", partial(walker.text, text), name in ("su", "runuser"))
    if name == "watch":
        inner, _ = inner_of(Prefix(frozenset({"-n", "--interval"})), args)
        walker.emit(call)
        return walker.under("watch", lambda: walker.text(" ".join(inner)))
    if name == "flock":
        inner, _ = inner_of(Prefix(frozenset({"-w", "-E", "--timeout"}), 1), args)
        walker.emit(call)
        return walker.start("flock", call, inner) if inner else ""
    if name in ("su", "runuser") and call.known is not None:
        walker.emit(call)
        return walker.under(name, partial(walker.text, call.known), True)
    return None


@unfolds("at batch")
def _at(walker: Walker, call: PendingCommand) -> str:
    walker.emit(call)
    held = (walker.files[word] for word in call.argv[1:] if word in walker.files)
    text = call.known if call.known is not None else next(held, "")
    return walker.under(call.argv[0], partial(walker.text, text))


@unfolds("crontab")
def _crontab(walker: Walker, call: PendingCommand) -> str | None:
    walker.emit(call)
    given = (
        call.given
        if call.given is not None
        else next((walker.files[word] for word in call.argv[1:] if word in walker.files), "")
    )
    for line in given.splitlines()[:256]:
        fields = line.split(None, 1 if line.startswith("@") else 5)
        if len(fields) == (2 if line.startswith("@") else 6) and not line.startswith("#"):
            walker.under("crontab", partial(walker.text, fields[-1]))
    return walker.unknown(call)


RUNS: Final = Prefix(WORDS["options of containers that have a value"], 1)


@unfolds("docker podman nerdctl kubectl oc docker-compose lxc lxc-attach k3s")
def _container(walker: Walker, call: PendingCommand) -> str | None:
    args = call.argv[1:]
    verb = next((at for at, word in enumerate(args[:12]) if word in ("exec", "run")), -1)
    if verb < 0:
        return None
    walker.emit(call)
    rest = args[verb + 1 :]
    dashes = (
        rest.index("--") if "--" in rest and call.argv[0] in ("kubectl", "oc", "lxc", "k3s") else -1
    )
    inner = rest[dashes + 1 :] if dashes >= 0 else inner_of(RUNS, rest)[0]
    if not inner:
        return walker.unknown(call)
    cwd, walker.cwd = walker.cwd, "container:"
    printed = walker.start(f"{call.argv[0]} {args[verb]}", call, inner, opens=())
    walker.cwd = cwd
    return printed


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


def _any(words: Strings, code: str) -> bool:
    return any(word in code for word in words)


def printed_by(code: str) -> str | None:
    """What a line of Perl prints that only combines two texts; None where that is not known."""
    match = XOR.fullmatch(code)
    if match is None:
        return None
    first, second = (_PERL.sub(r"\1", text).encode("latin-1", "replace") for text in match.groups())
    return bytes([one ^ other for one, other in zip(first, second, strict=False)]).decode("latin-1")


@unfolds(" ".join(LANGUAGES))
def _language(walker: Walker, call: PendingCommand) -> str | None:
    name = call.argv[0].rpartition("/")[2].lower().removesuffix(".exe")
    language = LANGUAGES[name]
    codes = codes_in(call.argv, call.given, language, walker.files)
    if name in ("powershell", "pwsh"):
        return _powershell(walker, call, codes)
    marks: set[str] = set()
    texts: list[str] = []
    argvs: list[Strings] = []
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
    if len(codes) == 1 and isinstance(codes[0], OpenText) and codes[0] is not call.given:
        walker.emit(replace(call, given=codes[0]), frozenset({*marks, "script"}))
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


def _keep_script(walker: Walker, name: str, call: PendingCommand) -> None:
    """Keep a script or module that a language runs, with its words: `manage.py flush`."""
    started = started_by(name, call.argv[1:])
    inner = LANGUAGES.get(started[0].rpartition("/")[2]) if started else None
    if inner is not None and codes_in(started, call.given, inner, walker.files):
        follow = replace(call, argv=started)
        walker.under(name, partial(walker.run, follow))
    elif len(started) > 1:
        kept = Command(started, (*walker.via, name), given=call.given, settings=call.settings)
        walker.passed.append(kept)


def _powershell(walker: Walker, call: PendingCommand, codes: list[str]) -> str:
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
        sent = OpenText("$(env…)", ("env",)) if sending.variables else given
        if files or sent is not None:
            kept.append(Command(("curl", *files, sending.host), (*walker.via, name), given=sent))
    walker.passed += kept
