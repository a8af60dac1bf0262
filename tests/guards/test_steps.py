"""The counter of steps sees every turn of a loop, so that a loop in a loop cannot hide."""

from tests.guards.steps import steps_of


def once(n: int) -> int:
    total = 0
    for number in range(n):
        total += number
    return total


def squared(n: int) -> list[int]:
    return [inner for _ in range(n) for inner in range(n)]


def test_a_loop_doubles_and_a_loop_in_a_loop_quadruples() -> None:
    assert steps_of(lambda: once(200)) > 200
    assert 1.9 < steps_of(lambda: once(400)) / steps_of(lambda: once(200)) < 2.1
    assert steps_of(lambda: squared(40)) / steps_of(lambda: squared(20)) > 3.5
