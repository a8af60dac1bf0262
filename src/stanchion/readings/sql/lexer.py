"""Lexing: a text as statements of tokens, and each statement as words that rules can look at."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion.kernel.sizes import LIMITS, Limits
from stanchion.readings.sql.comments import Unread, running_comments, unwrapped
from stanchion.readings.sql.limits import work_of

if TYPE_CHECKING:
    from sqlglot import Token, TokenType, exp
    from sqlglot.dialects.dialect import Dialect

TEXT: Final = "'"
NAME: Final = '"'
NUMBER: Final = "0"
"""How a string, a quoted name and a number are written among words."""

BREAKING: Final = (
    RuntimeError, LookupError, TypeError, ValueError, AttributeError, AssertionError,
    ArithmeticError,
)  # fmt: skip
"""What the parser breaks with on texts that it was not made for, its own errors aside."""

PARSING: Final = ContextVar("parsing", default=False)
"""Whether a text is being parsed here: what the parser then logs has the text in it."""


class Reader(msgspec.Struct, frozen=True):
    """What reads one dialect: its tokenizer, its parser, which tokens are types, and how much of a
    text is read."""

    dialect: Any
    tokenizer: Any
    types: Any
    strings: Any
    limits: Limits

    def tokens(self, text: str) -> list[Token]:
        """The tokens of a text; refuses one that cannot be cut into tokens."""
        from sqlglot.errors import SqlglotError

        try:
            tokens: list[Token] = self.tokenizer(dialect=self.dialect).tokenize(text)
        except SqlglotError:
            raise Unread("a string, a name or a comment in it has no end") from None
        return tokens

    def tree(self, tokens: list[Token], text: str) -> exp.Expr:
        """The tree of one statement; refuses what the parser does not understand."""
        from sqlglot.errors import SqlglotError

        dialect: Dialect = self.dialect
        before = PARSING.set(True)
        try:
            (tree,) = dialect.parser().parse(tokens, text)
        except (SqlglotError, *BREAKING):
            raise Unread("it cannot be parsed") from None
        finally:
            PARSING.reset(before)
        if tree is None:
            raise Unread("it cannot be parsed")
        return tree


@lru_cache(32)
def reader_of(dialect: str, limits: Limits = LIMITS) -> Reader:
    """What reads a dialect. Its tokenizer has no commands: to sqlglot they are raw text, quotes and
    all, and what follows them would be cut at the wrong places."""
    from sqlglot import TokenType as T
    from sqlglot.dialects.dialect import Dialect

    known = Dialect.get_or_raise(dialect)
    tokenizer = type("Tokenizer", (known.tokenizer_class,), {"COMMANDS": set()})
    strings = {
        T.STRING, T.NATIONAL_STRING, T.RAW_STRING, T.HEREDOC_STRING, T.UNICODE_STRING,
        T.BYTE_STRING, T.BIT_STRING, T.HEX_STRING,
    }  # fmt: skip
    types: Collection[TokenType] = known.parser_class.TYPE_TOKENS
    return Reader(known, tokenizer, frozenset(types), frozenset(strings), limits)


class Piece(msgspec.Struct, frozen=True):
    """One statement as tokens and as words, one for each token: a plain word in capitals, a sign as
    it is, and `NAME`, `TEXT` or `NUMBER` for what has no fixed words."""

    tokens: list[Any]
    words: list[str]

    def behind(self, start: int) -> Piece:
        """What stands from that word on."""
        return Piece(self.tokens[start:], self.words[start:])

    def between(self, start: int, end: int) -> Piece:
        """What stands between two words."""
        return Piece(self.tokens[start:end], self.words[start:end])


def pieces_of(text: str, reader: Reader, dialect: str) -> tuple[tuple[Piece, ...], str]:
    """The statements of a text, and the text they are in: what MySQL runs in comments is run here,
    too."""
    if len(text) > reader.limits.query_chars:
        raise Unread("it is too long to be read")
    if "\0" in text:
        raise Unread("it has a character that ends a text")
    tokens = reader.tokens(text)
    running = running_comments(text, tokens, dialect)
    if running:
        text = unwrapped(text, running)
        tokens = reader.tokens(text)
        if running_comments(text, tokens, dialect):
            raise Unread("it has a comment in a comment")
    work_of(tokens, reader.types, reader.limits)
    return tuple(_cut(tokens, reader)), text


def _cut(tokens: Sequence[Token], reader: Reader) -> list[Piece]:
    """The statements of a list of tokens. Only what is quoted is longer than its text."""
    from sqlglot import TokenType as T

    semicolon, number = T.SEMICOLON, T.NUMBER
    found: list[Piece] = []
    own: list[Token] = []
    words: list[str] = []
    before: Token | None = None
    for token in tokens:
        kind, text = token.token_type, token.text
        if token.end - token.start >= len(text):
            own.append(token)
            words.append(_quoted(token, before, reader))
        elif kind is semicolon:
            if own:
                found.append(Piece(own, words))
            own, words = [], []
        else:
            own.append(token)
            words.append(NUMBER if kind is number else text.upper())
        before = token
    if own:
        found.append(Piece(own, words))
    return found


def _quoted(token: Token, before: Token | None, reader: Reader) -> str:
    """The word for a string or a name. A word directly before a string may say how it is quoted:
    then the text is cut by unknown rules. The same goes for names that are written by the numbers
    of their letters."""
    from sqlglot import TokenType as T

    near = before is not None and before.end + 1 == token.start
    if token.token_type in reader.strings:
        if near and before is not None and before.token_type is T.VAR:
            raise Unread("a string in it is quoted in an unknown way")
        return TEXT
    if token.token_type is T.IDENTIFIER:
        if near and before is not None and before.token_type is T.AMP:
            raise Unread("a name in it is quoted in an unknown way")
        return NAME
    return token.text.upper()
