"""Plain data and JSON read as values of a given type, from any number of threads.

msgspec works out what a type has when the type is first used, and others can see it half done: two
threads that first use the same struct at the same moment can end the process with a segmentation
fault (msgspec 0.22). So every type is worked out here, by one thread at a time and whole, before
anybody reads a value of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, TypeVar, overload

import msgspec

from stanchion.locks import Reentrant

T = TypeVar("T")
Hook = Callable[[Any, Any], Any]

PATIENCE_S: Final = 5.0
"""How long a fork waits for a type that is being worked out."""

_lock: Final = Reentrant()
_ready: Final[set[Any]] = set()


@overload
def convert(value: Any, kind: type[T], hook: Hook | None = None) -> T: ...


@overload
def convert(value: Any, kind: Any, hook: Hook | None = None) -> Any: ...


def convert(value: Any, kind: Any, hook: Hook | None = None) -> Any:
    """Plain data as a value of that type; the hook makes those of types that msgspec does not know.
    Raises what `msgspec.convert` raises."""
    if kind not in _ready:
        prepare(kind)
    return (
        msgspec.convert(value, kind)
        if hook is None
        else msgspec.convert(value, kind, dec_hook=hook)
    )


@overload
def decode(data: bytes | str, kind: type[T]) -> T: ...


@overload
def decode(data: bytes | str, kind: Any) -> Any: ...


def decode(data: bytes | str, kind: Any) -> Any:
    """JSON as a value of that type; raises what `msgspec.json.decode` raises."""
    if kind not in _ready:
        prepare(kind)
    return msgspec.json.decode(data, type=kind)


@overload
def reader(kind: type[T]) -> msgspec.json.Decoder[T]: ...


@overload
def reader(kind: Any) -> msgspec.json.Decoder[Any]: ...


def reader(kind: Any) -> msgspec.json.Decoder[Any]:
    """What decodes JSON as values of that type, for one who reads many."""
    prepare(kind)
    return msgspec.json.Decoder(kind)


@overload
def unpacker(kind: type[T]) -> msgspec.msgpack.Decoder[T]: ...


@overload
def unpacker(kind: Any) -> msgspec.msgpack.Decoder[Any]: ...


def unpacker(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    """What decodes MessagePack as values of that type."""
    prepare(kind)
    return msgspec.msgpack.Decoder(kind)


def prepare(kind: Any) -> None:
    """Work out what a type has, and every type within it; once is enough, again does no harm."""
    with _lock:
        msgspec.msgpack.Decoder(kind)  # of all that reads, this refuses the fewest types
        _ready.add(kind)


def _before_fork() -> None:
    _lock.take(PATIENCE_S)  # a child has no thread that would finish what is half done


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_lock.give_back, after_in_child=_lock.give_back
    )
