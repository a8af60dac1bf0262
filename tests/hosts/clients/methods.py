"""Every method of an SDK's client, called: whatever a plain client sends, a guarded one must have
judged."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from stanchion import Action, Finding, Refused, Shield, Stage
from tests.hosts.clients.provider import Provider
from tests.sampling import SOAK

RAW = ("with_raw_response", "with_streaming_response")
SENDS_NOTHING = frozenset({"copy", "with_options", "with_middleware", "close", "is_closed", "qs"})
VALUES: dict[str, Any] = {
    "messages": [{"role": "user", "content": "hello"}],
    "max_tokens": 5,
    "max_tokens_to_sample": 5,
    "input": "hello",
    "timeout": 3,
    "n": 1,
    "metadata": {},
    "file": ("a.txt", b"hello"),
    "image": ("a.png", b"hello"),
    "video": ("a.mp4", b"hello"),
    "data": b"hello",
    "files": [("a.txt", b"hello")],
    "cast_to": object,
    "path": "/anything",
    "bytes": 5,
    "part_size": 5,
    "bytes_": 5,
    "options": {},
    "poll_interval_ms": 1,
    "tools": [],
    "requests": [],
    "tool_outputs": [],
    "items": [],
    "part_ids": ["part"],
    "file_ids": ["file"],
    "betas": ["beta"],
    "archive": b"hello",
    "payload": "{}",
    "recording": b"hello",
    "requires_action": [],
}
"""What parameters are given by their names; the others get a text."""
TEXTS: dict[str, str] = {
    "admin.organization.external_keys.create": "external_id kms_arn name role_arn type",
    "audio.voices.create": "name prompt type",
    "beta.agents.automations.create": "expression name target timezone type",
    "responses.stream": "input model",
    "beta.responses.stream": "input model",
}  # fmt: skip
MORE: dict[str, dict[str, Any]] = {
    **{name: dict.fromkeys(words.split(), "something") for name, words in TEXTS.items()},
    "beta.agents.environments.files.create": {
        "data": "hello",
        "path": "/workspace/a",
        "type": "inline",
    },
    "uploads.upload_file_chunked": {"filename": "a.txt", "bytes": 5},
}
"""What methods need of which their signature does not say so."""
LONGEST_S = 5


def resources(client: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The client and everything below it that has methods which send."""
    yield name, client
    for attribute, found in inspect.getmembers(type(client)):
        lazy = type(found).__name__ == "cached_property" or isinstance(found, property)
        if not lazy or attribute.startswith("_") or attribute in RAW:
            continue
        with suppress(Exception):  # a property that needs more than there is has no methods
            below = getattr(client, attribute)
            if any("APIResource" in base.__name__ for base in type(below).__mro__):
                yield from resources(below, f"{name}.{attribute}".strip("."))


def methods(client: Any, first: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """All methods by their names, ready to be called with something; each raw way to call one is
    another.

    Outside a soak a method is called in one of its raw ways: in the one that `first` says, and the
    next method in the other. Of two clients with other firsts, each way of each method is called on
    one.
    """
    for name, found in resources(client):
        if name:
            found._sleep = _never
        for place, (method, _) in enumerate(inspect.getmembers(type(found), inspect.isfunction)):
            if method.startswith("_") or method in SENDS_NOTHING:
                continue
            bound = getattr(found, method)
            dotted = f"{name}.{method}".strip(".")
            yield dotted, _call(bound, bound, dotted)
            for way in RAW if SOAK else (RAW[(place + first) % 2],):
                raw = getattr(getattr(found, way, None), method, None)
                if raw is not None and name:
                    yield f"{way}:{dotted}", _call(raw, bound, dotted)


def _never(*_given: Any) -> Any:
    """Methods that ask again and again have asked once when they want to sleep."""
    raise TimeoutError("it wants to wait")


def _call(bound: Any, described: Any, name: str) -> Callable[[], Any]:
    """A call of a method with something for each parameter that it needs."""
    given: list[Any] = []
    named: dict[str, Any] = dict(MORE.get(name, {}))
    for parameter in inspect.signature(described).parameters.values():
        if parameter.default is not parameter.empty or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            continue
        value = VALUES.get(parameter.name, "something")
        if parameter.kind is parameter.KEYWORD_ONLY:
            named[parameter.name] = value
        else:
            given.append(value)
    return lambda: bound(*given, **named)


class NothingLeaves:
    """A guard that refuses every request."""

    id = "nothing-leaves"
    stages = (Stage.MODEL_CALL, Stage.EGRESS)

    def judge(self, event: Any) -> Finding:
        return Finding(Action.BLOCK, "test.nothing_leaves", text=f"nothing leaves at {event.stage}")


def nothing_leaves() -> Shield:
    """A shield under which no request leaves."""
    return Shield.load({"name": "nothing"}, guards=[NothingLeaves()], store="memory:")


class Player:
    """Calls methods and uses what they give as far as that sends something."""

    def __init__(self) -> None:
        self._loop = asyncio.Runner()

    def __enter__(self) -> Player:
        return self

    def __exit__(self, *_error: object) -> None:
        self._loop.close()

    def play(self, call: Callable[[], Any]) -> BaseException | None:
        """Call a method of either kind; gives what was raised."""
        try:
            self._loop.run(asyncio.wait_for(_played(call), LONGEST_S))
        except Exception as error:  # noqa: BLE001 - of an answer that fits no method anything may come
            return error
        return None


async def _played(call: Callable[[], Any]) -> None:
    made = call()
    made = await made if inspect.isawaitable(made) else made
    if hasattr(made, "__aenter__"):
        async with made as entered:
            came = getattr(entered, "read", lambda: None)()
            await came if inspect.isawaitable(came) else None
    elif hasattr(made, "__enter__"):
        with made as entered:
            getattr(entered, "read", lambda: None)()
    elif hasattr(made, "__anext__"):
        await anext(made)
    elif hasattr(made, "__next__"):
        next(made)


def walk(plain: Any, guarded: Any, provider: Provider) -> tuple[list[str], list[str], list[str]]:
    """Call everything on both clients. Gives the methods that send, those that send nothing, and
    those that were not refused though they send: there must be none."""
    sends: list[str] = []
    silent: list[str] = []
    passed: list[str] = []
    first = int(
        inspect.iscoroutinefunction(plain.close)
    )  # the async client begins with the other way
    with Player() as player:
        both = dict(methods(guarded, first))
        for name, call in methods(plain, first):
            before = len(provider.asked)
            player.play(call)
            (sends if len(provider.asked) > before or name.endswith(".connect") else silent).append(
                name
            )
        for name in sends:
            before = len(provider.asked)
            error = player.play(both[name])
            if not isinstance(error, Refused) or len(provider.asked) > before:
                passed.append(f"{name}: {error!r}")
        player.play(plain.close)
    return sends, silent, passed
