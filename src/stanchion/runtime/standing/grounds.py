"""The grounds: what the runtime needs of a shield to write down, to look up and to change what
stands.

Each room that needs more of it says so in a `grounds` of its own. Nothing below the shield knows
its class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from stanchion.kernel.state import Records
    from stanchion.policy.compiled import CompiledPolicy
    from stanchion.runtime.driving.turns import Turns
    from stanchion.runtime.standing.epoch_memory import Memory
    from stanchion.runtime.standing.tenancy import Tenancy
    from stanchion.telemetry.occurrences import Occurrences
    from stanchion.telemetry.sinks import Telemetry


class Grounds(Protocol):
    """A shield, as far as it says what holds: its policy, its store, its journal, its clock."""

    policy: CompiledPolicy
    """The policy in force."""

    store: Any
    """Where state is kept."""

    journal: Any
    """Where everything is written down."""

    records: Records
    """What the process knows of the store's records."""

    memory: Memory | None
    """What is known of the store's epoch; `None` where the store ends with the process."""

    occurrences: Occurrences
    """Tells operators what they have to hear of."""

    telemetry: Telemetry
    """Counts, and traces."""

    clock: Callable[[], int]
    """The host's clock, in milliseconds."""

    tenancy: Tenancy
    """Whose runs and states its are."""

    turns: Turns
    """Who is in line for a record."""

    @property
    def answering(self) -> Any:
        """Whatever answers lookups."""

    def nobody_beside(self) -> None:
        """Raise `AnswerRefused` where an answer without a key would be given beside an open run."""
