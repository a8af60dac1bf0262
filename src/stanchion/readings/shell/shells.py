"""Shells and their like: commands that run a text as a script."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from stanchion.readings.shell.command import Command
from stanchion.readings.shell.known import WORDS
from stanchion.readings.shell.options import VALUED, clustered
from stanchion.readings.shell.outputs import printf
from stanchion.readings.shell.partly_known import Open, joined, origin_of
from stanchion.readings.shell.patterns import fits, pieces
from stanchion.readings.shell.unfold import unfolds
from stanchion.readings.shell.wrappers import Prefix, inner_of

if TYPE_CHECKING:
    from stanchion.readings.shell.kept import Call
    from stanchion.readings.shell.script import Walker

SHELLS: Final = "sh bash dash zsh ksh ash fish rbash mksh csh tcsh"


@unfolds(SHELLS)
def _shell(walker: Walker, call: Call) -> str:
    name = call.argv[0].rpartition("/")[2].lower()
    args = tuple([_wrote(walker, word) for word in call.argv[1:]])
    files = [walker.files[word] for word in args if word in walker.files]
    if files:
        walker.emit(msgspec.structs.replace(call, given=files[0]), frozenset({"script"}))
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


def _text(walker: Walker, call: Call, via: str, text: str, given: tuple[str, ...]) -> str:
    """Follow a text in a shell of its own; one that is not known at all is left to the rules."""
    if isinstance(text, Open) and text.origin and (not text or text.startswith("$(")):
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
def _eval(walker: Walker, call: Call) -> str:
    words = call.argv[1:]
    walker.emit(call)
    text = joined([each for word in words for each in (word, " ")]) if words else ""
    if isinstance(text, Open) and text.origin and text.startswith("$("):
        return walker.unknown(call)
    return walker.under("eval", lambda: walker.text(text, call.given))


@unfolds("source .")
def _source(walker: Walker, call: Call) -> str:
    path = _wrote(walker, call.argv[1]) if len(call.argv) > 1 else ""
    held = walker.files.get(path)
    marks = frozenset({"script"}) if held is not None else frozenset()
    walker.emit(
        msgspec.structs.replace(call, given=held if held is not None else call.given), marks
    )
    script = held if path != "/dev/stdin" else call.given
    if script is None or (isinstance(script, Open) and script.startswith("$(")):
        return ""
    return walker.under("source", lambda: walker.text(script))


@unfolds("trap")
def _trap(walker: Walker, call: Call) -> str:
    walker.emit(call)
    words = [word for word in call.argv[1:] if word not in ("-p", "-l", "--")]
    if len(words) > 1 and words[0] not in ("", "-"):
        walker.under("trap", lambda: walker.text(words[0]))
    return ""


@unfolds("alias")
def _alias(walker: Walker, call: Call) -> str:
    walker.emit(call)
    for word in call.argv[1:]:
        name, equals, text = word.partition("=")
        if equals and name:
            walker.under(f"alias {name}", partial(walker.text, text))
    return ""


@unfolds("export declare typeset local readonly")
def _declare(walker: Walker, call: Call) -> str | None:
    settings = []
    named = any(word[:1] == "-" and "n" in word for word in call.argv[1:])
    for word in call.argv[1:]:
        name, equals, value = word.partition("=")
        if named and equals and name.isidentifier() and value.isidentifier() and name != value:
            walker.words.refs[name] = value
        elif equals and name.rstrip("+").isidentifier():
            walker.words.env[name.rstrip("+")] = Open(value) if isinstance(word, Open) else value
            settings.append((name.rstrip("+"), value))
    walker.emit(msgspec.structs.replace(call, settings=(*call.settings, *settings)))
    return "" if settings else walker.unknown(call)


@unfolds("printenv")
def _printenv(walker: Walker, call: Call) -> str | None:
    """What variables that the text set hold; of others nothing is known."""
    values = [walker.words.env.get(word) for word in call.argv[1:] if word[:1] != "-"]
    known = [value for value in values if isinstance(value, str)]
    if not values or len(known) < len(values):
        return None
    walker.emit(call)
    return joined([each for value in known for each in (value, "\n")])


@unfolds("unset")
def _unset(walker: Walker, call: Call) -> str:
    walker.emit(call)
    for word in call.argv[1:]:
        walker.words.env.pop(word, None)
    return ""


@unfolds("cd pushd chdir")
def _cd(walker: Walker, call: Call) -> str:
    walker.emit(call)
    words = [word for word in call.argv[1:] if word not in ("--", "-P", "-L", "-e")]
    path = words[0] if words else "~"
    if path.startswith(("/", "~", "$")) or not walker.cwd:
        walker.cwd = path
    elif path != ".":
        walker.cwd = f"{walker.cwd.rstrip('/')}/{path}"
    return ""


@unfolds("set")
def _set(walker: Walker, call: Call) -> str:
    walker.emit(call)
    words = call.argv[1:]
    if words and (words[0] == "--" or words[0][:1] not in "-+"):
        walker.words.env["@"] = list(words[1:] if words[0] == "--" else words)
    return ""


@unfolds("shift")
def _shift(walker: Walker, _call: Call) -> str:
    given = walker.words.env.get("@", [])
    walker.words.env["@"] = list(given[1:])
    return ""


@unfolds("read mapfile readarray getopts")
def _read(walker: Walker, call: Call) -> str:
    walker.emit(call)
    names = [word for word in call.argv[1:] if word.isidentifier()]
    given = call.given
    known = given is not None and not isinstance(given, Open)
    fields = (
        given.partition("\n")[0].split(None, max(0, len(names) - 1))
        if given is not None and known
        else []
    )
    for at, name in enumerate(names):
        walker.words.env[name] = (
            fields[at] if at < len(fields) else "" if known else Open(f"${name}", origin_of(given))
        )
    return ""


@unfolds("tee")
def _tee(walker: Walker, call: Call) -> str:
    walker.emit(call)
    given = call.given if call.given is not None else ""
    for word in call.argv[1:]:
        if not word.startswith("-"):
            walker.keep(word, given)
    return given


@unfolds("curl wget aria2c")
def _fetch(walker: Walker, call: Call) -> str | None:
    writes = Command(call.argv).writes
    for path in writes:
        walker.keep(path, Open(f"$({call.argv[0]}…)", (call.argv[0].rpartition("/")[2].lower(),)))
    return None


@unfolds("printf")
def _printf(walker: Walker, call: Call) -> str | None:
    if call.argv[1:2] == ("-v",) and len(call.argv) > 3:
        walker.emit(call)
        walker.words.env[call.argv[2]] = printf(call.argv[3:])
        return ""
    return None


@unfolds("ssh mosh autossh")
def _ssh(walker: Walker, call: Call) -> str:
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


@unfolds("su runuser script flock watch vagrant sg ssh-agent start-stop-daemon wsl cmd")
def _option_c(walker: Walker, call: Call) -> str | None:
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
def _at(walker: Walker, call: Call) -> str:
    walker.emit(call)
    if call.known is None:
        return ""
    return walker.under(call.argv[0], partial(walker.text, call.known))


@unfolds("crontab")
def _crontab(walker: Walker, call: Call) -> str | None:
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
def _container(walker: Walker, call: Call) -> str | None:
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
