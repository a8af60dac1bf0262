"""Tokens of a piece of code by the syntax of its language, and what is known of an expression."""

from __future__ import annotations

from typing import Final, Literal

from stanchion.kernel.regex import regex
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.programs.calls import UNKNOWN, known_parts
from stanchion.readings.shell.outputs import unescape
from stanchion.readings.word_lists import listed


class Syntax(NamedTuple):
    """What a reader has to know of a language: what begins a comment, what joins texts, what calls
    on a thing; whether a backquote runs a command, whether `q(…)` and `%x(…)` are strings, and
    whether a call may do without brackets."""

    comment: tuple[str, ...]
    joins: frozenset[str]
    members: frozenset[str]
    backquote_runs: bool = False
    letters: bool = False
    bare_calls: bool = False
    joined: frozenset[str] = frozenset({"sign"})
    """What follows where a text goes on: a sign that joins, or the next name or text itself."""


JAVASCRIPT: Final = Syntax(("//",), frozenset("+"), listed(". ?."))
TYPED: Final = Syntax(("//", "#!", "#r"), frozenset("+"), listed(". ?. :: ->"))
"""Go, Java, Kotlin, Scala, Swift, Rust and C#, of which no more is known here."""
ELIXIR: Final = Syntax(("#",), frozenset({"<>"}), frozenset({"."}), bare_calls=True)
RUBY: Final = Syntax(("#",), listed("+ <<"), listed(". :: &."), True, True, True)
PERL: Final = Syntax(("#",), frozenset("."), listed("-> ::"), True, True, True)
PHP: Final = Syntax(("#", "//"), frozenset("."), frozenset({"->", "::", "\\"}), True, False, True)
LUA: Final = Syntax(("--",), frozenset({".."}), listed(". :"), False, False, True)
R: Final = Syntax(("#",), frozenset(), frozenset({"::"}))
BASIC: Final = Syntax(("'",), frozenset("&"), frozenset("."), bare_calls=True)
LISP: Final = Syntax((";",), frozenset(), frozenset(), joined=frozenset())
AWK: Final = Syntax(("#",), frozenset(), frozenset(), joined=listed("name text"))

SYNTAXES: Final[dict[str, Syntax]] = {
    "node": JAVASCRIPT, "nodejs": JAVASCRIPT, "bun": JAVASCRIPT, "deno": JAVASCRIPT,
    "jrunscript": JAVASCRIPT, "tsx": JAVASCRIPT, "ts-node": JAVASCRIPT,
    "groovy": JAVASCRIPT._replace(bare_calls=True),
    "cscript": BASIC, "wscript": BASIC, "vim": LUA,
    **dict.fromkeys(("emacs", "clojure", "bb", "racket", "guile", "sbcl"), LISP),
    "elixir": ELIXIR, "iex": ELIXIR, "mix": ELIXIR, "artisan": PHP, "wp": PHP,
    "ruby": RUBY, "irb": RUBY, "perl": PERL, "php": PHP, "lua": LUA, "lua5.1": LUA, "lua5.2": LUA,
    "rscript": R, "r": R, **dict.fromkeys(
        (
            "go", "yaegi", "jbang", "kotlin", "kotlinc", "scala", "swift", "rust-script", "jshell",
            "dotnet-script", "dart",
        ),
        TYPED,
    ),
    "lua5.3": LUA, "lua5.4": LUA, "luajit": LUA, "awk": AWK, "gawk": AWK, "mawk": AWK, "nawk": AWK,
}  # fmt: skip
"""Languages by the programs that run them."""


Kind = Literal["name", "text", "run", "number", "sign", "line", "words"]
MANY: Final = 20_000
"""How many tokens of one piece of code are read."""

PAIRS: Final = {"(": ")", "{": "}", "[": "]", "<": ">"}
_SPACE: Final = regex(r"[ \t\r]+")
_NAME: Final = regex(r"[$@%&]?[A-Za-z_]\w*[!?]?(?![=>]=)|\$\{?\w+\}?|[@$]\w+")
_NUMBER: Final = regex(r"0x[0-9a-fA-F]+|0o[0-7]+|\d+")
_SIGN: Final = regex(r"\.\.\.?|::|->|=>|\?\.|&\.|\|\||&&|==|!=|<<|>>|[^\sA-Za-z0-9_]")
_LETTERED: Final = regex(r"(?:%([qQxwWi]?)|\b(q|qq|qx|qw)\s*)([({\[<|/!])")
WORDS: Final = listed("w W i I qw")
"""Letters before a list of words."""
_LONG: Final = regex(r"\[(=*)\[")


class CodeToken(NamedTuple):
    """A piece of code: what it is, and its text; `run` is a text that is run as a command."""

    kind: Kind
    text: str


def tokens(code: str, syntax: Syntax) -> list[CodeToken]:
    """The tokens of a piece of code."""
    found: list[CodeToken] = []
    at = 0
    while at < len(code) and len(found) < MANY:
        space = _SPACE.match(code, at)
        if space is not None:
            at = space.end()
            continue
        char = code[at]
        if char == "\n":
            found.append(CodeToken("line", char))
            at += 1
        elif code.startswith(syntax.comment, at) and not (
            char == "#" and found and found[-1].text == "$"
        ):
            close = code.find("\n", at)
            at = len(code) if close < 0 else close
        elif code.startswith("/*", at):
            close = code.find("*/", at + 2)
            at = len(code) if close < 0 else close + 2
        else:
            at = _token(code, at, syntax, found)
    return found


def _token(code: str, at: int, syntax: Syntax, found: list[CodeToken]) -> int:
    """Read one token; where to go on."""
    char = code[at]
    if char in "\"'`":
        return _string(code, at, syntax, found)
    if syntax.letters and (lettered := _LETTERED.match(code, at)) is not None and _may_begin(found):
        return _lettered(code, lettered.end(), lettered[1] or lettered[2] or "", lettered[3], found)
    if char == "[" and (long := _LONG.match(code, at)) is not None and "--" in syntax.comment:
        close = code.find(f"]{long[1]}]", long.end())
        end = len(code) if close < 0 else close
        found.append(CodeToken("text", code[long.end() : end]))
        return end + len(long[0])
    if (name := _NAME.match(code, at)) is not None:
        found.append(CodeToken("name", name[0]))
        return name.end()
    if (number := _NUMBER.match(code, at)) is not None:
        found.append(
            CodeToken("number", str(int(number[0], 0) if number[0][:2] == "0x" else number[0]))
        )
        return number.end()
    sign = _SIGN.match(code, at)
    found.append(CodeToken("sign", sign[0] if sign is not None else char))
    return at + (len(sign[0]) if sign is not None else 1)


def _may_begin(found: list[CodeToken]) -> bool:
    """Whether a text may stand here: behind a name or a number `%` is a sign of arithmetic."""
    return (
        not found
        or found[-1].kind in ("sign", "line")
        or found[-1].text in ("print", "puts", "eval", "system")
    )


def _string(code: str, at: int, syntax: Syntax, found: list[CodeToken]) -> int:
    char = code[at]
    close = char * 3 if code.startswith(char * 3, at) else char
    begin = end = at + len(close)
    while end < len(code) and not code.startswith(close, end):
        end += 2 if code[end] == "\\" else 1
    inner = code[begin:end]
    text = inner.replace("\\'", "'").replace("\\\\", "\\") if char == "'" else unescape(inner)
    found.append(CodeToken("run" if char == "`" and syntax.backquote_runs else "text", text))
    return end + len(close)


def _lettered(code: str, at: int, letter: str, opened: str, found: list[CodeToken]) -> int:
    """`q(…)`, `%x{…}` and their like, which nest."""
    close, depth, end = PAIRS.get(opened, opened), 1, at
    while end < len(code):
        if code[end] == close:
            depth -= 1
            if not depth:
                break
        elif code[end] == opened:
            depth += 1
        end += 1
    kind: Kind = "run" if letter in ("x", "qx") else "words" if letter in WORDS else "text"
    found.append(CodeToken(kind, code[at:end]))
    return end + 1


VARIABLES: Final = listed("process.env ENV Deno.env environ[] os.environ Bun.env")
"""How languages name the variables of the environment, one of which is asked for."""
HOME: Final = "~"
HOMES: Final = listed("homedir home home_dir UserHomeDir homeDirectory")
"""Calls that tell the home of who runs them."""
OWN_HOME: Final = listed("HOME user.home USERPROFILE")
"""Variables and properties that name one's own home."""
PLACES: Final = listed("File PathBuf Path Paths FileInfo DirectoryInfo Directory URL")
"""What makes a place of its parts."""
ASKS_HOME: Final = listed("getenv Getenv var getProperty GetEnvironmentVariable")


class CodeValue(NamedTuple):
    """What is known of an expression: its text, its items where it is a list, and what it is made
    of."""

    text: str | None = None
    items: tuple[str | None, ...] | None = None
    made_of: frozenset[str] = frozenset()
    named: tuple[tuple[str, str | None], ...] = ()
    """What is given by name in it, itself included."""


EMPTY: Final = CodeValue()


def library_text(name: str, of: str, *texts: str | None) -> str | None:
    """What a library tells: a home, a variable of the environment, a path of its parts; `None` for
    anything else."""
    if name in HOMES:
        return HOME
    if texts and texts[0] in OWN_HOME and name in ASKS_HOME:
        return HOME
    if of in VARIABLES or name == "getenv":
        return f"${texts[0] if texts else name}"
    if name in PLACES or (name in ("from", "of", "get", "new") and of.rpartition(".")[2] in PLACES):
        parts = known_parts(texts)
        return "/".join(parts) if parts and parts[0] != UNKNOWN else None
    if name in ("join", "Join", "resolve", "Combine") and of.rpartition(".")[2] in (
        "path",
        "File",
        "posix",
        "filepath",
        "Path",
    ):
        return "/".join(known_parts(texts))
    return None


def joined_value(left: CodeValue, right: CodeValue) -> CodeValue:
    made = left.made_of | right.made_of
    if left.text is None and right.text is None:
        return CodeValue(None, None, made)
    texts = known_parts((left.text, right.text))
    return CodeValue("".join(texts), None, made)


def flat_texts(args: list[CodeValue]) -> list[str | None]:
    return [each for arg in args for each in (arg.items if arg.items is not None else (arg.text,))]
