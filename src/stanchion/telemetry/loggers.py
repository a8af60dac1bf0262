"""Loggers: one for each thing an operator may want to hear of, under `stanchion`. Nothing is
printed by itself.

Whoever configures `logging` hears of it; a library installs no handlers. As long as nobody has
loaded `logging`, nobody listens, and nothing is loaded or worded for it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from stanchion.kernel.shown import visible

if TYPE_CHECKING:
    import logging

ROOT: Final = "stanchion"
DECISIONS: Final = "decisions"
STORE: Final = "store"
TRAIL: Final = "trail"
POLICY: Final = "policy"
TICKETS: Final = "tickets"
ANSWERS: Final = "answers"
CALLS: Final = "calls"
STATES: Final = "states"
EVENTS: Final = "events"
NOTICES: Final = "notices"
TELEMETRY: Final = "telemetry"

AREAS: Final = {
    DECISIONS: "each decision: allowed at DEBUG, refused at WARNING, anything between at INFO",
    STORE: (
        "what stays charged or is not recorded because the store cannot be used; the outage "
        "itself is a notice"
    ),
    TRAIL: "a trail that cannot be written, and records that are lost",
    POLICY: (
        "policies that were loaded or refused, or that do something their author may not expect"
    ),
    TICKETS: "tickets that were opened and answered, or could not be opened or answered",
    ANSWERS: "answers of operators that were refused",
    CALLS: "calls that kept running after they were abandoned, and what was undone",
    STATES: "states that changed: halts, quarantines, safe mode, and back",
    EVENTS: "everything else that the trail records beside decisions",
    NOTICES: "notices to operators, one line each",
    TELEMETRY: "errors inside telemetry itself",
}
"""What each logger tells; `stanchion.decisions` and so on."""

OF: Final = {
    "answer": ANSWERS,
    "call": CALLS,
    "grant": TICKETS,
    "operator": ANSWERS,
    "policy": POLICY,
    "state": STATES,
    "store": STORE,
    "ticket": TICKETS,
    "trail": TRAIL,
}
"""Which logger tells of an event of the trail, by the first word of its name."""

DEBUG, INFO, WARNING, ERROR = 10, 20, 30, 40

PLAIN: Final = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:*@+[],"
)


_speaks = False
_unsaid: frozenset[str] = frozenset()


def speak() -> None:
    """Have warnings and errors go to standard error, for a command that nobody configures logging
    for; what is decided is its own to say."""
    global _speaks, _unsaid
    _speaks, _unsaid = True, frozenset()


def hush() -> None:
    """Keep everything from standard error again: a command plays something, and shows all of it
    itself."""
    global _speaks
    _speaks = False


def leave_out(kinds: Iterable[str]) -> None:
    """Keep notices of these kinds from standard error, and what goes with them: a command says it
    in its own words."""
    global _unsaid
    _unsaid = frozenset(kinds)


_made: Final[dict[str, logging.Logger]] = {}


def logger(area: str) -> logging.Logger | None:
    """The logger of an area; `None` where there is none yet, because somebody keeps `logging`
    busy."""
    made = _made.get(area)
    if made is None or not _made[ROOT].handlers:
        from stanchion.telemetry.lines import apart

        apart.do(lambda: _make(area))
        made = _made.get(area)
    return made


def _make(area: str) -> None:
    import logging

    root = logging.getLogger(ROOT)
    if not root.handlers:
        root.addHandler(_aloud() if _speaks else logging.NullHandler())
    _made[ROOT] = root
    _made[area] = logging.getLogger(f"{ROOT}.{area}")


def _aloud() -> logging.Handler:
    import logging

    class Aloud(logging.Handler):
        """Writes to standard error as it is when something is said."""

        def emit(self, record: logging.LogRecord) -> None:
            if _speaks and record.name != f"{ROOT}.{DECISIONS}" and _kind_of(record) not in _unsaid:
                print(self.format(record), file=sys.stderr)

    return Aloud(WARNING)


def _kind_of(record: logging.LogRecord) -> str:
    """The kind of notice that a line is, or goes with: an event of the trail has the name of its
    notice."""
    notice = getattr(record, "occurrence", None)
    return str(notice["kind"]) if notice is not None else record.getMessage().partition(" ")[0]


def heard(area: str, level: int) -> logging.Logger | None:
    """The logger of an area where somebody may listen on that level; `None` where nobody does."""
    if "logging" not in sys.modules:
        return None
    found = logger(area)
    return found if found is not None and listens(found, level) else None


def enabled(log: logging.Logger, level: int) -> bool:
    """Whether the level is on. `isEnabledFor` says the same, and takes a lock now and then (see
    `lines`)."""
    return level >= log.getEffectiveLevel() and level > log.manager.disable and not log.disabled


def listens(log: logging.Logger, level: int) -> bool:
    """Whether anybody hears what is logged there: the level is on, and there is a handler which is
    not ours."""
    if not enabled(log, level):
        return False
    one: logging.Logger | None = log
    while one is not None:
        for handler in one.handlers:
            if type(handler).__name__ != "NullHandler":
                return True
        one = one.parent if one.propagate else None
    return False


def say(area: str, level: int, what: str, **fields: object) -> None:
    """Log one line: what happened, then its fields as `key=value`; they are the record's `extra`,
    too."""
    log = heard(area, level)
    if log is not None:
        told = {name: value for name, value in fields.items() if value not in ("", None)}
        write(log, level, f"{what} {key_values(told)}".rstrip(), told)


def write(log: logging.Logger, level: int, line: str, extra: Mapping[str, object]) -> None:
    """Hand a line to a logger's handlers, with `extra` as attributes of its record."""
    from stanchion.telemetry.lines import apart

    record = log.makeRecord(log.name, level, __file__, 0, "%s", (line,), None, extra=dict(extra))
    apart.do(lambda: log.handle(record))


def key_values(fields: Mapping[str, object]) -> str:
    """Fields as `key=value`; what has spaces or anything else in it stands in quotes, on one
    line."""
    return " ".join([f"{name}={_shown(value)}" for name, value in fields.items()])


def _shown(value: object) -> str:
    text = visible(str(value))
    if text and PLAIN.issuperset(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
