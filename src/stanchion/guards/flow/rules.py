"""The rules: what of a call, a request or an answer is a question for a person.

A call is judged by where its values come from, once something was read that others may have
written. The rules are tried in this order, and what the first two find is one question:

1. What it acts on (`sink`), and the page that a browser tool acts on.
2. What it hands over (`payload`): addresses that stand in what was read, a piece of a text word
   for word; of what lasts, every amount, key or role that stands nowhere else.
3. That it acts at all (`unasked`), where nothing says whom or what on.
4. That it carries away what was read (`read_out`), in an address or an id.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple
from urllib.parse import unquote_plus

from stanchion.guards.flow.commands import CommandAddress
from stanchion.guards.flow.memory import ProvenanceMemory
from stanchion.guards.flow.tools import (
    LASTING,
    PAGE,
    FlowTool,
    leaves,
    payload_of,
    sinks_of,
)
from stanchion.kernel.declared import ELEMENT, READ
from stanchion.kernel.regex import regex
from stanchion.readings.origins.known import NOWHERE, ValueOrigin
from stanchion.readings.origins.marks import (
    NAMING,
    Spelled,
    link_mark,
    pairs_of,
    says,
    spell,
    whole_of,
    words_of,
)
from stanchion.readings.origins.values import LINK, split_link, values
from stanchion.readings.origins.words import stem_marks

GOOD: Final = frozenset({"granted", "user", "me", "own", "named", "directory"})
"""Where what an outward call acts on may come from."""
SURE: Final = GOOD - {"directory"}
"""Where it may come from in a call that lasts."""
FEW_WORDS: Final = 3
"""Up to how many words an amount, a key or a role has."""
SENTENCE: Final = 3
LONGEST: Final = 60
"""How many words a text has that may be dictated."""
PLAIN: Final = frozenset({"0", "1", "true", "false"})
LEAST: Final = 4
"""From how many letters on a piece of an address tells something."""
PIECES: Final = regex(r"[/&=?;,|#+:_.~-]+|%20")
USUAL: Final = """
    api app apps archive assets bin blob browse cgi csv dav doc docs document documents download
    downloads file files git htm html images img index json latest main master md media page pages
    pdf php public raw release releases remote resolve rest static tar tree txt v1 v2 v3 v4 webdav
    wiki www xml yaml yml zip
"""
"""Words that are usual in addresses, and tell nothing."""
PARTS: Final = regex(r"[-_.:|]+")


class DoubtfulValue(NamedTuple):
    """One value that is asked about: its parameter, and where it comes from."""

    parameter: str
    value: str
    origin: ValueOrigin


class FlowQuestion(NamedTuple):
    """What is asked about a call: by which rule, and about which values."""

    rule: str
    doubts: tuple[DoubtfulValue, ...] = ()


def check(
    memory: ProvenanceMemory,
    tool: FlowTool,
    args: Any,
    granted: frozenset[str],
    follow: bool,
    addresses: tuple[CommandAddress, ...] = (),
) -> FlowQuestion | None:
    """What is to be asked about a call; nothing where it may go ahead. `granted` are the arguments
    whose values a mandate names, `follow` says that links may be followed as they stand,
    `addresses` where its commands go."""
    if not memory.known.opened:
        return None
    if tool.runs:
        return _reached(memory, tool, addresses, follow)
    if not tool.acts:
        return carried(memory, tool, args, follow) if tool.effect == READ else None
    sinks = _sinks(memory, tool, args, granted)
    doubts = (*sinks, *_payload(memory, tool, args, granted))
    if doubts:
        return FlowQuestion("sink" if sinks else "payload", doubts)
    return _unasked(memory, tool, args)


def _sinks(
    memory: ProvenanceMemory, tool: FlowTool, args: Any, granted: frozenset[str]
) -> tuple[DoubtfulValue, ...]:
    good = SURE if tool.effect in LASTING else GOOD
    found = []
    for name, text in sinks_of(tool, args):
        origin = memory.origin(tool.name, spell(text))
        if name not in granted and not _is_good(memory, tool, origin, good):
            found.append(DoubtfulValue(name, text, origin))
    seen = args.get(ELEMENT) if isinstance(args, dict) else None
    if isinstance(seen, dict) and "unknown" in leaves(seen.get("role")):
        found.append(DoubtfulValue("the element", "", NOWHERE))
    if PAGE in tool.sinks:
        page = memory.known.page
        if page is not None and page.word not in good and not memory.approved(tool.name):
            found.append(DoubtfulValue("the page", "", page))
    return tuple(found)


def _reached(
    memory: ProvenanceMemory, tool: FlowTool, addresses: tuple[CommandAddress, ...], follow: bool
) -> FlowQuestion | None:
    """Where commands go, if only a text that was read has that, and what an address carries."""
    found, out = [], []
    for url, only_fetches in addresses:
        if memory.approved(tool.name, spell(url)):
            continue
        origin = request_origin(memory, url, follow and only_fetches)
        if origin is not None:
            found.append(DoubtfulValue("the command", url, origin))
        elif (where := leads_away(memory, url)) is not None:
            out.append(DoubtfulValue("the command", url, where))
    if found:
        return FlowQuestion("sink", tuple(found))
    return FlowQuestion("read_out", tuple(out)) if out else None


def _is_good(
    memory: ProvenanceMemory, tool: FlowTool, origin: ValueOrigin, good: frozenset[str]
) -> bool:
    known = memory.known
    if origin.word == "nowhere" and not (known.spoke and known.instructed):
        return True  # no text can have led to it, or the user, whose words nobody has told the run
    return origin.word in good and not (origin.forged and tool.effect in LASTING)


def _payload(
    memory: ProvenanceMemory, tool: FlowTool, args: Any, granted: frozenset[str]
) -> tuple[DoubtfulValue, ...]:
    found = []
    for name, text in payload_of(tool, args):
        if name in granted:
            continue
        found += [
            DoubtfulValue(name, value, origin) for value, origin in _addresses(memory, tool, text)
        ]
        if _is_dictated(memory, text) and not memory.approved(tool.name, spell(text)):
            found.append(DoubtfulValue(name, text, memory.known.place_of(words_of(text))))
        if tool.effect in LASTING and _is_order(text):
            spelled = spell(text)
            origin = _of_order(memory, tool, spelled)
            if origin.word == "content":
                found.append(DoubtfulValue(name, text, origin))
    return tuple(found)


def _is_dictated(memory: ProvenanceMemory, text: str) -> bool:
    """Whether a text that is handed over stands word for word inside of one that was read, and the
    user does not say it. To hand on the whole of a field is no dictation."""
    known, words = memory.known, words_of(text)
    return (
        SENTENCE <= len(words) <= LONGEST
        and says(words, known.read.texts, known.read.pairs)
        and not all(pair in known.said.pairs for pair in pairs_of(words))
        and whole_of(words) not in known.read.wholes
    )


def _addresses(
    memory: ProvenanceMemory, tool: FlowTool, text: str
) -> Iterator[tuple[str, ValueOrigin]]:
    """The addresses in a text that only texts have which were read, or that carry something."""
    if "." not in text and "@" not in text:
        return
    links = LINK.findall(text) if "://" in text or "www." in text else []
    for url in links:
        where = leads_away(memory, url)
        if where is not None:
            yield url, where
    for value in values(text):
        if value.kind in NAMING:
            spelled = spell(value.text)
            origin = memory.origin(tool.name, spelled)
            if origin.word == "content" and spelled.has_parts_in(memory.known.read.texts):
                yield value.text, origin


def _is_order(text: str) -> bool:
    """Whether a value of a call may be an amount, a key, a role, and is no text."""
    return text not in PLAIN and text.count(" ") < FEW_WORDS


def _of_order(memory: ProvenanceMemory, tool: FlowTool, value: Spelled) -> ValueOrigin:
    if value.is_said(memory.known.said.texts, memory.known.said.pairs):
        return ValueOrigin("user")
    return memory.origin(tool.name, value)


def _unasked(memory: ProvenanceMemory, tool: FlowTool, args: Any) -> FlowQuestion | None:
    """An acting call that says nothing of whom or what it acts on, where the user's words do not
    speak of it."""
    if tool.sinks and (PAGE in tool.sinks or next(sinks_of(tool, args), None) is not None):
        return None
    if memory.approved(tool.name) or not memory.known.spoke:
        return None
    if any(mark in memory.known.said.texts for mark in stem_marks(tool.stems)):
        return None
    return FlowQuestion("unasked")


def carried(
    memory: ProvenanceMemory, tool: FlowTool, args: Any, follow: bool
) -> FlowQuestion | None:
    """A read that carries something away: an address with what was read in it, an id that is put
    together from such pieces."""
    found = []
    for name, text in _named_texts(args):
        for url in LINK.findall(text) if "://" in text or "www." in text else ():
            where = leads_away(memory, url)
            if where is None and not follow:
                where = _unfollowed(memory, tool, url)
            if where is not None and not memory.approved(tool.name, spell(url)):
                found.append(DoubtfulValue(name, url, where))
    if not tool.drafted:
        for name, text in sinks_of(tool, args):
            spelled = spell(text)
            if "/" not in text and _is_composed(memory, text, spelled):
                found.append(DoubtfulValue(name, text, NOWHERE))
    return FlowQuestion("read_out", tuple(found)) if found else None


def _named_texts(args: Any) -> Iterator[tuple[str, str]]:
    for name, value in args.items() if isinstance(args, dict) else ():
        for text in leaves(value):
            yield str(name), text


def _unfollowed(memory: ProvenanceMemory, tool: FlowTool, url: str) -> ValueOrigin | None:
    origin = memory.origin(tool.name, spell(url))
    return None if origin.word in GOOD else origin


def leads_away(memory: ProvenanceMemory, url: str) -> ValueOrigin | None:
    """Where something comes from that an address carries to a host which nobody gave; nothing for
    one that tells its keeper nothing new."""
    known, (host, _) = memory.known, split_link(url)
    if _is_followed(memory, url):
        return None
    origin = known.origin(spell(host)) if host else NOWHERE
    if not host or origin.word in GOOD or _hosts_user(memory, host):
        return None
    rest = url.partition("://")[2] or url
    if "?" in rest or "#" in rest:
        return NOWHERE
    if origin.word in ("content", "other record") and rest.partition("/")[2].strip("/"):
        return origin  # another address than the one that was read there
    texts = [rest.partition("/")[2], " ".join(host.split(".")[:-2])]
    for piece in [each for text in texts for each in PIECES.split(text)]:
        plain = unquote_plus(piece).strip()
        if len(plain) >= LEAST:
            origin = known.read_in(spell(plain))
            if origin.word == "content" or known.origin(spell(plain)).word != "nowhere":
                return origin
    return None


def _is_followed(memory: ProvenanceMemory, url: str) -> bool:
    """Whether an address was read or said just as it is, or is put together from what a file has
    that the user named, which names its host, and from words that are usual in addresses: who
    wrote the file could have written the address. Of a page or a list that cannot be said."""
    known, mark, (host, path) = memory.known, link_mark(url), split_link(url)
    if mark in known.said.links or mark in known.read.links:
        return True
    spelled, authority = spell(host), (url.partition("://")[2] or url).partition("/")[0]
    result = known.origin(spelled).result
    if result not in known.files or "?" in url or "#" in url:
        return False
    told = words_of(PIECES.sub(" ", f"{authority.rpartition('@')[0]} {path}"))
    first = known.read.texts.get
    return spelled.has_parts_in(known.read.texts) and all(
        word in _usual() or first(word) == result for word in told
    )


@cache
def _usual() -> frozenset[int]:
    return frozenset(words_of(USUAL))


def _hosts_user(memory: ProvenanceMemory, host: str) -> bool:
    """Whether the user has given an address at a host."""
    return spell(host).has_parts_in(memory.known.said.texts)


def _is_composed(memory: ProvenanceMemory, text: str, spelled: Spelled) -> bool:
    """Whether an id stands nowhere and is put together from pieces of which one was read."""
    pieces = [piece for piece in PARTS.split(text) if len(piece) >= LEAST]
    if len(pieces) < 2 or memory.known.origin(spelled).word != "nowhere":
        return False
    return any(memory.known.origin(spell(piece)).word != "nowhere" for piece in pieces)


def request(memory: ProvenanceMemory, url: str, method: str, follow: bool) -> FlowQuestion | None:
    """What is to be asked about a request that is about to leave: where it goes, if only a text
    that was read has that, and what it carries."""
    if not memory.known.opened:
        return None
    where = leads_away(memory, url)
    if where is not None:
        return FlowQuestion("read_out", (DoubtfulValue("url", url, where),))
    origin = request_origin(memory, url, follow and method in ("GET", "HEAD"))
    return None if origin is None else FlowQuestion("sink", (DoubtfulValue("url", url, origin),))


def request_origin(memory: ProvenanceMemory, url: str, follow: bool) -> ValueOrigin | None:
    """Where the host of an address comes from, if the user has nothing to do with it; an address
    that was read may be followed as it stands."""
    known = memory.known
    if follow and _is_followed(memory, url):
        return None
    host = split_link(url)[0]
    origin = known.origin(spell(host)) if host else NOWHERE
    if origin.word not in ("content", "other record") or _hosts_user(memory, host):
        return None
    return origin


def links_in(memory: ProvenanceMemory, text: str) -> list[tuple[int, int, ValueOrigin]]:
    """The addresses in an answer that would carry away what was read: beginning, end, of what."""
    if not memory.known.opened or ("://" not in text and "www." not in text):
        return []
    found = []
    for link in LINK.finditer(text):
        url = link.group().rstrip(".,;:!?")
        where = leads_away(memory, url)
        if where is not None:
            found.append((link.start(), link.start() + len(url), where))
    return found
