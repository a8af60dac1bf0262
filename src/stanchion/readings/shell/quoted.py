"""Reading words: quotes, escapes, expansions and substitutions, at one place of a text."""

from __future__ import annotations

import re
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.shell.outputs import unescape
from stanchion.readings.shell.tree import (
    Meter,
    OutputPart,
    Param,
    Part,
    Script,
    StreamPart,
    SumPart,
    TextPart,
    Word,
)

PLAIN: Final = regex(r"[^\s\\'\"$`|&;<>()]+")
DOUBLE: Final = regex(r'[^"\\$`]+')
BODY: Final = regex(r"[^\\$`]+")
BRACED: Final = regex(r"[^\\'\"$`}]+")
SUBSCRIPT: Final = regex(r"[^\\'\"$`\]]+")
SUMMED: Final = regex(r"[^\\'\"$`()]+")
BRACKETED: Final = regex(r"[^\\'\"$`\[\]]+")
NAME: Final = regex(r"[A-Za-z_]\w*", re.ASCII)
PARAM: Final = regex(r"[A-Za-z_]\w*|\d+|[@*#?$!-]", re.ASCII)
SHORT: Final = regex(r"[A-Za-z_]\w*|[0-9@*#?$!-]", re.ASCII)
OPERATOR: Final = regex(r":[-=+?]|[-=+?]|##?|%%?|/[/#%]?|\^\^?|,,?|~~?|@|:")
LIVE: Final = frozenset("*?[{~")
"""Characters that make a plain word special."""


class WordReader:
    """Reads words from a text; what it stumbles over is kept as `broken`, and reading goes on."""

    def __init__(self, text: str, meter: Meter) -> None:
        self.text = text
        self.end = len(text)
        self.at = 0
        self.meter = meter
        self.broken = ""
        self.no_sums: set[int] = set()

    def blame(self, why: str) -> None:
        """Remember the first thing that no shell would accept."""
        if not self.broken:
            self.broken = why

    def script_until(self, stop: str) -> Script:
        """The script up to a closing character, which is passed; given by the reader of
        commands."""
        raise NotImplementedError

    def read_inner(self, text: str) -> Script:
        """The script of a text that stood in backquotes; given by the reader of commands."""
        raise NotImplementedError

    def word(self) -> Word | None:
        """The word that begins here; None where none does."""
        text, at = self.text, self.at
        found = PLAIN.match(text, at)
        if found is not None:
            at = found.end()
            if at == self.end or text[at] in " \t\n;|&":
                self.at = at
                self.meter.steps += 1
                plain = found.group()
                return plain if LIVE.isdisjoint(plain) else [TextPart(plain)]
        elif at < self.end and text[at] in "<>" and text.startswith("(", at + 1):
            pass
        elif at >= self.end or text[at] in " \t\r\n;|&<>()":
            return None
        self.meter.step()
        return self._parts()

    def _parts(self) -> Word | None:
        parts: list[Part] = []
        text = self.text
        while self.at < self.end:
            found = PLAIN.match(text, self.at)
            if found is not None:
                self.at = found.end()
                parts.append(TextPart(found.group()))
                continue
            char = text[self.at]
            if char in "<>" and text.startswith("(", self.at + 1):
                self.at += 2
                parts.append(StreamPart(self.script_until(")"), into=char == ">"))
            elif char == "(" and parts and self._is_pattern(parts[-1]):
                parts.append(TextPart(self._pattern()))
            elif not self._special(char, parts, False):
                break
        return parts

    @staticmethod
    def _is_pattern(last: Part) -> bool:
        return (
            isinstance(last, TextPart)
            and not last.quoted
            and last.text[-1:] in ("@", "!", "+", "?", "*")
        )

    def _pattern(self) -> str:
        """An extended pattern's alternatives in parentheses, as they stand."""
        begin, depth = self.at, 0
        while self.at < self.end:
            char = self.text[self.at]
            self.at += 1
            self.meter.step()
            depth += (char == "(") - (char == ")")
            if not depth:
                return self.text[begin : self.at]
        self.blame("a parenthesis is not closed")
        return self.text[begin:]

    def _special(self, char: str, parts: list[Part], quoted: bool) -> bool:
        """Read what begins with a quote, a backslash or a dollar sign; False where something else
        stands."""
        self.meter.step()
        if char == "\\":
            self._escape(parts)
        elif char == "'":
            self.at += 1
            close = self.text.find("'", self.at)
            if close < 0:
                self.blame("a quote is not closed")
                close = self.end
            parts.append(TextPart(self.text[self.at : close], True))
            self.at = close + 1
        elif char == '"':
            self.at += 1
            before = len(parts)
            self.quoted(parts, '"', DOUBLE)
            if len(parts) == before:
                parts.append(TextPart("", True))
        elif char == "$":
            self._dollar(parts, quoted)
        elif char == "`":
            self._backquote(parts, quoted)
        else:
            return False
        return True

    def _escape(self, parts: list[Part]) -> None:
        if self.text.startswith("\\\n", self.at):
            self.at += 2
            parts.append(TextPart(""))
        else:
            parts.append(TextPart(self.text[self.at + 1 : self.at + 2], True))
            self.at += 2

    def quoted(self, parts: list[Part], close: str, plain: re.Pattern[str]) -> None:
        """Read up to the closing character as double quotes do; an empty `close` reads to the
        end."""
        text = self.text
        while self.at < self.end:
            self.meter.step()
            found = plain.match(text, self.at)
            if found is not None:
                parts.append(TextPart(found.group(), True))
                self.at = found.end()
                continue
            char = text[self.at]
            if char == close:
                self.at += 1
                return
            if char == "\\":
                after = text[self.at + 1 : self.at + 2]
                if after == "\n":
                    pass
                elif after and after in '$`"\\' and (after != '"' or close):
                    parts.append(TextPart(after, True))
                else:
                    parts.append(TextPart("\\" + after, True))
                self.at += 2
            elif char == "$":
                self._dollar(parts, True)
            elif char == "`":
                self._backquote(parts, True)
            else:
                parts.append(TextPart(char, True))
                self.at += 1
        if close:
            self.blame("a quote is not closed")

    def _dollar(self, parts: list[Part], quoted: bool) -> None:
        text, at = self.text, self.at
        after = text[at + 1 : at + 2]
        if after == "(":
            if text.startswith("(", at + 2) and self._sum(parts, quoted):
                return
            self.at = at + 2
            parts.append(OutputPart(self.script_until(")"), quoted))
        elif after == "{":
            self.at = at + 2
            self._braced(parts, quoted)
        elif after == "[":
            self.at = at + 2
            parts.append(SumPart(self._until("]", BRACKETED, "["), quoted))
        elif after == "'" and not quoted:
            self._ansi(parts)
        elif after == '"' and not quoted:
            self.at = at + 1
        elif (found := SHORT.match(text, at + 1)) is not None:
            self.at = found.end()
            parts.append(Param(found.group(), quoted))
        else:
            self.at = at + 1
            parts.append(TextPart("$", True))

    def _ansi(self, parts: list[Part]) -> None:
        """`$'…'`."""
        begin = at = self.at + 2
        text = self.text
        while at < self.end and text[at] != "'":
            self.meter.step()
            at += 2 if text[at] == "\\" else 1
        if at >= self.end:
            self.blame("a quote is not closed")
        parts.append(TextPart(unescape(text[begin:at]), True))
        self.at = at + 1

    def _sum(self, parts: list[Part], quoted: bool) -> bool:
        """`$((…))`; False where it turns out to be a command in two pairs of parentheses."""
        begin, broken = self.at, self.broken
        if begin in self.no_sums:
            return False
        self.at += 3
        inner = self._until(")", SUMMED, "(")
        if self.text.startswith(")", self.at):
            self.at += 1
            parts.append(SumPart(inner, quoted))
            return True
        self.at, self.broken = begin, broken
        self.no_sums.add(begin)
        return False

    def _until(self, close: str, plain: re.Pattern[str], opens: str = "") -> Word:
        """The parts up to a closing character, which is passed; `opens` nests."""
        parts: list[Part] = []
        depth = 0
        self.meter.down()
        while self.at < self.end:
            found = plain.match(self.text, self.at)
            if found is not None:
                self.meter.step()
                parts.append(TextPart(found.group()))
                self.at = found.end()
                continue
            char = self.text[self.at]
            if char == close and not depth:
                self.at += 1
                self.meter.up()
                return parts
            if opens and char in (opens, close):
                self.meter.step()
                depth += 1 if char == opens else -1
                parts.append(TextPart(char))
                self.at += 1
            elif not self._special(char, parts, False):
                parts.append(TextPart(char))
                self.at += 1
        self.blame(f"`{close}` is missing")
        self.meter.up()
        return parts

    def _braced(self, parts: list[Part], quoted: bool) -> None:
        """`${…}`."""
        text, mark = self.text, ""
        char = text[self.at : self.at + 1]
        if char and char in "!#" and (named := PARAM.match(text, self.at + 1)) is not None:
            rest = text[named.end() : named.end() + 1]
            if char == "!" or rest in ("}", "["):
                mark = char
                self.at += 1
        found = PARAM.match(text, self.at)
        if found is None:
            self._until("}", BRACED)
            self.blame("an expansion has no name")
            parts.append(Param("", quoted))
            return
        self.at = found.end()
        index: Word | None = None
        if text.startswith("[", self.at):
            self.at += 1
            index = self._until("]", SUBSCRIPT)
        op, arg = "", None
        if (operator := OPERATOR.match(text, self.at)) is not None:
            op = operator.group()
            self.at = operator.end()
            arg = self._until("}", BRACED)
        elif text.startswith("}", self.at):
            self.at += 1
        elif text.startswith(("*}", "@}"), self.at):
            op = text[self.at]
            self.at += 2
        else:
            self._until("}", BRACED)
            self.blame("an expansion is malformed")
        parts.append(Param(found.group(), quoted, mark, index, op, arg))

    def _backquote(self, parts: list[Part], quoted: bool) -> None:
        text, at = self.text, self.at + 1
        inner: list[str] = []
        while at < self.end and text[at] != "`":
            self.meter.step()
            after = text[at + 1 : at + 2]
            if text[at] == "\\" and after and after in ('$`\\"' if quoted else "$`\\"):
                inner.append(after)
                at += 2
            else:
                inner.append(text[at])
                at += 1
        if at >= self.end:
            self.blame("a backquote is not closed")
        self.at = at + 1
        parts.append(OutputPart(self.read_inner("".join(inner)), quoted))
