"""VERONICA's shield configurations, read as policies: each feature that is switched on is a guard,
the same as by `ShieldConfig`."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import PurePath
from typing import Annotated, Any, Final

import msgspec

from stanchion.kernel.units import LARGEST, MICRO
from stanchion.policy.document import Document, node
from stanchion.policy.sections import FileSection
from stanchion.policy.struct_check import convert

Entry = dict[str, Any]
MOST: Final = LARGEST - 1
MOST_USD: Final = LARGEST // MICRO
Count = Annotated[int, msgspec.Meta(ge=0, le=MOST)]
Text = Annotated[str, msgspec.Meta(min_length=1)]
Calls = Annotated[int, msgspec.Meta(ge=1, le=50)]
Share = Annotated[float, msgspec.Meta(gt=0, le=1)]
Span = Annotated[float, msgspec.Meta(gt=0, le=999_999_999)]
EVERY_FAULT: Final = ["system", "unknown", "user", "business"]
"""A call with wrong arguments that is repeated is the very loop that is to be stopped, so that each
fault counts, whoever's it is."""


class BrakeSection(FileSection, frozen=True):
    """`safe_mode`."""

    enabled: bool


class BudgetWindow(FileSection, frozen=True):
    """`budget`."""

    enabled: bool
    max_tokens: Count = 100_000
    max_calls: Count = 1_000
    max_cost_usd: Annotated[float, msgspec.Meta(ge=0, lt=MOST_USD)] = 10.0
    window_seconds: Annotated[float, msgspec.Meta(ge=1, le=999_999_999)] = 3600.0

    def __post_init__(self) -> None:
        if 0 < self.max_cost_usd < 1 / MICRO:
            said = f"`max_cost_usd` is `{self.max_cost_usd}`, which is less than can be counted"
            raise ValueError(f"{said}: give 0.000001 or more, or 0 for nothing")


class Circuit(FileSection, frozen=True):
    """`circuit_breaker`."""

    enabled: bool
    failure_threshold: Annotated[int, msgspec.Meta(ge=1, le=MOST)] = 5
    recovery_timeout_seconds: Annotated[float, msgspec.Meta(ge=0.001, le=432_000)] = 60.0


class Destinations(FileSection, frozen=True):
    """`egress`."""

    enabled: bool
    allowed_hosts: tuple[Text, ...] = ()


class Credentials(FileSection, frozen=True):
    """`secret_guard`."""

    enabled: bool
    patterns: tuple[Text, ...] = ()


FITTING: Final = (
    ("warning_rate", "halt_rate", "and a halt only follows a warning"),
    ("min_calls", "window_calls", "so that there are never enough"),
    ("repeated_failures", "window_calls", "which is all that is remembered"),
)
"""Options, those that are not smaller, and why."""


class FailureRates(FileSection, frozen=True):
    """`error_rate`."""

    enabled: bool
    window_calls: Calls = 20
    min_calls: Calls = 10
    warning_rate: Share = 0.5
    halt_rate: Share = 0.8
    recovery_seconds: Span = 60.0
    repeated_failures: Calls = 5
    quarantine_seconds: Span = 300.0

    def __post_init__(self) -> None:
        for name, larger, why in FITTING:
            least, most = getattr(self, name), getattr(self, larger)
            if least > most:
                said = f"`{name}` is `{least}` and `{larger}` is `{most}`"
                raise ValueError(f"{said}, {why}: give a larger `{larger}`")


class ShieldFile(FileSection, frozen=True):
    """A configuration in a file."""

    safe_mode: BrakeSection | None = None
    budget: BudgetWindow | None = None
    circuit_breaker: Circuit | None = None
    egress: Destinations | None = None
    secret_guard: Credentials | None = None
    error_rate: FailureRates | None = None


def safe_mode(_config: Any) -> list[Entry]:
    """The emergency brake: no tool runs, and nothing is retried."""
    return [{"use": "safe_mode", "id": "safe-mode", "stages": ["tool_call", "error"]}]


def budget(config: Any) -> list[Entry]:
    """A budget of charges, whoever makes them. A call is counted where it is charged."""
    return [
        {
            "use": "budget",
            "id": "budget-window",
            "per": "tenant",
            "stages": ["charge"],
            "tokens": config.max_tokens,
            "api_calls": config.max_calls,
            "cost_usd": config.max_cost_usd,
            "window_s": config.window_seconds,
            "halts": True,
        }
    ]


def circuit_breaker(config: Any) -> list[Entry]:
    """The circuit breaker of every tool."""
    return [breaker_entry(config.failure_threshold, config.recovery_timeout_seconds)]


def breaker_entry(failure_threshold: int, timeout_s: float) -> Entry:
    """A breaker that lets one probe through after the same time, however often it has opened, and
    that one success closes."""
    return {
        "use": "breaker",
        "id": "circuit-breaker",
        "failure_threshold": failure_threshold,
        "cooldown_s": timeout_s,
        "max_cooldown_s": timeout_s,
        "successes": 1,
        "runs": 1,
        "counts": EVERY_FAULT,
        "models": True,
    }


def egress(config: Any) -> list[Entry]:
    """An allowlist for requests and for URLs in calls. Internal addresses are allowed where they
    themselves are listed; a listed name that leads to one is not."""
    hosts = list(config.allowed_hosts)
    inside = [host for host in hosts if _is_inside(host)]
    said = {"allowed_hosts": hosts, "internal_hosts": inside}
    return [{"use": "egress", "id": "egress-allowlist", **said}]


def secret_guard(config: Any) -> list[Entry]:
    """What looks for secrets in requests: the kinds that are known, and the patterns. A quarantine
    is one of a tool: without one, nobody is isolated."""
    return [
        {
            "use": "secrets",
            "id": "secret-guard",
            "stages": ["egress", "tool_call", "model_call"],
            "action": "quarantine",
            "patterns": own_patterns(config.patterns),
            "isolate_agent": False,
        }
    ]


def own_patterns(patterns: Any) -> list[dict[str, str]]:
    """Patterns of secrets under names of their own."""
    given = enumerate(patterns, start=1)
    return [{"kind": f"veronica-{number}", "pattern": one} for number, one in given]


def error_rate(config: Any) -> list[Entry]:
    """What moves the shield's state as a whole, and that of a tool that fails again and again."""
    common = {
        "use": "error_rate",
        "calls": config.window_calls,
        "min_calls": config.min_calls,
        "warn_at": config.warning_rate * 100,
        "repeats": config.repeated_failures,
        "recover_s": config.recovery_seconds,
        "quarantine_s": config.quarantine_seconds,
        "runs": 1,
        "counts": EVERY_FAULT,
    }
    whole = {**common, "id": "shield-state", "per": ["tenant"], "halt_at": config.halt_rate * 100}
    return [whole, {**common, "id": "tool-state", "per": ["tool"]}]


def _is_inside(host: str) -> bool:
    name = host.rpartition(":")[0] if host.count(":") == 1 else host
    if name == "localhost":
        return True
    try:
        return ip_network(name.strip("[]"), strict=False).is_private
    except ValueError:
        return False


GUARDS: Final = {
    "safe_mode": safe_mode,
    "budget": budget,
    "circuit_breaker": circuit_breaker,
    "egress": egress,
    "secret_guard": secret_guard,
    "error_rate": error_rate,
}
"""The guards of each feature, by a configuration of it that is switched on."""
READERS: Final = frozenset({"egress", "secrets"})
"""Guards that read what a call says: with one of them, a call that cannot be read is refused."""


def translate(documents: tuple[Document, ...], origin: str) -> Document:
    """The policy that a configuration makes; `PolicyError` has everything that is wrong with it."""
    (document,) = documents
    file = convert(document, ShieldFile)
    guards = [
        entry
        for name, made in GUARDS.items()
        if (one := getattr(file, name)) is not None and one.enabled
        for entry in made(one)
    ]
    said: dict[str, Any] = {"name": PurePath(origin).stem, "guards": guards}
    if not any(entry["use"] in READERS for entry in guards):
        said["unread"] = "allow"
    return Document(origin, node(said, document.root.at), doubts=document.doubts)
