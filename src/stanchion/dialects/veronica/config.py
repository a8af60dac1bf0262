"""The configuration of a shield: five features, all off, from code, from the environment, from JSON or from YAML."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Final

from stanchion.dialects.errors import DialectError
from stanchion.policy.nearest import hint, nearest

ON: Final = ("1", "true", "yes", "on")
OFF: Final = ("", "0", "false", "no", "off")
PREFIX: Final = "VERONICA_"


class _Feature:
    """What the five have in common: each of their values is checked when it is made."""

    section: ClassVar[str]

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Raise `DialectError` where a value is of no use."""
        for one in fields(self):  # type: ignore[arg-type] # every subclass is a dataclass
            _check(f"{self.section}.{one.name}", getattr(self, one.name), str(one.type))


@dataclass
class SafeModeConfig(_Feature):
    """The emergency brake: no tool runs and nothing is retried. Egress and charges are not touched."""

    section: ClassVar[str] = "safe_mode"
    enabled: bool = False


@dataclass
class BudgetConfig(_Feature):
    """What may be used in any `window_seconds`: tokens, calls, dollars."""

    section: ClassVar[str] = "budget"
    enabled: bool = False
    max_tokens: int = 100_000
    max_calls: int = 1_000
    max_cost_usd: float = 10.0
    window_seconds: float = 3600


@dataclass
class CircuitBreakerConfig(_Feature):
    """A tool that fails so many times in a row is left alone for a time, then tried by one call."""

    section: ClassVar[str] = "circuit_breaker"
    enabled: bool = False
    failure_threshold: int = 5
    recovery_timeout_seconds: float = 60


@dataclass
class EgressConfig(_Feature):
    """Requests leave for these hosts and for no others; without any, none leaves."""

    section: ClassVar[str] = "egress"
    enabled: bool = False
    allowed_hosts: list[str] = field(default_factory=list)


@dataclass
class SecretGuardConfig(_Feature):
    """What leaves is searched for credentials: the kinds that Stanchion knows, and these patterns."""

    section: ClassVar[str] = "secret_guard"
    enabled: bool = False
    patterns: list[str] = field(default_factory=list)


@dataclass
class ErrorRateConfig(_Feature):
    """How the shield moves between NORMAL, WARNING and HALT by itself, and a tool into QUARANTINE. Rates are shares of
    the last `window_calls` calls."""

    section: ClassVar[str] = "error_rate"
    enabled: bool = False
    window_calls: int = 20
    min_calls: int = 10
    warning_rate: float = 0.5
    halt_rate: float = 0.8
    recovery_seconds: float = 60
    repeated_failures: int = 5
    quarantine_seconds: float = 300


@dataclass
class ShieldConfig:
    """All features of a shield. With no arguments everything is off."""

    safe_mode: SafeModeConfig = field(default_factory=SafeModeConfig)
    budget: BudgetConfig = field(default_factory=BudgetConfig)
    circuit_breaker: CircuitBreakerConfig = field(default_factory=CircuitBreakerConfig)
    egress: EgressConfig = field(default_factory=EgressConfig)
    secret_guard: SecretGuardConfig = field(default_factory=SecretGuardConfig)

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Raise `DialectError` where a feature is no configuration of its own kind, or a value of it is of no use."""
        for name, kind in SECTIONS.items():
            given = getattr(self, name)
            if not isinstance(given, kind):
                raise DialectError(f"`{name}` is of the type `{type(given).__name__}`: give a `{kind.__name__}`")
            given.check()

    @property
    def is_any_enabled(self) -> bool:
        """Whether anything is switched on."""
        return any(getattr(self, name).enabled for name in SECTIONS)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, which `from_dict` reads."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ShieldConfig:
        """A configuration from plain data. What is not known, and options of a feature that nobody switches on or off,
        is a `DialectError`."""
        if not isinstance(data, Mapping):
            raise DialectError(f"the configuration is of the type `{type(data).__name__}`: give a mapping of features")
        unknown = next((name for name in data if name not in SECTIONS), None)
        if unknown is not None:
            raise DialectError(f"there is no feature `{unknown}`: {hint(str(unknown), SECTIONS)}")
        return cls(**{name: _read(kind, data[name]) for name, kind in SECTIONS.items() if name in data})

    @classmethod
    def from_json(cls, path: str | Path) -> ShieldConfig:
        """A configuration from a JSON file."""
        return cls.from_dict(_parsed(Path(path), "JSON"))

    @classmethod
    def from_yaml(cls, path: str | Path) -> ShieldConfig:
        """A configuration from a YAML file, or from a JSON file with that ending."""
        file = Path(path)
        return cls.from_dict(_parsed(file, "JSON" if file.suffix.lower() == ".json" else "YAML"))

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> ShieldConfig:
        """A configuration from environment variables: `VERONICA_SAFE_MODE=1` switches a feature on, and
        `VERONICA_BUDGET_MAX_CALLS=50` sets an option of one. Lists have commas between their items, patterns a line
        each."""
        environ = os.environ if environ is None else environ
        known = variables()
        found: dict[str, dict[str, Any]] = {}
        for name in sorted(environ):
            if name in known:
                section, option, kind = known[name]
                found.setdefault(section, {})[option] = _from_text(name, environ[name], option, kind)
            elif name.startswith(PREFIX):
                _refuse_nearly(name, tuple(known))
        return cls.from_dict(found)


SECTIONS: Final[dict[str, type[Any]]] = {
    "safe_mode": SafeModeConfig,
    "budget": BudgetConfig,
    "circuit_breaker": CircuitBreakerConfig,
    "egress": EgressConfig,
    "secret_guard": SecretGuardConfig,
}


def variables() -> dict[str, tuple[str, str, str]]:
    """The environment variables that are read: which option of which feature each of them sets, and of what type."""
    found = {}
    for section, kind in SECTIONS.items():
        for one in fields(kind):
            end = "" if one.name == "enabled" else f"_{one.name.upper()}"
            found[f"{PREFIX}{section.upper()}{end}"] = (section, one.name, str(one.type))
    return found


def _check(name: str, value: Any, kind: str) -> None:
    match kind:
        case "bool":
            wrong = type(value) is not bool
            wanted = "`True` or `False`"
        case "int":
            least = 1 if name.endswith(("failure_threshold", "_calls", "repeated_failures")) else 0
            least = 0 if name == "budget.max_calls" else least
            wrong = type(value) is not int or value < least
            wanted = f"a whole number, {least} or more"
        case "float":
            may_be_nothing = name.endswith("cost_usd")
            wrong = type(value) not in (int, float) or not math.isfinite(value) or value < 0
            wrong = wrong or (value == 0 and not may_be_nothing) or (name.endswith("_rate") and value > 1)
            wanted = "a share from above 0 to 1" if name.endswith("_rate") else "a finite number above 0"
            wanted = "a finite amount that is not negative" if may_be_nothing else wanted
        case _:
            wrong = not isinstance(value, list | tuple) or not all(isinstance(one, str) and one for one in value)
            wanted = "a list of texts"
    if wrong:
        raise DialectError(f"`{name}` is `{value!r}`: give {wanted}")


def _read(kind: type[Any], given: Any) -> Any:
    if isinstance(given, kind):
        return given
    section = kind.section
    if not isinstance(given, Mapping):
        raise DialectError(f"`{section}` is of the type `{type(given).__name__}`: give a mapping, as `enabled: true`")
    names = [one.name for one in fields(kind)]
    unknown = next((name for name in given if name not in names), None)
    if unknown is not None:
        raise DialectError(f"`{section}` has no field `{unknown}`: {hint(str(unknown), names)}")
    if given and "enabled" not in given:
        said = f"`{section}.{next(iter(given))}` is given, and nothing acts on it while `{section}` is off"
        raise DialectError(f"{said}: add `enabled: true`, or `enabled: false` to keep it off")
    return kind(**given)


def _parsed(file: Path, form: str) -> Any:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DialectError(f"`{file}` cannot be read: {error}") from None
    if form == "JSON":
        import msgspec.json

        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError as error:
            raise DialectError(f"`{file}` is no JSON: {error}") from None
    import yaml

    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise DialectError(f"`{file}` is no YAML: {' '.join(str(error).split())}") from None
    return {} if data is None else data


def _from_text(name: str, text: str, option: str, kind: str) -> Any:
    given = text.strip()
    match kind:
        case "bool":
            if given.lower() not in (*ON, *OFF):
                raise DialectError(f"`{name}` is `{text}`: give 1 or 0")
            return given.lower() in ON
        case "int" | "float":
            try:
                return int(given) if kind == "int" else float(given)
            except ValueError:
                raise DialectError(f"`{name}` is `{text}`: give a number") from None
        case _:
            parts = given.splitlines() if option == "patterns" else given.split(",")
            return [part.strip() for part in parts if part.strip()]


def _refuse_nearly(name: str, known: tuple[str, ...]) -> None:
    """Refuse a variable that is nearly one of ours: what it asks for would not be done."""
    own = name.removeprefix(PREFIX)
    # Without the beginning that all of them share, by which everything would be near to everything.
    near = nearest(own, tuple([one.removeprefix(PREFIX) for one in known]))
    if near is not None or any(own.startswith(section.upper()) for section in SECTIONS):
        meant = hint(name, known) if near is None else f"did you mean `{PREFIX}{near}`?"
        raise DialectError(f"nothing reads `{name}`: {meant}")
