"""Reading: a value as content, all of it or a reason why not, and content that was changed as a
value again."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import Any, Final

import msgspec

from stanchion.runtime.values.anatomy import MISSING, descends, is_any
from stanchion.runtime.values.binary_text import (
    DIGESTED,
    MAX_CHARS,
    declared,
    encodable,
    in_letters,
    in_letters_again,
    spelled_out,
    unspelled,
)
from stanchion.runtime.values.containers import MAX_VALUES, RESERVED, is_name
from stanchion.runtime.values.form_of import ENUM, form_of
from stanchion.runtime.values.scalars import LARGE
from stanchion.runtime.values.type_readers import (
    UNORDERED,
    Form,
    Seen,
    Unreadable,
    UnreadPart,
    ValueLeaf,
)

MAX_DEPTH: Final = 100
"""How deep a value may be nested: what guards cannot be shown as a whole is refused as a whole."""
TOO_DEEP: Final = f"it is nested deeper than {MAX_DEPTH} levels, or holds itself"
TOO_MANY: Final = f"it has more than {MAX_VALUES:,} values"

_encode = msgspec.json.Encoder(order="deterministic").encode


class Read(msgspec.Struct, frozen=True):
    """What a value says: its content as JSON-like data, and what goes on in its place.

    `parts` are what could not be read; `seen` is how much of them is in the content at
    least. `plain` says that the value was such data already, and `chars` how long it is, where that
    is known: as `room_left` measures it.
    """

    content: Any
    handed: Any
    parts: tuple[UnreadPart, ...] = ()
    seen: Seen = Seen.WHOLE
    plain: bool = True
    chars: int = -1

    @property
    def unread(self) -> tuple[str, ...]:
        """What could not be read, and where, in words."""
        return tuple([part.words for part in self.parts])


def read(value: Any) -> Read:
    """Read a value that is handed on as it is, where it can be trusted to be what it says."""
    if type(value) is str and value.isascii():
        size = len(value)
        if size < 64 or (size <= MAX_CHARS and not in_letters(value)):
            return Read(value, value, chars=size)
    return _ValueReader(copies=False).whole(value)


def taken(value: Any) -> Read:
    """Read a value and take it: what goes on is a copy wherever somebody could still change it."""
    return _ValueReader(copies=True).whole(value)


def arguments(values: dict[str, Any], own: Collection[str] = (), copies: bool = True) -> Read:
    """Take the arguments of a call. Those that are `own` come from the host: they go on as they
    are, and are no content where they cannot be read. A host that runs the call itself keeps its
    own values (`copies`)."""
    chars = 0
    each: Iterable[Any] = values.values() if type(values) is dict else (values,)
    for value in each:
        kind = type(value)
        if kind is str:
            chars += len(value)
            if not value.isascii() or (len(value) >= 64 and in_letters(value)):
                break
        elif (
            value is not None and kind is not bool and not (kind is int and -LARGE < value < LARGE)
        ):
            break
    else:
        size = chars + len(values)
        for name in values:
            if type(name) is not str or name in RESERVED or not (name.isascii() or encodable(name)):
                break
            size += len(name)
        else:
            if chars <= MAX_CHARS:
                return Read(dict(values), values, chars=size)
    return _ValueReader(copies, frozenset(own)).whole(values)


def project(value: Any) -> Any:
    """A value as JSON-like data. What has no such form is named by its type, never by a repr that
    could leak."""
    return _ValueReader(copies=False).whole(value).content


class RemoteValue(dict[str, Any]):
    """A value that was read in another process: what was read of it there stands for it, or why it
    could not be. A mapping, because arguments are; it is empty, and nobody looks into it."""

    def __init__(self, said: Read | Unreadable) -> None:
        super().__init__()
        self.said = said


class _ValueReader(msgspec.Struct, eq=False):
    """One reading: how much more it may read, where it is, and what it could not read."""

    copies: bool
    quiet: frozenset[str] = frozenset()
    """Names of the outermost parts that are no content where they cannot be read."""
    _values: int = MAX_VALUES
    _chars: int = MAX_CHARS
    _path: list[str | int] = []
    _unread: list[UnreadPart] = []
    _seen: Seen = Seen.WHOLE
    _plain: bool = True

    def whole(self, value: Any) -> Read:
        content, handed = self._take(value, 0)
        return Read(content, handed, tuple(self._unread), self._seen, self._plain)

    def _take(self, value: Any, depth: int) -> tuple[Any, Any]:
        """A value's content, and what goes on in its place."""
        kind = type(value)
        if kind is str:
            self._chars -= len(value)
            if self._chars < 0:
                raise Unreadable(f"it has more than {MAX_CHARS:,} characters")
            what = in_letters(value) if len(value) >= 64 else ""
            if what:
                self._note(what, Seen.SPELLED)
            return (value if value.isascii() or encodable(value) else self._spelled(value)), value
        if value is None or kind is bool or (kind is int and -LARGE < value < LARGE):
            return value, value
        if kind is float and math.isfinite(value):
            return value, value
        if depth >= MAX_DEPTH:
            raise Unreadable(TOO_DEEP)
        if kind is list or (kind is dict and not (self.quiet and not depth)):
            known = self._parts(value, depth)
            if known is not None:
                return known
        if kind is ValueLeaf:
            return self._leaf(value)[0], value
        if kind is RemoteValue:
            return self._told(value)
        self._plain = self._plain and (kind is dict or kind is list)
        form = form_of(value)
        if form.leaf is None:
            return self._group(value, form, depth)
        content, handed = self._leaf(form.leaf(value))
        if self.copies and form.copy is not None:
            handed = form.copy(value)
            if handed is MISSING:
                self._note("an object that cannot be copied", Seen.NOTHING)
                handed = value
        return content, handed

    def _parts(self, value: Any, depth: int) -> tuple[Any, Any] | None:
        """A list or a mapping as most are, by the shortest way; `None` for a mapping whose keys are
        not all texts."""
        items = value.copy()
        if type(items) is dict:
            for name in items:
                if (
                    type(name) is not str
                    or name in RESERVED
                    or not (name.isascii() or encodable(name))
                ):
                    return None
            if "data" in items or "blob" in items or "base64" in items:
                self._declared(items)
        self._values -= len(items)
        if self._values < 0:
            raise Unreadable(TOO_MANY)
        contents = handed = items
        for at, item in items.items() if type(items) is dict else enumerate(items):
            kind = type(item)
            if kind is str and len(item) < 64 and item.isascii() and len(item) <= self._chars:
                self._chars -= len(item)
                continue
            if item is None or kind is bool or (kind is int and -LARGE < item < LARGE):
                continue
            self._path.append(at)
            content, other = self._take(item, depth + 1)
            self._path.pop()
            if content is not item:
                contents = items.copy() if contents is items else contents
                contents[at] = content
            if other is not item:
                handed = items.copy() if handed is items else handed
                handed[at] = other
        if handed is not items:
            return contents, handed
        return contents, (items.copy() if contents is items else items) if self.copies else value

    def _declared(self, parts: dict[str, Any]) -> None:
        name, what = declared(parts)
        if what:
            self._path.append(name)
            self._note(what, Seen.SPELLED)
            self._path.pop()

    def _leaf(self, leaf: ValueLeaf) -> tuple[Any, Any]:
        content, handed, unread, seen, kind = leaf
        if type(content) is str:
            self._chars -= len(content)
        elif type(content) is list:
            self._values -= len(content)
        if self._chars < 0 or self._values < 0:
            raise Unreadable(f"it has more than {MAX_CHARS:,} characters or {MAX_VALUES:,} values")
        if unread:
            self._note(unread, seen, kind)
        return content, handed

    def _told(self, value: RemoteValue) -> tuple[Any, Any]:
        said = value.said
        if isinstance(said, Unreadable):
            raise said
        self._unread.extend(said.parts)
        self._seen = max(self._seen, said.seen)
        self._plain = self._plain and said.plain
        return said.content, value

    def _note(self, unread: str, seen: Seen, kind: str = "") -> None:
        self._unread.append(UnreadPart(tuple(self._path), unread, seen, kind))
        self._seen = max(self._seen, seen)

    def _spelled(self, text: str) -> str:
        self._plain = False
        return spelled_out(text)

    def _group(self, value: Any, form: Form, depth: int) -> tuple[Any, Any]:
        names, items, quiet = (
            form.parts(value) if form.parts is not None else (None, [], frozenset())
        )
        self._values -= len(items)
        if self._values < 0:
            raise Unreadable(TOO_MANY)
        if names is not None:
            if len(set(names)) < len(names):
                raise Unreadable("two of its keys look the same as text: use strings as keys")
            if not RESERVED.isdisjoint(names):
                raise Unreadable("it has a field with a name like `$int`: give it as a mapping")
            self._plain = (
                self._plain and type(value) is dict and all(map(is_name, dict.copy(value)))
            )
            quiet = quiet if self._path else quiet | self.quiet
        contents, handed = [], []
        same = True
        for at, item in enumerate(items):
            self._path.append(names[at] if names is not None else at if form.ordered else UNORDERED)
            known = len(self._unread), self._seen
            one, other = self._take(item, depth + 1)
            if names is not None and names[at] in quiet:
                del self._unread[known[0] :]
                self._seen = known[1]
                other = item if depth == 0 and names[at] in self.quiet else other
            self._path.pop()
            contents.append(one)
            handed.append(other)
            same = same and other is item
        given = value
        if form is ENUM:
            return (
                contents[0] if names is None else dict(zip(names, contents, strict=True))
            ), value
        if (self.copies and form.mutable) or not same:
            given = _made(form, value, handed)
            if given is MISSING:
                self._note("an object that cannot be copied", Seen.NOTHING)
                given = value
        if names is not None:
            return dict(zip(names, contents, strict=True)), given
        return (contents if form.ordered else sorted(contents, key=_encode)), given


def _made(form: Form, value: Any, items: Any) -> Any:
    return MISSING if form.made is None else form.made(value, items)


def _single(value: Any, content: Any, changed: Any) -> Any:
    """A changed text, in base64 where the content was the text that the value has in it."""
    if type(changed) is not str:
        return changed
    text = unspelled(changed)
    if type(value) is not str or type(content) is not str or content.startswith(DIGESTED):
        return text
    return text if unspelled(content) == value else in_letters_again(value, text)


def restored(value: Any, content: Any, changed: Any) -> Any:
    """A value of the same type that says what its changed content says; untouched parts stay the
    objects they are.

    `content` is what the value said, and shares with `changed` what stays. Where nothing of the
    type can be made that says so, the content itself is given.
    """
    if changed is content:
        return value
    kind = type(value)
    if kind is RemoteValue:
        return changed
    if value is None or is_any(kind, (str, bool, int, float)):
        return _single(value, content, changed)
    form = form_of(value)
    if form.parts is None:
        made = changed if form.made is None else form.made(value, changed)
        return changed if made is MISSING else made
    if form is ENUM:
        return changed
    names, items, _ = form.parts(value)
    if names is not None and isinstance(changed, dict) and isinstance(content, dict):
        if not descends(kind, dict) and not changed.keys() >= content.keys():
            return changed  # an object would keep what was taken out
        parts: Any = {
            name: restored(item, content.get(name), changed[name])
            for name, item in zip(names, items, strict=True)
            if name in changed
        }
        parts |= {name: item for name, item in changed.items() if name not in parts}
    elif isinstance(changed, list) and isinstance(content, list) and names is None:
        fits = form.ordered and len(changed) == len(content) == len(items)
        parts = list(map(restored, items, content, changed)) if fits else changed
    else:
        return changed
    made = _made(form, value, parts)
    return changed if made is MISSING else made
