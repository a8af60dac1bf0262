"""The configuration of a shield: five features, all off, from code, from the environment, from JSON
or from YAML."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Final

from stanchion.dialects.errors import DialectError
from stanchion.dialects.veronica.words import MadeByName, SealedList
from stanchion.policy.composed import read_text
from stanchion.policy.document import read_data
from stanchion.policy.errors import PolicyError
from stanchion.policy.formats.veronica import ShieldFile
from stanchion.policy.load import file_text
from stanchion.policy.nearest import hint, nearest
from stanchion.policy.struct_check import convert


def parsed(file: Path) -> Any:
    """What a file of JSON or YAML holds, as plain data; `DialectError` where it cannot be read."""
    try:
        document = read_text(file_text(file), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise DialectError(f"`{file}` cannot be read: {error}") from None
    if document.faults:
        raise DialectError(str(document.faults[0]))
    data = document.root.data()
    if data is None:
        # It may have been cut off, and every feature would be off.
        how = "name the features, such as `safe_mode: {enabled: true}`, or write `{}` for none"
        raise DialectError(f"`{file}` is empty: {how}")
    return data


ON: Final = ("1", "true", "yes", "on")
OFF: Final = ("", "0", "false", "no", "off")
PREFIX: Final = "VERONICA_"
MAKING: Final = "making"
MADE: Final = "made"
SEALED: Final = "sealed"


class _Named(MadeByName):
    """A configuration whose fields are given by their names, and which cannot be changed once it
    was read."""

    def __new__(cls, *args: Any, **named: Any) -> Any:
        made = super().__new__(cls)
        # Whether somebody has said that it is on or off; `enabled` is the first field of every
        # feature.
        object.__setattr__(made, "_said", bool(args) or "enabled" in named)
        object.__setattr__(made, "_state", MAKING)
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        known = [one.name for one in fields(self)]  # type: ignore[arg-type] # every subclass is a dataclass
        if name not in known:
            raise DialectError(
                f"`{type(self).__name__}` has no field `{name}`: {hint(name, known)}"
            )
        if self._state == SEALED:  # type: ignore[attr-defined] # `__new__` has set it
            said = (
                f"`{name}` of `{type(self).__name__}` is set after an integration was made of "
                f"it, which does not see it"
            )
            raise DialectError(f"{said}: make a new one, or use `set_safe_mode` for the brake")
        if self._state == MADE and name == "enabled":  # type: ignore[attr-defined] # the same
            object.__setattr__(self, "_said", True)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise DialectError(
            f"`{name}` of `{type(self).__name__}` cannot be deleted: set another value, or make a "
            f"new one"
        )

    def seal(self) -> None:
        """Let nobody change it any more, because it has been read; neither its lists."""
        for one in fields(self):  # type: ignore[arg-type] # every subclass is a dataclass
            if isinstance(given := getattr(self, one.name), list | tuple):
                object.__setattr__(
                    self, one.name, SealedList(f"{type(self).__name__}.{one.name}", given)
                )
        object.__setattr__(self, "_state", SEALED)


class _Feature(_Named):
    """What the features have in common: each of their values is checked when it is made."""

    section: ClassVar[str]
    enabled: bool

    def __post_init__(self) -> None:
        self.check()
        object.__setattr__(self, "_state", MADE)

    def check(self) -> None:
        """Raise `DialectError` where a value is of no use."""
        _check(self.section, _plain(self))

    def check_acts(self) -> None:
        """Raise `DialectError` where options are given, and nobody has said whether the feature is
        on."""
        if self.enabled or self._said:  # type: ignore[attr-defined] # `__new__` has set it
            return
        plain = type(self)()
        for one in fields(self):  # type: ignore[arg-type] # every subclass is a dataclass
            if getattr(self, one.name) != getattr(plain, one.name):
                raise DialectError(
                    _idle(
                        f"{self.section}.{one.name}", self.section, "enabled=True", "enabled=False"
                    )
                )


@dataclass
class SafeModeConfig(_Feature):
    """The emergency brake: no tool runs and nothing is retried. Egress and charges are not
    touched."""

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
    """What leaves is searched for credentials: the kinds that Stanchion knows, and these
    patterns."""

    section: ClassVar[str] = "secret_guard"
    enabled: bool = False
    patterns: list[str] = field(default_factory=list)


@dataclass
class ErrorRateConfig(_Feature):
    """How the shield moves between NORMAL, WARNING and HALT by itself, and a tool into QUARANTINE.
    Rates are shares of the last `window_calls` calls."""

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
class ShieldConfig(_Named):
    """All features of a shield. With no arguments everything is off."""

    safe_mode: SafeModeConfig = field(default_factory=SafeModeConfig)
    budget: BudgetConfig = field(default_factory=BudgetConfig)
    circuit_breaker: CircuitBreakerConfig = field(default_factory=CircuitBreakerConfig)
    egress: EgressConfig = field(default_factory=EgressConfig)
    secret_guard: SecretGuardConfig = field(default_factory=SecretGuardConfig)
    error_rate: ErrorRateConfig = field(default_factory=ErrorRateConfig)

    def __post_init__(self) -> None:
        self.check()

    def read(self) -> None:
        """Check it once more where it is going to act: options of a feature that nobody switches on
        or off are a `DialectError`. From now on it cannot be changed."""
        self.check()
        for name in SECTIONS:
            getattr(self, name).check_acts()
        self.seal()
        for name in SECTIONS:
            getattr(self, name).seal()

    def check(self) -> None:
        """Raise `DialectError` where a feature is no configuration of its own kind, or a value of
        it is of no use."""
        for name, kind in SECTIONS.items():
            given = getattr(self, name)
            if not isinstance(given, kind):
                raise DialectError(
                    f"`{name}` is of the type `{type(given).__name__}`: give a `{kind.__name__}`"
                )
            given.check()

    @property
    def is_any_enabled(self) -> bool:
        """Whether anything is switched on."""
        return any(getattr(self, name).enabled for name in SECTIONS)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, which `from_dict` reads."""
        return {name: _plain(getattr(self, name)) for name in SECTIONS}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ShieldConfig:
        """A configuration from plain data. What is not known, and options of a feature that nobody
        switches on or off, is a `DialectError`."""
        if not isinstance(data, Mapping):
            raise DialectError(
                f"`ShieldConfig` is read from a `{type(data).__name__}`: give a mapping of features"
            )
        unknown = next((name for name in data if name not in SECTIONS), None)
        if unknown is not None:
            raise DialectError(f"there is no feature `{unknown}`: {hint(str(unknown), SECTIONS)}")
        return cls(
            **{name: _read(kind, data[name]) for name, kind in SECTIONS.items() if name in data}
        )

    @classmethod
    def from_yaml(cls, path: str | Path) -> ShieldConfig:
        """A configuration from a file of YAML or JSON."""
        if not isinstance(path, str | Path) or not str(path):
            raise DialectError(f"`path` is `{path!r}`: give the path of a file")
        file = Path(path)
        data = parsed(file)
        try:
            return cls.from_dict(data)
        except DialectError as error:
            raise DialectError(f"`{file}`: {error}") from None

    from_json = from_yaml

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> ShieldConfig:
        """A configuration from environment variables: `VERONICA_SAFE_MODE=1` switches a feature on,
        and `VERONICA_BUDGET_MAX_CALLS=50` sets an option of one. Lists have commas between their
        items, patterns a line each."""
        environ = os.environ if environ is None else environ
        known = variables()
        found: dict[str, dict[str, Any]] = {}
        for name in sorted(environ):
            if name in known:
                section, option, kind = known[name]
                value = _from_text(name, environ[name], option, kind)
                _check(section, {option: value}, name)
                found.setdefault(section, {})[option] = value
            elif name.startswith(PREFIX):
                _refuse_nearly(name, tuple(known))
        for section, given in found.items():
            if "enabled" not in given:
                feature = f"{PREFIX}{section.upper()}"
                option = f"{feature}_{next(iter(given)).upper()}"
                raise DialectError(_idle(option, feature, f"{feature}=1", f"{feature}=0"))
        return cls.from_dict(found)


SECTIONS: Final[dict[str, type[Any]]] = {
    "safe_mode": SafeModeConfig,
    "budget": BudgetConfig,
    "circuit_breaker": CircuitBreakerConfig,
    "egress": EgressConfig,
    "secret_guard": SecretGuardConfig,
    "error_rate": ErrorRateConfig,
}


def variables() -> dict[str, tuple[str, str, str]]:
    """The environment variables that are read: which option of which feature each of them sets, and
    of what type."""
    found = {}
    for section, kind in SECTIONS.items():
        for one in fields(kind):
            end = "" if one.name == "enabled" else f"_{one.name.upper()}"
            found[f"{PREFIX}{section.upper()}{end}"] = (section, one.name, str(one.type))
    return found


def _check(section: str, values: Mapping[str, Any], called: str = "") -> None:
    """Refuse values of a feature that a file could not have either; `called` is what one is called
    where it comes from."""
    try:
        convert(read_data({section: {"enabled": False, **values}}, ""), ShieldFile)
    except PolicyError as error:
        fault = error.faults[0]
        name = called if called else fault.place.removeprefix(": ")
        raise DialectError(f"`{name}`: {fault.message}") from None


def _plain(section: _Feature) -> dict[str, Any]:
    given = {one.name: getattr(section, one.name) for one in fields(section)}  # type: ignore[arg-type] # a dataclass
    return {
        name: list(value) if isinstance(value, list | tuple) else value
        for name, value in given.items()
    }


def _read(kind: type[Any], given: Any) -> Any:
    if isinstance(given, kind):
        return given
    section = kind.section
    if not isinstance(given, Mapping):
        raise DialectError(
            f"`{section}` is of the type `{type(given).__name__}`: give a mapping, as `enabled: "
            f"true`"
        )
    if given and "enabled" not in given:
        raise DialectError(
            _idle(f"{section}.{next(iter(given))}", section, "enabled: true", "enabled: false")
        )
    return kind(**given)


def _idle(option: str, section: str, on: str, off: str) -> str:
    said = f"`{option}` is given, and nothing acts on it while `{section}` is off"
    return f"{said}: add `{on}`, or `{off}` to keep it off"


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
