"""Settings: the parameters of the constructors, held against what can be carried out, as a policy;
and the variables of the environment that GuardianLayer reads and this does not: those that would
change something are named, each with the parameter that does it here."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from enum import Enum
from inspect import signature
from pathlib import Path
from typing import Any, Final, get_args

import msgspec

from stanchion.dialects.errors import DialectError, load_shield
from stanchion.experience.styles import StyleName
from stanchion.policy.nearest import hint
from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import MEMORY

PREFIX: Final = "GUARDIAN_"
PARAMETERS: Final = {
    "DB_PATH": "db_path",
    "MEMORY_DB": "db_path",
    "MAX_HISTORY": "max_history",
    "MAX_REPEATS": "max_repeats",
    "FAILURE_THRESHOLD": "failure_threshold",
    "BASE_COOLDOWN": "base_cooldown",
    "CACHE_TTL": "cache_ttl",
    "ADVICE_STYLE": "advice_style",
    "EST_TOKENS_PER_CALL": "est_tokens_per_call",
}
"""What a variable is set by here."""
WITHOUT: Final = (
    "CACHE_SIZE", "PROBE_LIMIT", "EST_LATENCY_MS", "MAX_CHECKS_PER_SECOND", "LOG_LEVEL",
    "LOG_FORMAT", "DEBUG", "METRICS_ENABLED",
)  # fmt: skip
"""Variables of what nothing here has."""


def warn_of_variables(given: Mapping[str, Any]) -> None:
    """Warn, in one line, of variables that are set to something else than what is `given`. A value
    may hold a password, and is not shown."""
    line = unread(os.environ, given)
    if line:
        warnings.warn(line, UserWarning, stacklevel=3)


def unread(environ: Mapping[str, str], given: Mapping[str, Any]) -> str:
    """What there is to say of the variables in an environment; empty where all that they say is
    given anyway."""
    lost = [
        name
        for name in PARAMETERS
        if name in _set(environ) and not _says(name, environ[PREFIX + name], given)
    ]
    idle = [name for name in WITHOUT if name in _set(environ)]
    said = []
    if lost:
        wanted = ", ".join(
            [f"`{name}=`" for name in dict.fromkeys([PARAMETERS[name] for name in lost])]
        )
        said.append(f"{_named(lost)} not read here: give {wanted} to `GuardianLayer`")
    if idle:
        said.append(
            f"{_named(idle)} not read here, and nothing does what "
            f"{'it' if len(idle) == 1 else 'they'} did"
        )
    return "; ".join(said)


def _set(environ: Mapping[str, str]) -> set[str]:
    return {
        name.removeprefix(PREFIX)
        for name, value in environ.items()
        if name.startswith(PREFIX) and value
    }


def _named(names: Sequence[str]) -> str:
    return ", ".join([f"`{PREFIX}{name}`" for name in names]) + (
        " is" if len(names) == 1 else " are"
    )


def _says(name: str, value: str, given: Mapping[str, Any]) -> bool:
    """Whether a variable says what is given."""
    here = given[PARAMETERS[name]]
    if name == "MEMORY_DB":
        return value.lower() != "true" or here is None or here == ":memory:"
    if name == "ADVICE_STYLE":
        return value.lower() == str(getattr(here, "value", here)).lower()
    if isinstance(here, int | float):
        try:
            return float(value) == here
        except ValueError:
            return False
    return value == str(here)


LONGEST_S: Final = 432_000
"""How long a cooldown can be: five days."""
MOST_HISTORY: Final = 100
HOOK_MS: Final = 30_000
"""How long a hook may take; the document gives it any time, and nobody waits for one that hangs."""

Policy = dict[str, Any]
Guards = list[dict[str, Any]]


class AdviceStyle(Enum):
    """How advice is worded: for small models, for large ones, and for agents that talk to users."""

    CONCISE = "concise"
    EXPERT = "expert"
    FRIENDLY = "friendly"


class Breaking(msgspec.Struct, frozen=True):
    """When the circuit of a tool opens, and for how many seconds."""

    failure_threshold: int = 5
    base_cooldown: float = 60
    max_cooldown: float = 3600

    def __post_init__(self) -> None:
        whole("failure_threshold", self.failure_threshold, 1)
        seconds("base_cooldown", self.base_cooldown)
        seconds("max_cooldown", self.max_cooldown)
        if self.max_cooldown < self.base_cooldown:
            said = (
                f"`max_cooldown` is {self.max_cooldown:g}, less than `base_cooldown`, which is "
                f"{self.base_cooldown:g}"
            )
            raise DialectError(f"{said}: give more for it, or a shorter `base_cooldown`")

    def guards(self) -> Guards:
        """What layer 0 changes in the pack."""
        breaker = {
            "use": "breaker",
            "failure_threshold": self.failure_threshold,
            "cooldown_s": self.base_cooldown,
            "max_cooldown_s": self.max_cooldown,
        }
        return [breaker]


class Looping(msgspec.Struct, frozen=True):
    """How many calls are remembered, and how often one of them may be made."""

    max_history: int = 10
    max_repeats: int = 2

    def __post_init__(self) -> None:
        whole("max_history", self.max_history, 2, MOST_HISTORY)
        whole("max_repeats", self.max_repeats, 1)
        if self.max_repeats > self.max_history:
            said = (
                f"`max_repeats` is {self.max_repeats}, and of `max_history` {self.max_history} "
                f"it is never reached"
            )
            raise DialectError(f"{said}: give less for it, or a longer history")

    def guards(self) -> Guards:
        """What layer 1 changes in the pack. A check knows of no run that is halted and of nobody
        who is asked. A call counts whether or not its result is reported, and what other calls
        bring does not begin its count anew. Only repeated calls are loops: tools that fail are
        layer 0's."""
        most = self.max_history
        loops = {
            "use": "loops",
            "max_history": most,
            "max_repeats": self.max_repeats,
            "unreported_repeats": self.max_repeats,
            "max_errors": min(3, most // 2),
            "near_repeats": min(3, most),
            "stall_after": min(4, most),
            "others_renew": False,
            "error_action": "allow",
            "near_action": "allow",
            "stall_action": "allow",
            "refusals_told": 0,
            "refusals_escalated": 0,
            "refusals_halted": 0,
        }
        return [loops]


def schema_guards(registered: bool) -> Guards:
    """What layer 2 changes in the pack: where tools are registered, others are unknown. A report
    has no result that could be held against a schema."""
    guard = {"use": "schema", "unknown": "refuse" if registered else "allow", "results": False}
    return [{**guard, "hook_deadline_ms": HOOK_MS}]


def policy_of(guards: Guards, style: StyleName = "concise") -> Policy:
    """The pack of the five layers with these settings."""
    return {
        "name": "guardian-layer",
        "extends": "guardian",
        "advice": {"style": style},
        "guards": guards,
    }


def alone(guards: Guards, without: tuple[str, ...]) -> Policy:
    """One layer of the pack: the others are taken out, and nothing is learnt by it."""
    off = [{"use": name, "enabled": False} for name in without]
    return {
        "name": "guardian-layer",
        "extends": "guardian",
        "experience": {"tier": "none"},
        "guards": [*guards, *off],
    }


def whole(name: str, value: Any, least: int, most: int | None = None) -> None:
    """Raise `DialectError` for what is no whole number in a range."""
    if (
        not isinstance(value, int)
        or isinstance(value, bool)
        or value < least
        or (most is not None and value > most)
    ):
        wanted = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise DialectError(f"`{name}` is `{value!r}`: give a whole number {wanted}")


def seconds(name: str, value: Any) -> None:
    """Raise `DialectError` for what is no number of seconds."""
    if (
        not isinstance(value, int | float)
        or isinstance(value, bool)
        or not 0.001 <= value <= LONGEST_S
    ):
        raise DialectError(f"`{name}` is `{value!r}`: give seconds, from 0.001 to {LONGEST_S}")


def takes_one(function: Any, what: str, given: str) -> None:
    """Raise `DialectError` for a function that cannot be called with one thing."""
    try:
        signature(function).bind(None)
    except TypeError:
        raise DialectError(
            f"{what} cannot be called with {given}: give a function of one parameter"
        ) from None
    except ValueError:  # of some that are built in it is not known
        return


def style_name(style: Any) -> StyleName:
    """The name of a style."""
    names: tuple[StyleName, ...] = get_args(StyleName)
    said = style.value if isinstance(style, AdviceStyle) else str(style).lower()
    known = next((name for name in names if name == said), None)
    if known is None:
        raise DialectError(
            f"`advice_style` is `{style}`, which is no style of advice: {hint(said, names)}"
        )
    return known


def place(db_path: Any) -> str | Path:
    """Where state and experience are kept: in memory, in the file that is named, or on the server
    of a URL."""
    if db_path is None or db_path == ":memory:":
        return MEMORY
    if not isinstance(db_path, str | Path) or not str(db_path):
        raise DialectError(
            f"`db_path` is `{db_path!r}`: give a file, the URL of a server, or leave it out for "
            f"memory"
        )
    if ":" not in str(db_path) and not Path(db_path).absolute().parent.is_dir():
        raise DialectError(
            f"`db_path` is `{db_path}`, and there is no such folder: make it, or give another path"
        )
    return db_path


def opened(policy: Policy, db_path: Any, journal: Any, **options: Any) -> Shield:
    """The shield of a policy, on what is kept there."""
    kept = place(db_path)
    trail = MEMORY if journal is None and kept == MEMORY else journal
    return load_shield(policy, "db_path", store=kept, journal=trail, **options)
