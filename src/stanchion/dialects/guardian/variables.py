"""Variables of the environment that GuardianLayer reads and this does not: those that would change
something are named, each with the parameter that does it here."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final

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
        if name in _set(environ) and not _same(name, environ[PREFIX + name], given)
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


def _same(name: str, value: str, given: Mapping[str, Any]) -> bool:
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
