"""The hook: hears from Python what the process is about to do, finds the run it belongs to, and
tells what is in no call that was decided. Python keeps a hook for as long as the process lives; the
first shield that asks for coverage installs it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Final
from weakref import WeakSet

from stanchion.kernel.tuples import NamedTuple
from stanchion.runtime.asides import aside
from stanchion.runtime.calling.at_work import asking, tool_at_work
from stanchion.runtime.coverage.own_work import vouched
from stanchion.runtime.coverage.sightings import (
    AGENT,
    CLIENT,
    CONTEXT,
    TIME,
    TOOL,
    Escape,
    StackSighting,
    look,
)
from stanchion.runtime.coverage.touches import EVENTS, NETWORK, Touch, touch_of, writes
from stanchion.runtime.errors import Ungoverned

REFUSE: Final = "refuse"

MODEL_CLIENTS: Final = frozenset(
    {
        "anthropic",
        "cohere",
        "google.genai",
        "google.generativeai",
        "groq",
        "litellm",
        "mistralai",
        "ollama",
        "openai",
        "replicate",
        "together",
    }
)
"""Packages that ask models. A tool that talks through one of them works as an agent of its own."""

_open: WeakSet[Any] = WeakSet()
"""The desks of runs that are watched and have not ended."""
_busy = threading.local()
_around: list[Callable[[], tuple[Any, ...]]] = []
"""What gives the runs around a caller, once the hook is installed."""


class RunOwner(NamedTuple):
    """The run that something belongs to, how that is known, and whether it has begun inside another
    run."""

    desk: Any
    by: str
    nested: bool


def install(open_runs: Callable[[], tuple[Any, ...]]) -> None:
    """Hear what this process does from now on, once; `open_runs` gives the runs around a caller."""
    if not _around:
        _around.append(open_runs)
        sys.addaudithook(_heard)


def watch(desk: Any) -> None:
    """Watch what is done while a run is open."""
    _open.add(desk)


def unwatch(desk: Any) -> None:
    """A run has ended."""
    desk.sightings.is_open = False
    _open.discard(desk)


def _heard(event: str, args: tuple[Any, ...]) -> None:
    """An audit event. Most are of no interest, and nearly always no run is open or its call is at
    work."""
    if (
        event not in EVENTS
        or not _open
        or (event == "open" and not writes(args))
        or getattr(_busy, "here", False)
    ):
        return
    _busy.here = True
    try:
        frame = sys._getframe(1)
        touch = touch_of(event, args, frame.f_code.co_filename)
        if touch is not None:
            _judge(touch, frame)
    except Ungoverned:
        raise
    except Exception as error:  # noqa: BLE001 - whoever opens a file must not meet an error of ours
        aside(f"`{event}` could not be checked for coverage", error)
        if any(_stops(desk) for desk in list(_open)):
            raise Ungoverned(
                f"`{event}` could not be checked for coverage: the log says why"
            ) from None
    finally:
        _busy.here = False


def _judge(touch: Touch, frame: FrameType | None) -> None:
    """Find out whether something is covered, from what costs least to what costs most to know."""
    owner = _owner()
    if owner is None:
        return
    desk, sightings = owner.desk, owner.desk.sightings
    if asking() is desk:
        return
    in_call = owner.by == CONTEXT and _in_call(owner)
    if in_call and touch.kind != NETWORK:
        return
    if vouched():
        sightings.vouched += 1
        return
    seen = look(frame, desk if owner.by == CONTEXT else None)
    if in_call or seen.covered:
        if (
            touch.kind == NETWORK
            and not seen.own
            and asking() is None
            and not MODEL_CLIENTS.isdisjoint(seen.packages)
        ):
            _escaped(
                Escape(AGENT, tool_at_work(), touch, _through_model(seen), owner.by, _stops(desk)),
                sightings,
            )
        return
    if desk.has_open():
        return
    if owner.by == TIME and any(one.under_way.at_work() or one.has_open() for one in list(_open)):
        sightings.unsure += 1
        return
    what = CLIENT if touch.kind == NETWORK and seen.through else TOOL
    _escaped(Escape(what, _name(what, seen), touch, seen, owner.by, _stops(desk)), sightings)


def _owner() -> RunOwner | None:
    """The innermost run around the caller that is watched; without one, the run of this process
    that began last."""
    around = _around[0]()
    found = None
    for run in reversed(around):
        sightings = getattr(run.desk, "sightings", None)
        if sightings is not None and sightings.is_open:
            if found is not None:
                return RunOwner(found, CONTEXT, True)
            found = run.desk
    if found is not None:
        return RunOwner(found, CONTEXT, False)
    if around:
        return None  # it belongs to a run that nobody watches
    desks = list(_open)
    return (
        RunOwner(max(desks, key=lambda one: one.sightings.number), TIME, False) if desks else None
    )


def _in_call(owner: RunOwner) -> bool:
    """Whether a tool's call of this run is at work around the caller. The tool at work around a run
    that has begun inside of it is another run's: this one has to have a call under way itself."""
    return bool(tool_at_work()) and (not owner.nested or owner.desk.under_way.at_work())


def _name(what: str, seen: StackSighting) -> str:
    """What people know it by: the client's package, or the function that does it."""
    within = seen.within[0] if seen.within else ""
    return seen.through if what == CLIENT or not within else within


def _through_model(seen: StackSighting) -> StackSighting:
    """The same, named by the client that asks the model."""
    return seen._replace(through=next(name for name in seen.packages if name in MODEL_CLIENTS))


def _stops(desk: Any) -> bool:
    return bool(desk.sightings.mode == REFUSE)


def _escaped(escape: Escape, sightings: Any) -> None:
    sightings.note(escape)
    if escape.stopped:
        raise Ungoverned(
            f"{escape.why}: have it called through the run, or say with `own_work` that it is the "
            f"host's own"
        )
