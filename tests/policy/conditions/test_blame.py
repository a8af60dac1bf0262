"""A condition that has no answer says which part is to blame, of which type it is, and which was
expected."""

import pytest

from stanchion import Refused, Shield
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.policy.conditions import EvaluationError, compile_condition
from stanchion.policy.conditions.view import STANDARD, EventView

ARGS = {
    "amount": "30 secret",
    "n": 3,
    "l": [1, "secret"],
    "m": {"x": "secret"},
    "none": 0,
    "pattern": "secret**b",
}
VIEW = EventView(ToolCall(id="e", at=0, run=RunInfo("r"), tool="pay", args=ARGS))


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        ("event.args.amount > 100", "`event.args.amount` is a string, and `>` expects a number"),
        ("100 < event.args.amount", "`event.args.amount` is a string, and `<` expects a number"),
        (
            "event.args.amount <= event.args.n",
            "`event.args.amount` is a string, and `<=` expects a number, which `event.args.n` is",
        ),
        (
            "event.args.sum > 100",
            "`event.args.sum` is missing or null, and a value is expected there",
        ),
        (
            "event.args.l.all(x, event.args.sum > x)",
            "an argument is missing or null (in `all` over `event.args.l`)",
        ),
        ("event.args.amount + 1 == 3", "`event.args.amount` is a string, and `+` expects an int"),
        ("event.args.l > event.args.l", "`event.args.l` is a list, which `>` does not take"),
        (
            "(event.args.amount + 'x') > 3",
            "what is made of `event.args.amount` is a string, and `>` expects a number",
        ),
        (
            "-event.args.m.x > 3",
            "`event.args.m.x` is a string, and an int or a double is expected there",
        ),
        ("event.args.n.deeper == 1", "`event.args.n` is an int, and a map is expected there"),
        ("has(event.args.n.deeper)", "`event.args.n` is an int, and a map is expected there"),
        ("event.args.n[0] == 1", "`event.args.n` is an int, and a list or a map is expected there"),
        (
            "1 in event.args.n",
            "`event.args.n` is an int, and a list or a map or a set of names is expected there",
        ),
        (
            "event.args.n.startsWith('a')",
            "`event.args.n` is an int, and a string is expected there",
        ),
        ("event.args.n.matches('a')", "`event.args.n` is an int, and a string is expected there"),
        ("event.args.n", "`event.args.n` is an int, and a bool is expected there"),
        ("not event.args.n", "`event.args.n` is an int, and a bool is expected there"),
        ("event.args.n and true", "`event.args.n` is an int, and a bool is expected there"),
        ("event.args.n ? true : false", "`event.args.n` is an int, and a bool is expected there"),
        (
            "event.args.n.exists(x, x > 1)",
            "`event.args.n` is an int, and a list or a map is expected there",
        ),
        (
            "event.args.l.all(x, x > 0)",
            "a comparison does not take string and int (in `all` over `event.args.l`)",
        ),
        (
            "event.args.n > 1 ? event.args.m > 3 : true",
            "`event.args.m` is a map, and `>` expects a number",
        ),
        (
            "event.args.amount > 1 or event.args.n.y == 1",
            "`event.args.amount` is a string, and `>` expects a number",
        ),
        ("event.args.n / event.args.none > 1", "a number was divided by zero"),
        ("int(event.args.m.x) > 1", "`int`, which needs a number in range, does not take string"),
        (
            "glob(event.args.amount, event.args.pattern)",
            "a pattern that was read from the event is not a glob",
        ),
    ],
)
def test_the_part_is_named_and_its_value_is_not(condition: str, why: str) -> None:
    asked = compile_condition(condition, STANDARD)
    for _ in range(2):
        with pytest.raises(EvaluationError) as failed:
            asked.test(VIEW)
        assert str(failed.value) == why


def test_what_another_part_decides_blames_nobody() -> None:
    assert compile_condition("event.args.amount > 1 or event.args.n == 3", STANDARD).test(VIEW)


def pay(amount: str) -> str:
    """Pays."""
    return amount


def test_a_refusal_says_it_and_no_value_is_in_it() -> None:
    policy = {
        "name": "pay",
        "guards": [{"use": "rule", "id": "small", "when": "event.args.amount > 100"}],
    }
    shield = Shield.load(policy, store="memory:", journal="memory:")
    with shield, shield.run("payer") as run, pytest.raises(Refused) as refused:
        run.call(pay, amount="secret")
    assert refused.value.decision.code == "kernel.guard_error"
    assert (
        "failed with `EvaluationError: event.args.amount is a string, and > expects a number`"
        in str(refused.value)
    )
    assert "secret" not in str(refused.value.decision)
