"""Lexing: a text as statements of tokens, and each statement as words that rules can look at.

What stands between the words is checked to be nothing but space and comments. No text costs more
than its length: the parser takes steps back, and may read the brackets of `DATE(…)` twice, and
those inside them twice each time. What it would do at the most is added up beforehand, token by
token, and a text for which that is too much is not parsed. Depth is bounded because a compiled
parser does not notice the end of its stack.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec
from sqlglot import Token, TokenType as T, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from stanchion.kernel.regex import regex
from stanchion.kernel.sizes import LIMITS, ReadLimits
from stanchion.readings.sql.statement import (
    FLAT,
    HASH,
    NAME,
    NESTING,
    NUMBER,
    PARSING,
    SLASHES,
    TEXT,
)

BREAKING: Final = (
    RuntimeError, LookupError, TypeError, ValueError, AttributeError, AssertionError,
    ArithmeticError,
)  # fmt: skip
"""What the parser breaks with on texts that it was not made for, its own errors aside."""

STRINGS: Final = frozenset(
    {
        T.STRING, T.NATIONAL_STRING, T.RAW_STRING, T.HEREDOC_STRING, T.UNICODE_STRING,
        T.BYTE_STRING, T.BIT_STRING, T.HEX_STRING,
    }
)  # fmt: skip
OPENS: Final = frozenset({T.L_PAREN, T.L_BRACKET, T.L_BRACE})
CLOSES: Final = frozenset({T.R_PAREN, T.R_BRACKET, T.R_BRACE})

STEPS_A_TOKEN: Final = 6
STEPS_A_STATEMENT: Final = 96
"""How many steps allow for one more of them."""
MAX_REPEATS: Final = 32
AGAIN: Final = 4
"""How often the brackets of something that may be a type are read, at the most."""
GUESSED: Final = frozenset({"CONVERT", "TRY_CONVERT"})
"""Functions in whose brackets a type may stand first."""

RUNNING: Final = ("/*!", "/*M!")
"""How comments begin that MySQL and MariaDB run."""
_ROUGHLY: Final = regex(r"\w+|[^\w\s]")
_LINE_END: Final = regex(r"[\n\r]")


class UnreadSql(Exception):
    """A text cannot be understood; the message says why."""


class CommentSpan(NamedTuple):
    """Where a comment stands in a text."""

    start: int
    end: int


class SqlReader(msgspec.Struct, frozen=True):
    """What reads one dialect: its tokenizer, its parser, which tokens are types, and how much of a
    text is read."""

    dialect: Any
    tokenizer: Any
    types: Any
    limits: ReadLimits

    def tokens(self, text: str) -> list[Token]:
        """The tokens of a text; refuses one that cannot be cut into tokens."""
        try:
            tokens: list[Token] = self.tokenizer(dialect=self.dialect).tokenize(text)
        except SqlglotError:
            raise UnreadSql("a string, a name or a comment in it has no end") from None
        return tokens

    def tree(self, tokens: list[Token], text: str) -> exp.Expr:
        """The tree of one statement; refuses what the parser does not understand."""
        before = PARSING.set(True)
        try:
            (tree,) = self.dialect.parser().parse(tokens, text)
        except (SqlglotError, *BREAKING):
            tree = None
        finally:
            PARSING.reset(before)
        if not isinstance(tree, exp.Expr):
            raise UnreadSql("it cannot be parsed")
        return tree


@lru_cache(32)
def reader_of(dialect: str, limits: ReadLimits = LIMITS) -> SqlReader:
    """What reads a dialect. Its tokenizer has no commands: to sqlglot they are raw text, quotes and
    all, and what follows them would be cut at the wrong places."""
    known = Dialect.get_or_raise(dialect)
    tokenizer = type("Tokenizer", (known.tokenizer_class,), {"COMMANDS": set()})
    return SqlReader(known, tokenizer, frozenset(known.parser_class.TYPE_TOKENS), limits)


class SqlPiece(msgspec.Struct, frozen=True):
    """One statement as tokens and as words, one for each token: a plain word in capitals, a sign as
    it is, and `NAME`, `TEXT` or `NUMBER` for what has no fixed words."""

    tokens: list[Any]
    words: list[str]

    def behind(self, start: int) -> SqlPiece:
        """What stands from that word on."""
        return SqlPiece(self.tokens[start:], self.words[start:])

    def between(self, start: int, end: int) -> SqlPiece:
        """What stands between two words."""
        return SqlPiece(self.tokens[start:end], self.words[start:end])

    def spelled(self) -> list[str]:
        """Its words, with names in quotes as if they had none."""
        return [
            token.text.upper() if word == NAME else word
            for token, word in zip(self.tokens, self.words, strict=True)
        ]


def is_name(word: str) -> bool:
    """Whether a word may be a name."""
    return word == NAME or word.isidentifier()


def pieces_of(text: str, reader: SqlReader, dialect: str) -> tuple[tuple[SqlPiece, ...], str]:
    """The statements of a text, and the text they are in: what MySQL runs in comments is run here,
    too."""
    if len(text) > reader.limits.query_chars:
        raise UnreadSql("it is too long to be read")
    if "\0" in text:
        raise UnreadSql("it has a character that ends a text")
    tokens = reader.tokens(text)
    running = running_comments(text, tokens, dialect)
    if running:
        text = unwrapped(text, running)
        tokens = reader.tokens(text)
        if running_comments(text, tokens, dialect):
            raise UnreadSql("it has a comment in a comment")
    work_of(tokens, reader.types, reader.limits)
    return tuple(_cut(tokens)), text


def _cut(tokens: Sequence[Token]) -> list[SqlPiece]:
    """The statements of a list of tokens. Only what is quoted is longer than its text."""
    semicolon, number = T.SEMICOLON, T.NUMBER
    found: list[SqlPiece] = []
    own: list[Token] = []
    words: list[str] = []
    before: Token | None = None
    for token in tokens:
        kind, text = token.token_type, token.text
        if token.end - token.start >= len(text):
            own.append(token)
            words.append(_quoted(token, before))
        elif kind is semicolon:
            if own:
                found.append(SqlPiece(own, words))
            own, words = [], []
        else:
            own.append(token)
            words.append(NUMBER if kind is number else text.upper())
        before = token
    return [*found, SqlPiece(own, words)] if own else found


def _quoted(token: Token, before: Token | None) -> str:
    """The word for a string or a name. A word directly before a string may say how it is quoted:
    then the text is cut by unknown rules. The same goes for names that are written by the numbers
    of their letters."""
    near = before.token_type if before is not None and before.end + 1 == token.start else None
    if token.token_type in STRINGS:
        if near is T.VAR:
            raise UnreadSql("a string in it is quoted in an unknown way")
        return TEXT
    if token.token_type is T.IDENTIFIER:
        if near is T.AMP:
            raise UnreadSql("a name in it is quoted in an unknown way")
        return NAME
    return token.text.upper()


def running_comments(text: str, tokens: Sequence[Token], dialect: str) -> list[CommentSpan]:
    """The comments of a text that are run as if they were none. What is neither space nor a comment
    of the dialect, and yet was taken for one, makes the text unreadable."""
    found: list[CommentSpan] = []
    at = 0
    for token in tokens:
        if token.start > at:
            _look(text, at, token.start, dialect, found)
        at = token.end + 1
    _look(text, at, len(text), dialect, found)
    return found


def unwrapped(text: str, spans: list[CommentSpan]) -> str:
    """The text with these comments as the server runs them."""
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        inner = text[text.index("!", start) + 1 : end - 2]
        pieces += (text[at:start], " ", inner.lstrip("0123456789"), " ")
        at = end
    return "".join([*pieces, text[at:]])


def _look(text: str, at: int, end: int, dialect: str, found: list[CommentSpan]) -> None:
    while at < end:
        if text[at].isspace():
            at += 1
        elif text.startswith("/*", at):
            start, at = at, _block_end(text, at, end, dialect)
            if dialect == "mysql" and text.startswith(RUNNING, start):
                found.append(CommentSpan(start, at))
        elif _is_line_comment(text, at, dialect):
            closed = _LINE_END.search(text, at, end)
            at = end if closed is None else closed.start()
        else:
            raise UnreadSql("it has a comment that databases read differently")


def _is_line_comment(text: str, at: int, dialect: str) -> bool:
    if text.startswith("--", at):
        return dialect != "mysql" or at + 2 == len(text) or text[at + 2] <= " "
    return (text[at] == "#" and dialect in HASH) or (
        text.startswith("//", at) and dialect in SLASHES
    )


def _block_end(text: str, at: int, end: int, dialect: str) -> int:
    """The place behind a block comment that begins here, by the rule of the dialect."""
    depth, at = 1, at + 2
    while depth:
        close = text.find("*/", at, end)
        if close < 0:
            raise UnreadSql("it has a comment without an end")
        if dialect not in FLAT | NESTING and text.find("/*", at, close + 1) >= 0:
            raise UnreadSql("it has a comment in a comment")
        depth += (0 if dialect in FLAT else text.count("/*", at, close)) - 1
        at = close + 2
    return at


def readings_of(text: str, limits: ReadLimits) -> int:
    """In how many dialects a text may be read before one of them can read it: in as many as take no
    more than the longest text in one."""
    return max(1, limits.query_steps // (STEPS_A_TOKEN * max(1, len(_ROUGHLY.findall(text)))))


def _count(tokens: Sequence[Token], limits: ReadLimits) -> None:
    """Refuse more tokens and statements than there are steps for."""
    ends = sum([token.token_type is T.SEMICOLON for token in tokens])
    if max(len(tokens) * STEPS_A_TOKEN, ends * STEPS_A_STATEMENT) > limits.query_steps:
        raise UnreadSql("it is too long to be read")


def work_of(tokens: Sequence[Token], types: Collection[T], limits: ReadLimits = LIMITS) -> int:
    """How many steps parsing these tokens takes at the most, in units of its own; refuses what is
    too much."""
    _count(tokens, limits)
    weight, work, indexed, typed, repeats = 1, 0, 0, 0, 0
    weights: list[int] = []
    before: T | None = None
    word = ""
    for token in tokens:
        kind = token.token_type
        work += weight * (1 + len(weights) // 4)
        repeats = repeats + 1 if kind is before else 0
        if kind in OPENS:
            weights.append(weight)
            weight *= AGAIN if before in types or word in GUESSED else 1
            indexed += kind is T.L_BRACKET
            work += 2 * indexed if kind is T.L_BRACKET else 0
        elif kind in CLOSES:
            weight = weights.pop() if weights else 1
        elif kind is T.LT and before in types:
            typed += 1
            work += AGAIN * typed
        deep = len(weights) > limits.query_depth
        if deep or work > limits.query_steps or max(typed, repeats) > MAX_REPEATS:
            raise UnreadSql("it is too complicated to be read")
        before, word = kind, token.text.upper() if kind is T.VAR else ""
    return work
