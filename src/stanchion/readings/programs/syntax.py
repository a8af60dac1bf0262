"""Syntax: how a language writes comments, strings, calls on things, and texts put together."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.tuples import NamedTuple


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


JAVASCRIPT: Final = Syntax(("//",), frozenset("+"), frozenset({".", "?."}))
TYPED: Final = Syntax(("//", "#!", "#r"), frozenset("+"), frozenset({".", "?.", "::", "->"}))
"""Go, Java, Kotlin, Scala, Swift, Rust and C#, of which no more is known here."""
ELIXIR: Final = Syntax(("#",), frozenset({"<>"}), frozenset({"."}), bare_calls=True)
RUBY: Final = Syntax(("#",), frozenset({"+", "<<"}), frozenset({".", "::", "&."}), True, True, True)
PERL: Final = Syntax(("#",), frozenset("."), frozenset({"->", "::"}), True, True, True)
PHP: Final = Syntax(("#", "//"), frozenset("."), frozenset({"->", "::", "\\"}), True, False, True)
LUA: Final = Syntax(("--",), frozenset({".."}), frozenset({".", ":"}), False, False, True)
R: Final = Syntax(("#",), frozenset(), frozenset({"::"}))
BASIC: Final = Syntax(("'",), frozenset("&"), frozenset("."), bare_calls=True)
LISP: Final = Syntax((";",), frozenset(), frozenset(), joined=frozenset())
AWK: Final = Syntax(("#",), frozenset(), frozenset(), joined=frozenset({"name", "text"}))

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
