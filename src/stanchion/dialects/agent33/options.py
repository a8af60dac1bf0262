"""Options: what `Guardrails.load` takes beside the guardrails themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypedDict

from stanchion.audit.journal import Journal
from stanchion.dialects.agent33.settings import Agent, OnError, Task
from stanchion.dialects.errors import DialectError
from stanchion.policy.nearest import hint
from stanchion.runtime.options import ShieldOptions
from stanchion.stores.protocol import Store


class Settings(TypedDict, total=False):
    """What guardrails are put in force with."""

    agents: Mapping[str, Agent | Mapping[str, Any]] | None
    """What agents are held to, by their ids or patterns of them."""
    tasks: Mapping[str, Task | Mapping[str, Any]] | None
    """What tasks are held to. Relative patterns of a task start in the `sandbox`, or in the working
    directory."""
    on_error: OnError | Mapping[str, Any] | None
    """What becomes of errors."""
    sandbox: str | Path | None
    """The folder in which `safety-004` keeps actions; without it, only what surely leaves the
    working directory is outside."""
    safety_responses: Iterable[str]
    """The tools that an emergency may use unanswered."""
    log_passes: Iterable[str]
    """The guardrails whose passes are recorded too."""
    autonomy: bool
    """Whether budgets that run low make anything stricter; they do where it is left out."""
    policy: Mapping[str, Any] | None
    """Further sections of a Stanchion policy, such as `tools` and `operators`."""
    changes: Mapping[str, Mapping[str, Any]] | None
    """Options of Stanchion's guards, by the ids of the guardrails that they are changed for."""


class LoadOptions(Settings, ShieldOptions, total=False):
    """The settings, and the options of `Shield.load`."""

    env: str | None
    store: Store | str | Path | None
    journal: Journal | str | Path | None
    project: str | Path | None
    clock: Callable[[], int]
    notify: str | Path | None


def known(given: Mapping[str, Any], taken: Iterable[str], of: str) -> None:
    """Raise `DialectError` for an option that there is not, with the one that was meant."""
    names = tuple(taken)
    unknown = next((name for name in given if name not in names), None)
    if unknown is not None:
        raise DialectError(f"`{of}` has no option `{unknown}`: {hint(unknown, names)}")
