"""The hooks that are shipped: each is a guard of Stanchion at the boundaries it stands at, and
judges by itself too."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, ClassVar

from stanchion.dialects.errors import DialectError
from stanchion.dialects.veronica.carried import Entry, Stated
from stanchion.dialects.veronica.config import (
    BudgetConfig,
    EgressConfig,
    SafeModeConfig,
    SecretGuardConfig,
)
from stanchion.dialects.veronica.pipeline import ShieldPipeline
from stanchion.dialects.veronica.words import Decision, MadeByName, ToolCallContext
from stanchion.policy.formats import veronica


class ShippedHook(MadeByName, Stated):
    """A hook that is stated by a policy. Asked by itself, it judges in a pipeline of its own, whose
    state is apart from that of any other."""

    boundaries: ClassVar[tuple[str, ...]]

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._own: ShieldPipeline | None = None

    @property
    def _alone(self) -> ShieldPipeline:
        with (
            self._lock
        ):  # threads that ask it first at the same moment share one, or each would count by itself
            if self._own is None:
                hooks: dict[str, Any] = dict.fromkeys(self.boundaries, self)
                self._own = ShieldPipeline(**hooks)
            return self._own


def _chosen(kind: type[Any], config: Any, said: dict[str, Any]) -> Any:
    """The configuration of a hook: the one that is given, or one with what is said. Both are
    refused."""
    given = {name: value for name, value in said.items() if value is not None}
    if config is None:
        return kind(enabled=True, **given)
    if not isinstance(config, kind):
        raise DialectError(
            f"`config` is of the type `{type(config).__name__}`: give a `{kind.__name__}`"
        )
    if given:
        raise DialectError(
            f"`{next(iter(given))}` is given beside `config`, which has it too: give one of the two"
        )
    config.check()
    if not config.enabled:
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        off = f"`config` is {article} `{kind.__name__}` that is off, and a hook is there to act"
        raise DialectError(f"{off}: give one with `enabled=True`, or leave the hook out")
    config.seal()
    return config


def _opinion(decision: Decision) -> Decision | None:
    return None if decision is Decision.ALLOW else decision


class SafeModeHook(ShippedHook):
    """The emergency brake: HALT for every call of a tool, the one without a name too, and for every
    error."""

    boundaries = ("pre_dispatch", "retry")

    def __init__(self, enabled: bool = True) -> None:
        super().__init__()
        self.config = SafeModeConfig(enabled)
        self.config.seal()

    @property
    def enabled(self) -> bool:
        """Whether it refuses anything."""
        return self.config.enabled

    def entries(self, boundary: str) -> list[Entry]:
        """Safe mode at the stage of this boundary."""
        stage = "tool_call" if boundary == "pre_dispatch" else "error"
        return (
            [{"use": "safe_mode", "id": f"safe-mode-{boundary}", "stages": [stage]}]
            if self.enabled
            else []
        )

    def before_llm_call(self, ctx: ToolCallContext) -> Decision | None:
        """HALT where a tool is called."""
        return _opinion(self._alone.before_llm_call(ctx))

    def on_error(self, ctx: ToolCallContext, err: BaseException) -> Decision | None:
        """HALT: nothing is retried."""
        return _opinion(self._alone.on_error(ctx, err))


class BudgetWindowHook(ShippedHook):
    """HALT for a charge by which more would be used in any window than it has: tokens, calls,
    dollars. What is refused is not counted."""

    boundaries = ("budget",)

    def __init__(
        self,
        max_tokens: int | None = None,
        max_calls: int | None = None,
        max_cost_usd: float | None = None,
        window_seconds: float | None = None,
        *,
        config: BudgetConfig | None = None,
    ) -> None:
        super().__init__()
        said = {"max_tokens": max_tokens, "max_calls": max_calls, "max_cost_usd": max_cost_usd}
        self.config = _chosen(BudgetConfig, config, {**said, "window_seconds": window_seconds})

    def entries(self, boundary: str) -> list[Entry]:
        """A budget of charges, whoever makes them. A call is counted where it is charged."""
        return veronica.budget(self.config)

    def before_charge(self, ctx: ToolCallContext, cost_usd: float) -> Decision | None:
        """HALT where it does not fit into the window."""
        return _opinion(self._alone.before_charge(ctx, cost_usd))


class EgressAllowlistHook(ShippedHook):
    """HALT for a request to a host that is not listed; without a list, for every request."""

    boundaries = ("egress",)

    def __init__(
        self,
        allowed_hosts: list[str] | None = None,
        *,
        config: EgressConfig | None = None,
        resolver: Callable[[str, int], Any] | None = None,
    ) -> None:
        super().__init__()
        self.config = _chosen(EgressConfig, config, {"allowed_hosts": allowed_hosts})
        if resolver is not None and not callable(resolver):
            raise DialectError("`resolver` cannot be called: give a function of a host and a port")
        self.resolver = resolver

    def entries(self, boundary: str) -> list[Entry]:
        """An allowlist for requests and for URLs in calls. Internal addresses are allowed where
        they themselves are listed; a listed name that leads to one is not."""
        return veronica.egress(self.config)

    def before_egress(self, ctx: ToolCallContext, url: str, method: str) -> Decision | None:
        """HALT where the host is not listed."""
        return _opinion(self._alone.before_egress(ctx, url, method))


class SecretGuardHook(ShippedHook):
    """QUARANTINE for what would carry a credential away: a request in its URL or in the context's
    metadata, a call in its arguments, and what goes to a model."""

    boundaries = ("egress",)

    def __init__(
        self, patterns: list[str] | None = None, *, config: SecretGuardConfig | None = None
    ) -> None:
        from stanchion.guards.secrets.guard import (
            OwnPattern,
            Secrets,
        )  # only where it is used: it knows many patterns

        super().__init__()
        self.config = _chosen(SecretGuardConfig, config, {"patterns": patterns})
        try:
            own = veronica.own_patterns(self.config.patterns)
            Secrets(patterns=tuple([OwnPattern(one["kind"], one["pattern"]) for one in own]))
        except ValueError as error:
            raise DialectError(
                f"the hook cannot be made: `secret_guard.patterns`: {error}"
            ) from None

    def entries(self, boundary: str) -> list[Entry]:
        """What looks for secrets in requests: the kinds that are known, and the patterns. A
        quarantine is one of a
        tool: without one, nobody is isolated."""
        return veronica.secret_guard(self.config)

    def before_egress(self, ctx: ToolCallContext, url: str, method: str) -> Decision | None:
        """QUARANTINE where a credential would leave."""
        return _opinion(self._alone.before_egress(ctx, url, method))
