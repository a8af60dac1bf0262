"""Nothing is judged that was not given to a shield."""

from __future__ import annotations

import pytest

from stanchion import Refused, Shield


def test_a_tool_is_judged_where_it_is_called_through_a_run_and_nowhere_else() -> None:
    """A function stays what it is: a shield that refuses it does so for its runs, and has no record
    of other calls."""
    paid: list[int] = []

    def pay(amount: int) -> int:
        paid.append(amount)
        return amount

    policy = {"name": "p", "guards": [{"use": "tool_denylist", "tools": ["pay"]}]}
    with Shield.load(policy, store="memory:", journal="memory:") as shield:
        run = shield.run("a")
        assert pay(1) == 1
        assert not shield.journal.kept()
        with pytest.raises(Refused):
            run.call(pay, 2)
        assert pay(3) == 3
        assert [record.read().content for record in shield.journal.kept()] == [{"amount": 2}]
    assert paid == [1, 3]
