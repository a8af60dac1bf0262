"""Tools: what a tool does, whom or what it acts on, and how its results are to be read: as it is
declared, or as it seems by its names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from stanchion.kernel.declared import (
    CONTENT,
    EFFECTS,
    ELEMENT,
    READ,
    Declared,
    ToolKnown,
    effect_of,
    element_effect,
    strictest,
)
from stanchion.kernel.regex import regex
from stanchion.readings import names
from stanchion.readings.commands.words import runner_of
from stanchion.readings.drafting import draft
from stanchion.readings.origins.facts import ResultShape, address_of, text_of
from stanchion.readings.origins.marks import spell
from stanchion.readings.origins.words import stems_of

OUTWARD: Final = "outward"
LASTING: Final = frozenset({"irreversible", "privilege"})
ASKED: Final = LASTING | {OUTWARD}
"""Effects that others feel."""
PAGE: Final = "@page"
"""The sink of a tool that acts on the page that a browser shows."""
NAMES_ELEMENT: Final = frozenset({"target", "ref", "element", "startTarget", "endTarget"})
"""Arguments that name an element of a page: where the host says what that is, they are nothing
that is handed over."""
MOST: Final = 400
DEEPEST: Final = 24
"""How many values of a call are looked at, and how deep."""
BEYOND: Final = "… and more than can be looked at"
AROUND: Final = regex(r"[\s,;<>|\"'()\[\]]+")
"""What parts the addresses in one text."""


_ANY: Final[dict[str, Any]] = {}


class FlowTool(NamedTuple):
    """One tool as it is understood. `drafted` says that nobody declares it, `result` is what its
    results count as, `runs` that it runs commands or code: then these say what a call does."""

    name: str
    effect: str
    sinks: tuple[str, ...]
    result: str
    shape: ResultShape
    drafted: bool
    runs: bool

    @property
    def acts(self) -> bool:
        """Whether it does something that others feel."""
        return self.effect in ASKED

    @property
    def makes(self) -> bool:
        """Whether its results name what it has made."""
        return self.effect != READ and self.result == "records" and not self.drafted

    @property
    def opens(self) -> bool:
        """Whether it opens a page for a browser: the page is what acting tools act on."""
        return self.effect == READ and any(is_address(sink) for sink in self.sinks)

    @property
    def failed(self) -> FlowTool:
        """The tool where it says why it failed: whatever the form of that, it is a text."""
        return self._replace(shape=self.shape._replace(records=False), result=CONTENT)

    def called(self, args: Any) -> FlowTool:
        """The tool as a call uses it: of one that nobody declares, the names of the arguments say
        whom or what it acts on."""
        effect = element_effect(args)
        if effect:
            return self._replace(effect=strictest(EFFECTS, (self.effect, effect)))
        if not self.drafted or self.sinks or self.runs or not isinstance(args, dict):
            return self
        named = draft(self.name, {"properties": dict.fromkeys(map(str, args), _ANY)})
        return self._replace(
            effect=strictest(EFFECTS, (self.effect, named.effect)), sinks=named.sinks
        )

    @property
    def stems(self) -> frozenset[str]:
        """The stems of the words of its name."""
        return stems_of(list(names.words(self.name)))


def is_address(name: str) -> bool:
    """Whether an argument is called as one that holds an address of the web."""
    return names.words(name)[-1:] in (("url",), ("uri",), ("link",), ("href",), ("address",))


def understood(
    name: str, known: ToolKnown, identity: tuple[str, ...], schema: Any = None, about: Any = ""
) -> FlowTool:
    """A tool by what is declared of it; by its names where nothing is."""
    runs = runner_of(name).runs
    effect = effect_of(known.traits)
    drafted = not effect
    if effect or known.sinks:
        declared = Declared(None, effect or OUTWARD, None, known.sinks)
    else:
        offered: Mapping[str, Any] | None = schema if isinstance(schema, Mapping) else None
        said = about.get("description") if isinstance(about, Mapping) else about
        declared = draft(name, offered, said if isinstance(said, str) else "")
    effect = declared.effect or OUTWARD
    result = known.result or declared.result or ""
    # What an acting tool says of what it did is no record, unless somebody declares that it is.
    gives = result != CONTENT and (effect == READ or bool(known.result or known.records))
    fields = known.identity_fields if known.identity_fields else identity
    is_declared = known.result == "records" or bool(known.records)
    shape = ResultShape(gives and not runs, known.records or "", fields, is_declared)
    # What a query does, `sql` judges, as `shell` and `python` judge commands and code.
    runs = (runs or (drafted and "sql" in names.words(name))) and not declared.sinks
    return FlowTool(name, effect, declared.sinks, result, shape, drafted, runs)


def sinks_of(tool: FlowTool, args: Any) -> Iterator[tuple[str, str]]:
    """Whom or what a call acts on: each value with its parameter."""
    for sink in tool.sinks:
        if sink == PAGE:
            continue
        value = args
        for part in sink.split("."):
            if not isinstance(value, dict):
                break  # whatever stands there instead is what the call acts on
            value = value.get(part)
        for text in leaves(value):
            for piece in pieces(text):
                yield sink, piece


def payload_of(tool: FlowTool, args: Any) -> Iterator[tuple[str, str]]:
    """What a call hands over beside whom or what it acts on."""
    sinks = frozenset(tool.sinks)
    sinks |= NAMES_ELEMENT if isinstance(args, dict) and ELEMENT in args else frozenset()
    for name, value in args.items() if isinstance(args, dict) else ():
        if name == ELEMENT:
            value = value.get("text") if isinstance(value, dict) else value
        if name not in sinks:
            for text in leaves(value):
                yield str(name), text


def pieces(text: str) -> list[str]:
    """What a text names: the address of `Name <address>`; each word where one of them is an
    address, because all of them count; else the whole."""
    address = address_of(text)
    if address:
        return [address]
    words = AROUND.split(text.strip())
    if len(words) > 1 and any(spell(word).names_somebody for word in words):
        return [word for word in words if word]
    return [text]


def leaves(value: Any) -> Iterable[str]:
    """The values in an argument as texts, in order, and the names in it under which somebody could
    be reached. What lies behind the bounds stands as one value that nothing has."""
    found: list[str] = []
    _collect(value, found, 0)
    return found


def _collect(value: Any, found: list[str], depth: int) -> None:
    if len(found) >= MOST or depth > DEEPEST:
        if found[-1:] != [BEYOND]:
            found.append(BEYOND)
        return
    if isinstance(value, str):
        if value and not value.isspace():
            found.append(value)
    elif isinstance(value, dict):
        found += [str(name) for name in value if spell(str(name)).names_somebody]
        for each in value.values():
            _collect(each, found, depth + 1)
    elif isinstance(value, list | tuple):
        for each in value:
            _collect(each, found, depth + 1)
    elif value is not None and not isinstance(value, bool):
        found.append(text_of(value))
