"""Where state and records are kept: what was asked for, what the environment says, or the state of
the project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from stanchion.audit.journal import Journal, MemoryJournal
from stanchion.audit.layout import state_folder
from stanchion.audit.open_trail import open_trail
from stanchion.audit.retention import Keep
from stanchion.runtime.standing.state_places import STORE, USER, Whose
from stanchion.stores.open_store import open_store
from stanchion.stores.protocol import Store

AUDIT: Final = "STANCHION_AUDIT"
KEY: Final = "STANCHION_AUDIT_KEY"
WITNESS: Final = "STANCHION_AUDIT_WITNESS"
METRICS_DIR: Final = "STANCHION_METRICS_DIR"
KEEP_DAYS: Final = "STANCHION_AUDIT_KEEP_DAYS"
KEEP_MB: Final = "STANCHION_AUDIT_KEEP_MB"

EVERYTHING: Final = "all"
"""What either of them is where nothing is to leave because of it."""
MEGABYTE: Final = 1024 * 1024

MEMORY: Final = "memory:"
BROKER: Final = "broker:"
"""How the name of a broker begins; the path of its socket follows."""
STORE_FILE: Final = "state.db"
TRAIL_FOLDER: Final = "trail"
METRICS: Final = "metrics"
EPOCHS: Final = "epochs"
"""The folder in which a host remembers the stores that it has used."""

Clock = Callable[[], int]


def broker_for(source: Any, store: Any, environ: Mapping[str, str]) -> str:
    """The socket of the broker that a policy's or a store's name says, or `STANCHION_STORE` where
    no store is named; empty where the shield is in this process."""
    for name in (source, environ.get(STORE, "") if store is None else store):
        if isinstance(name, str) and name.startswith(BROKER):
            return name.removeprefix(BROKER)
    return ""


def store_for(
    given: Store | str | Path | None, environ: Mapping[str, str], clock: Clock, whose: Whose
) -> Any:
    """The store: one that was made already, the one a name or `STANCHION_STORE` says, or a file in
    the state's folder; `user:` is the state that all projects of a user share."""
    if given is not None and not isinstance(given, str | Path):
        return given
    if is_own(given, environ):
        whose.keep()
    return open_store(str(store_name(given, environ, whose)), clock)


def store_name(given: str | Path | None, environ: Mapping[str, str], whose: Whose) -> str | Path:
    """How the store is named."""
    return (
        whose.state.folder / STORE_FILE if is_own(given, environ) else store_named(given, environ)
    )


def is_own(given: object, environ: Mapping[str, str]) -> bool:
    """Whether the store is that of the state, and no other was named."""
    return store_named(given, environ) in ("", USER)


def journal_for(
    given: Journal | str | Path | None,
    environ: Mapping[str, str],
    clock: Clock,
    whose: Whose,
    keep: Keep,
) -> Any:
    """The journal: one that was made already, a trail in the folder that was named or that
    `STANCHION_AUDIT` names, or one in the state's folder; `memory:` keeps the newest decisions in
    memory, `user:` is the trail of the state that all projects share. The URL of a PostgreSQL keeps
    the trail in the state's folder and copies it there."""
    if given is not None and not isinstance(given, str | Path):
        return given
    named = _named(given, environ)
    folder = trail_folder(given, environ, whose)
    if folder is None:
        return MemoryJournal()
    if not named or _is_database(named):
        whose.keep()
    key = Path(environ[KEY]) if environ.get(KEY, "") else None
    if _is_database(named):
        from stanchion.audit.postgres import open_postgres_trail

        return open_postgres_trail(folder, str(named), key, keep, clock)
    return open_trail(folder, key, keep, clock)


def trail_folder(given: str | Path | None, environ: Mapping[str, str], whose: Whose) -> Path | None:
    """The folder of the trail; `None` where records are kept in memory."""
    named = _named(given, environ)
    if named == MEMORY:
        return None
    if named == USER:
        return Whose(environ, store=USER).state.folder / TRAIL_FOLDER
    return Path(named) if named and not _is_database(named) else whose.state.folder / TRAIL_FOLDER


def epochs_folder(given: object, environ: Mapping[str, str], whose: Whose) -> Path:
    """Where this host remembers a store: beside it where it is the state's own. What was named can
    be used by many projects, and each has to know what another has seen of it."""
    return (whose.keep() if is_own(given, environ) else state_folder(environ)) / EPOCHS


def metrics_folder(
    store: object, journal: object, environ: Mapping[str, str], whose: Whose
) -> Path | None:
    """Where processes write their figures: the folder that `STANCHION_METRICS_DIR` names, or one in
    the state's folder where a shield keeps its store or its trail there; `None` where it keeps
    nothing."""
    named = environ.get(METRICS_DIR, "")
    if named:
        return Path(named)
    own_trail = (journal is None or isinstance(journal, str | Path)) and not _named(
        journal, environ
    )
    return whose.keep() / METRICS if is_own(store, environ) or own_trail else None


def store_named(given: object, environ: Mapping[str, str]) -> str:
    """The name that a store was given, here or by `STANCHION_STORE`; empty where none was."""
    return environ.get(STORE, "") if given is None else str(given)


def _named(given: str | Path | None, environ: Mapping[str, str]) -> str | Path:
    return environ.get(AUDIT, "") if given is None else given


def _is_database(named: str | Path) -> bool:
    return str(named).lower().startswith(("postgresql://", "postgres://"))


def keep_of(environ: Mapping[str, str], usual: Keep) -> Keep:
    """What retention leaves, as the environment says, and as is usual where it says nothing."""
    size = _number(environ, KEEP_MB, None if usual.size is None else usual.size / MEGABYTE)
    return Keep(
        _number(environ, KEEP_DAYS, usual.days), None if size is None else int(size * MEGABYTE)
    )


def _number(environ: Mapping[str, str], name: str, usual: float | None) -> float | None:
    text = environ.get(name, "").strip()
    if not text:
        return usual
    if text == EVERYTHING:
        return None
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < 1e9:
        raise ValueError(f"{name} is `{text}`: give a positive number, or `all` to keep everything")
    return number
