"""Finding commands: the arguments of a call are followed to every place that holds one."""

from __future__ import annotations

from shlex import quote
from typing import Any, Final

import msgspec

from stanchion.kernel.regex import regex
from stanchion.readings.commands.shapes import (
    LONE,
    Held,
    Where,
    given,
    is_lone,
    list_texts,
    spoken,
    words_behind,
)
from stanchion.readings.commands.words import (
    ANY,
    BEHIND_IT,
    BESIDE,
    CALLS,
    CODE,
    COMMAND,
    CONFIG,
    CONFIGURED,
    CONTENT,
    DECODERS,
    KEEPING,
    LANGUAGE,
    LANGUAGES,
    PAGE,
    PROGRAM,
    RUN,
    SAID_IN_WORDS,
    SPOKEN_CODE,
    STDIN_TEXT,
    ToolRunner,
    role_of,
)  # fmt: skip
from stanchion.readings.names import plain, words
from stanchion.readings.word_lists import Strings

DEEPEST: Final = 32
"""How deep arguments are followed; JSON in a text counts as one level more."""
LONGEST: Final = 65_536
"""A longer text is not read as JSON."""

MANY: Final = 64
"""How many commands are read of a text that tells something to run them."""
OPENING: Final = frozenset(["{", "[", " ", "\n", "\t", "\r"])
"""How a text begins that may be JSON."""
_SAYS: Final = regex(
    r'(?i)"[\w-]{0,32}(?:command|cmd|script|argv|shell|bash|exec|run|keystrokes|program|exe)'
    r'[\w-]{0,32}\\{0,32}"\s*:'
)


class Finder:
    """Follows the arguments of one call."""

    __slots__ = ("depths", "every", "found", "names", "runner")

    def __init__(self, runner: ToolRunner, names: Strings | None) -> None:
        self.runner = runner
        self.names = names
        self.found: list[Held] = []
        self.depths: set[int] = set()
        """How deep arguments stand that are named as ones that are run."""
        self.every = -1
        """How deep every text is run, whatever its argument is called."""

    def level(self, level: dict[str, Any], where: Where, depth: int) -> None:
        """Follow the arguments that stand beside each other."""
        begin = len(self.found)
        beside = 0
        for name, value in level.items():
            role = role_of(name)
            beside |= role
            runs = depth <= self.every or self._runs(name, role)
            if type(value) is str:
                if value:
                    self._text(name, value, where, role, runs, level, depth)
            elif type(value) is list or type(value) is tuple:
                self._list(name, value, where, role, runs, level, depth)
            elif type(value) is dict and depth < DEEPEST:
                self.level(value, (*where, name), depth + 1)
        if beside & BESIDE:
            self._beside(level, where, begin)
        if not self.runner.runs and len(self.found) > begin:
            self.found[begin:] = [one for one in self.found[begin:] if not is_lone(one.text)]

    def _runs(self, name: str, role: int) -> bool:
        """Whether the argument of a name holds what is run."""
        if self.names is not None:
            return name in self.names
        if self.runner.runs:
            return role & RUN != 0
        return role & (RUN if self.runner.language else COMMAND) != 0

    def _text(
        self,
        name: str,
        text: str,
        where: Where,
        role: int,
        runs: bool,
        level: dict[str, Any],
        depth: int,
    ) -> None:
        value = self._json(text, role, runs) if text[0] in OPENING and depth < DEEPEST else None
        if type(value) is dict:
            self.level(value, (*where, name), depth + 1)
        elif type(value) is list:
            self._list(name, value, where, role, runs, level, depth + 1)
        if value is not None and type(value) in (dict, list):
            return
        if runs:
            self.depths.add(len(where))
            self._hold(text, (*where, name), role, level)
            return
        if self.runner.evaluates or (role & (SPOKEN_CODE | CODE) and not self.runner.keeps):
            self._evaluate(name, text, where, level)
        if not self.runner.keeps and (role & CONFIG or self.runner.evaluates):
            self._configured(name, text, where)

    def _configured(self, name: str, text: str, where: Where) -> None:
        """Hold the commands that a text tells something to run: of a job, an image, a play."""
        if self.names is not None or plain(name) in SAID_IN_WORDS or len(text) > LONGEST:
            return
        for at, found in enumerate(CONFIGURED.finditer(text)):
            said = next(part for part in found.groups() if part)
            inner = said[1:-1] if said[0] == said[-1] and said[0] in "'\"" else said
            self.found.append(Held(inner, (*where, name), False))
            if at >= MANY:
                break

    def _json(self, text: str, role: int, runs: bool) -> Any:
        """What a text holds that is JSON; `None` where it is none, or of no interest."""
        if len(text) > LONGEST or text.lstrip()[:1] not in ("{", "["):
            return None
        if not runs and not self.runner.runs and (role & CONTENT or _SAYS.search(text) is None):
            return None
        try:
            return msgspec.json.decode(text.encode())
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return None

    def _list(
        self,
        name: str,
        value: Any,
        where: Where,
        role: int,
        runs: bool,
        level: dict[str, Any],
        depth: int,
    ) -> None:
        if runs and value and all(isinstance(item, str | int | float) for item in value):
            self.depths.add(len(where))
            given = tuple([item if type(item) is str else str(item) for item in value])
            if self.runner.language and not role & COMMAND:
                self._hold("\n".join(given), (*where, name), role | CODE, level)
                return
            self.found += [
                Held(text, (*where, name), self.runner.runs) for text in list_texts(name, given)
            ]
            return
        if depth >= DEEPEST:
            return
        inner = (*where, name)
        for at, item in enumerate(value):
            if type(item) is dict:
                self.level(item, (*inner, at), depth + 1)
            elif type(item) is list or type(item) is tuple:
                self._list(name, item, (*where, at), role, runs, level, depth + 1)
            elif type(item) is str and item:
                self._text(name, item, where, role, runs, level, depth + 1)

    def _evaluate(self, name: str, text: str, where: Where, level: dict[str, Any]) -> None:
        """Hold what plainly is code, of the language after which its argument is named."""
        if self.names is not None or plain(name) in SAID_IN_WORDS or CALLS.search(text) is None:
            return
        if not KEEPING.isdisjoint(words(name)):
            return
        said = sorted(LANGUAGES.keys() & words(name))
        own = LANGUAGES[said[0]] if said else self.runner.language or ANY
        language = _language(level, own)
        self.found += [
            Held(one, (*where, name), False, True)
            for one in spoken(text, language, False)
            if isinstance(one, tuple) or text[0] in "%!#"
        ]

    def _hold(self, text: str, where: Where, role: int, level: dict[str, Any]) -> None:
        language = self.runner.language
        if role & (CODE | COMMAND) or language:
            calls = role & (CODE | COMMAND) == CODE and "(" in text
            unsaid = ANY if calls else language
            language = _language(level, language if language else unsaid)
        if not language:
            shown = text[1:] if text[0] == "!" else text  # an alias, or a line of a cell
            self.found.append(Held(_decoded(shown, level), where, self.runner.runs))
        else:
            named = role & COMMAND != 0 and (language != PAGE or "(" not in text)
            self.found += [
                Held(one, where, False, isinstance(one, tuple))
                for one in spoken(text, language, named)
            ]

    def _beside(self, level: dict[str, Any], where: Where, begin: int) -> None:
        """Read a command together with the words behind it and with what it is given."""
        programs = [
            (name, value) for name, value in level.items() if type(value) is str and value.strip()
        ]
        own = [
            pair
            for pair in programs
            if 0 < role_of(pair[0]) & (COMMAND | PROGRAM | BEHIND_IT) < BEHIND_IT
            or self._holds(pair[0])
        ]
        behind = [
            word
            for name, value in level.items()
            if role_of(name) & BEHIND_IT
            for word in words_behind(value)
        ]
        stdin = [value for name, value in programs if role_of(name) & STDIN_TEXT]
        for name, value in own:
            joined = " ".join([value, *behind])
            if behind:
                self.found.append(Held(joined, (*where, name), False))
                if LONE.fullmatch(value) is not None:
                    self.found[begin:] = [one for one in self.found[begin:] if one.text != value]
            self.found += [
                Held(given(joined, text), (*where, name), False)
                for text in stdin
                if text is not value
            ]

    def _holds(self, name: str) -> bool:
        """Whether a name that says nothing holds what is run: where every text does, and where a
        policy names it."""
        return (self.every >= 0 and not role_of(name) & BESIDE) or (
            self.names is not None and name in self.names
        )


def _decoded(text: str, level: dict[str, Any]) -> str:
    """A text as a shell would be told to decode and run it, where an argument says how it is
    encoded."""
    for name, value in level.items():
        if role_of(name) & LANGUAGE and type(value) is str and value.lower() in DECODERS:
            return f"printf %s {quote(text)} | {DECODERS[value.lower()]} | sh"
    return text


def _language(level: dict[str, Any], own: Strings) -> Strings:
    """How the language is run that an argument says; the tool's own where none does."""
    for name, value in level.items():
        if role_of(name) & LANGUAGE and type(value) is str:
            first = value.rpartition("/")[2].lower().partition(" ")[0]
            said = first.partition("-")[0].rstrip("0123456789.")
            if said in LANGUAGES:
                return LANGUAGES[said]
            if said in ("bash", "sh", "shell", "zsh"):
                return ()
    return own
