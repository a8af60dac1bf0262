"""What a conversation has the client do: run a function, and tell what came of it."""

from __future__ import annotations

from typing import Any, Final

from stanchion.runtime.remote.faults import Elsewhere, raised
from stanchion.runtime.remote.framing import BadFrame, packed
from stanchion.runtime.remote.messages import Go
from stanchion.service.connection import Connection
from stanchion.service.remote_tool import Gone, Remote, value_of

NOTHING: Final = object()


class ClientSide:
    """The client of one conversation, as a flow sees it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.pass_turn, self.take_turn = connection.pass_turn, connection.take_turn
        self.value: Any = NOTHING
        self.error: Elsewhere | None = None

    def run(self, fn: Remote, args: dict[str, Any], timeout_s: float | None) -> Any:
        """Have the client run a function of its own; gives what it returned, or raises what it
        raised."""
        changed = args if args is not fn.args and not fn.undo else None
        if not fn.undo:
            self.value, self.error = NOTHING, None
        try:
            self.pass_turn()
            self._connection.send(packed(Go(fn.request, changed, timeout_s, fn.undo)))
            outcome = self._connection.outcome()
        except BadFrame as bad:
            self._connection.sorry(str(bad))
            raise Gone from bad
        if outcome.fault is not None:
            error = raised(outcome.fault)
            self.error = self.error if fn.undo else error
            raise error
        value = None if outcome.value is None else value_of(outcome.value)
        if not fn.undo:
            self.value = value
        return value

    def gone(self) -> bool:
        """Whether the client has hung up."""
        return self._connection.gone()
