"""Own work: what a host does itself, by its own word, and its agent has not asked for."""

from __future__ import annotations

from contextvars import ContextVar

from stanchion.runtime.setting import setting

_own: ContextVar[str] = ContextVar("stanchion_own_work", default="")


def vouched() -> str:
    """What a host says that it does itself around the caller; empty where it says nothing."""
    return _own.get()


def own_work(why: str) -> setting[str]:
    """What is done inside is the host's own work and nothing that its agent asked for: a
    checkpoint, a log, a cache. Coverage counts it and does not name it; `why` says what it is."""
    if not isinstance(why, str) or not why.strip():
        raise ValueError("`own_work` takes what the host does, such as `own_work('checkpoint')`")
    return setting(_own, why)
