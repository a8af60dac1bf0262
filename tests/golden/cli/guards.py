"""Guards of a user's own, for what no shipped guard does yet: they redact, degrade and ask for
another reply."""

import re
from collections.abc import Iterator
from typing import Any

from stanchion import Action, Finding, Patch
from stanchion.kernel.content import content_of

KEY = re.compile(r"sk-[a-z0-9]+")


def redact(event: Any) -> Finding | None:
    """Cut keys out of whatever an event holds."""
    patches = tuple(
        Patch(path, "[key]", found.start(), found.end())
        for path, text in _texts(content_of(event), ())
        for found in KEY.finditer(text)
    )
    if not patches:
        return None
    return Finding(
        Action.REDACT,
        "example.key",
        text=f"the content had {len(patches)} key(s) in it",
        guidance="name the key, do not write it out",
        patches=patches,
    )


def economise(event: Any) -> Finding | None:
    """Have a smaller model do it."""
    if event.model != "large":
        return None
    return Finding(
        Action.DEGRADE,
        "example.large",
        text="`large` costs too much",
        patches=(Patch(("model",), "small"),),
    )


def answer_again(event: Any) -> Finding | None:
    """Ask for a reply that is not a shrug."""
    if event.text != "whatever":
        return None
    return Finding(
        Action.RETRY, "example.shrug", text="the reply says nothing", guidance="answer the question"
    )


def wait(event: Any) -> Finding | None:
    """Ask for what a prompt cannot do, so that it becomes stricter."""
    if event.text != "later":
        return None
    return Finding(Action.QUEUE, "example.later", text="this should wait")


def _texts(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _texts(item, (*path, name))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _texts(item, (*path, at))
