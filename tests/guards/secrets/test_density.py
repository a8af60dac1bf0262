"""Texts with more hits than their length allows are refused unread, and by no policy need be."""

from typing import Any

from stanchion.kernel.sizes import LIMITS, MATCHES, allowed, unread
from stanchion.runtime.shield import Shield

DENSE = "".join([f"token_{at} = 'q7RkP2mXv9Lt{at:05}WzB4'\n" for at in range(400)])


def _shield(**limits: int) -> Shield:
    policy: dict[str, Any] = {"name": "p", "guards": [{"use": "secrets"}], "limits": limits}
    return Shield.load(policy, store="memory:", journal="memory:")


def test_more_hits_than_a_text_may_have_are_refused_unread() -> None:
    decision = _shield().run(agent="a").result("web", {}, DENSE)
    assert decision.code == "kernel.too_dense"
    assert unread(decision.findings)
    assert str(allowed(len(DENSE), LIMITS.matches_a_kb)) in decision.message


def test_a_policy_moves_the_limit() -> None:
    decision = _shield(matches_a_kb=200).run(agent="a").result("web", {}, DENSE)
    assert decision.code == "secrets.redacted"
    assert "q7RkP2mXv9Lt" not in decision.patched(DENSE)


def test_a_table_of_people_has_fewer_than_a_text_of_numbers_alone() -> None:
    shield = Shield.load("default", store="memory:", journal="memory:")
    rows = "".join([f"{at:03},Ann Lee,card 4111111111111111,paid\n" for at in range(999)])
    assert shield.run(agent="a").result("read", {}, rows).code == "pii.redacted"
    assert shield.run(agent="b").result("read", {}, rows[12:] * 2).code == "pii.redacted"
    dense = "4111111111111111 " * 2_000
    assert shield.run(agent="c").result("read", {}, dense).code == "kernel.too_dense"


def test_a_file_of_settings_has_fewer() -> None:
    some = DENSE[: len(DENSE) // 8]
    assert _shield().run(agent="a").result("read", {}, some).code == "secrets.redacted"


def test_what_stands_for_something_taken_out_is_no_hit() -> None:
    text = "token = '[redacted:generic-token]' " * (2 * MATCHES)
    assert _shield().run(agent="a").result("read", {}, text).code == ""
