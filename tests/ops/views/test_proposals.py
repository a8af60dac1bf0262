"""Rules that approvals propose: for what was approved often, never for what is dangerous or was
denied."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from stanchion import Refused, Shield
from stanchion.audit.open_trail import open_trail
from stanchion.audit.reader import TrailReader
from stanchion.ops.views import proposals as gathering
from stanchion.ops.views.proposals import DAY_MS, Proposals, ProposalTerms, pattern_of, proposals
from stanchion.policy.load import load_policy
from stanchion.testing import FakeClock, shield_for
from stanchion.testing.operators import operator

NOW_MS: Final = 1_799_539_200_000
POLICY: Final[dict[str, Any]] = {
    "name": "house",
    "guards": [
        {"use": "tool_denylist", "id": "ask-first", "tools": ["bash", "pay"], "action": "escalate"},
        {"use": "rule", "id": "no-root", "when": "action.command.contains('sudo')"},
    ],
}


class House:
    """A shield with a trail, and people who answer."""

    def __init__(self, folder: Path, policy: dict[str, Any]) -> None:
        self.folder, self.policy = folder, policy
        self.clock = FakeClock(NOW_MS)
        self.signer, known = operator("ann")
        trail = open_trail(folder, clock=self.clock)
        self.shield: Shield = shield_for(policy, clock=self.clock, journal=trail, operators=[known])

    def asks(
        self, command: str, yes: bool = True, agent: str = "bot", task: str = "t", **options: Any
    ) -> None:
        """Have a command asked for, answered and, where it was approved, called."""
        self.clock.advance(1_000)
        with self.shield.run(agent, task, **options) as run:
            with pytest.raises(Refused) as raised:
                run.call(self.bash, command=command)
            assert raised.value.ticket is not None
            if yes:
                self.shield.approve(raised.value.ticket, by=self.signer)
                assert run.call(self.bash, command=command) == "done"
            else:
                self.shield.deny(raised.value.ticket, by=self.signer, comment="not like that")
                with pytest.raises(Refused, match="said no"):
                    run.call(self.bash, command=command)
        self.clock.advance(3_600_000)

    @staticmethod
    def bash(command: str) -> str:
        """Do it."""
        return f"{command and 'done'}"

    def proposed(
        self,
        terms: ProposalTerms = ProposalTerms(),  # noqa: B008 - frozen
        policy: dict[str, Any] | None = None,
    ) -> Proposals:
        """What the trail proposes now."""
        made = load_policy(self.policy if policy is None else policy)
        return proposals(TrailReader(self.folder), made, terms, self.clock(), "default")


@pytest.fixture
def at_home(tmp_path: Path) -> Iterator[Callable[..., House]]:
    made: list[House] = []

    def make(**said: Any) -> House:
        made.append(House(tmp_path / "trail", {**POLICY, **said}))
        return made[-1]

    yield make
    for house in made:
        house.shield.close()


def test_what_was_approved_often_enough_is_proposed_as_it_is(at_home: Callable[..., House]) -> None:
    house = at_home()
    for _ in range(4):
        house.asks("make test")
    assert not house.proposed().proposed
    house.asks("make test", agent="bot-2")
    (one,) = house.proposed().proposed
    assert (one.approvals, one.proven, one.people) == (5, 5, ("ann",))
    assert (one.rule.tool, one.rule.args, one.rule.patterns) == (
        "bash",
        {"command": "make test"},
        {},
    )
    assert (one.rule.guards, one.rule.agents, one.rule.tasks) == (
        ("ask-first",),
        ("bot", "bot-2"),
        ("t",),
    )
    assert one.rule.until == "2027-02-09"
    assert NOW_MS < one.first_ms < one.last_ms < house.clock()
    assert one.history.spared == one.history.matched["ESCALATE"] >= 5
    assert one.history.matched["ALLOW"] == 5


def test_the_rule_that_is_proposed_lets_the_same_calls_go_ahead(
    at_home: Callable[..., House],
) -> None:
    house = at_home()
    for n in range(5):
        house.asks(f"git push origin feature-{n}")
    (one,) = house.proposed().proposed
    assert one.rule.patterns == {"command": "git push origin feature-*"}
    changed = {
        **POLICY,
        "approved": {one.name: {k: v for k, v in encoded(one.rule).items() if v not in ({}, "")}},
    }
    with shield_for(changed, clock=house.clock).run("bot", "t") as run:
        assert run.check("bash", {"command": "git push origin feature-7"}).proceeds
        assert not run.check("bash", {"command": "git push origin main"}).proceeds
    again = house.proposed(policy=changed)
    assert not again.proposed
    assert [one.why for one in again.withheld] == ["the policy approves it already"]


def encoded(rule: Any) -> dict[str, Any]:
    data: dict[str, Any] = msgspec.to_builtins(rule)
    return data


def test_nothing_is_proposed_where_somebody_denied_the_like(at_home: Callable[..., House]) -> None:
    house = at_home()
    for n in range(5):
        house.asks(f"git push origin feature-{n}")
    house.asks("git push origin feature-9", yes=False, agent="eve", task="other")
    found = house.proposed()
    assert not found.proposed
    assert [(one.tool, one.approvals, one.why) for one in found.withheld] == [
        ("bash", 5, "ann denied such a call")
    ]


def test_a_denial_of_long_ago_counts_too(at_home: Callable[..., House]) -> None:
    house = at_home()
    house.asks("make test", yes=False)
    house.clock.advance(3 * DAY_MS)
    for _ in range(5):
        house.asks("make test")
    assert [one.why for one in house.proposed(ProposalTerms(days=1)).withheld] == [
        "such a call was denied earlier"
    ]


@pytest.mark.parametrize(
    ("said", "options"),
    [
        ({"tools": {"bash": {"risk": "critical"}}}, {}),
        ({"tools": {"bash": {"effect": "irreversible"}}}, {}),
        ({"tools": {"bash": {"effect": "privilege"}}}, {}),
        ({}, {"risk": "critical"}),
    ],
)
def test_nothing_is_proposed_for_what_is_critical_or_cannot_be_undone(
    at_home: Callable[..., House], said: dict[str, Any], options: dict[str, Any]
) -> None:
    house = at_home(**said)
    for _ in range(5):
        house.asks("make test", **options)
    found = house.proposed(policy=POLICY)
    assert not found.proposed
    why = "such a call is critical or cannot be undone"
    assert [one.why.partition(":")[0] for one in found.withheld] == [why]


def test_nothing_is_proposed_that_leaves_open_what_a_call_acts_on(
    at_home: Callable[..., House],
) -> None:
    house = at_home()
    for n in range(5):
        house.asks(f"git push origin feature-{n}")
    assert house.proposed().proposed
    found = house.proposed(policy={**POLICY, "tools": {"bash": {"sinks": ["command"]}}})
    assert not found.proposed
    assert [one.why.partition(":")[0] for one in found.withheld] == [
        "the calls act on different things"
    ]


def test_thresholds_are_kept(at_home: Callable[..., House]) -> None:
    house = at_home()
    for _ in range(3):
        house.asks("make test")
    assert house.proposed(ProposalTerms(least=3)).proposed
    assert (
        house.proposed(ProposalTerms(least=3, lasts_days=1)).proposed[0].rule.until == "2027-01-11"
    )
    found = house.proposed(ProposalTerms(least=3, people=2))
    assert [one.why for one in found.withheld] == ["only ann approved it, and 2 people are needed"]
    house.clock.advance(10 * DAY_MS)
    assert not house.proposed(ProposalTerms(least=3, days=9)).proposed


def test_a_guard_that_is_always_active_or_gone_has_no_rule(at_home: Callable[..., House]) -> None:
    house = at_home()
    for _ in range(5):
        house.asks("make test")
    asks = {**POLICY["guards"][0], "always": True}
    assert "always active" in house.proposed(policy={**POLICY, "guards": [asks]}).withheld[0].why
    assert "has no guard `ask-first`" in house.proposed(policy={"name": "bare"}).withheld[0].why


def test_other_tenants_do_not_count(at_home: Callable[..., House]) -> None:
    house = at_home()
    for _ in range(5):
        house.asks("make test")
    assert not proposals(
        TrailReader(house.folder), load_policy(POLICY), ProposalTerms(), house.clock(), "other"
    ).proposed


def test_only_so_many_answers_are_kept_in_memory(
    at_home: Callable[..., House], monkeypatch: pytest.MonkeyPatch
) -> None:
    house = at_home()
    for n in range(6):
        house.asks("make old" if n < 3 else "make new")
    monkeypatch.setattr(gathering, "MOST_ANSWERS", 3)
    found = house.proposed(ProposalTerms(least=2))
    assert found.more
    assert [one.rule.args for one in found.proposed] == [{"command": "make new"}]


@pytest.mark.parametrize(
    ("values", "pattern"),
    [
        (["git push fix-1", "git push fix-22", "git push fix-3"], "git push fix-*"),
        (["docs/a.md", "docs/bc.md", "docs/d.md"], "docs/*.md"),
        (["cp in1 out1", "cp in2 out2", "cp in3 out3"], "cp in* out*"),
        (["git push fix-1", "git push fix-2", "git push fix-1"], None),
        (["make test", "make all", "make clean"], None),
        (["cp in1 out1 log1", "cp in2 out2 log2", "cp in3 out3 log3"], None),
        (["rm file1", "ls file1", "cat file1"], None),
        (["ls src1", "ls src2", "ls src3 src4"], None),
        (["ls abc*.py", "ls abd*.py", "ls abe*.py"], None),
        (["cat abc", "cat ab/../d", "cat abd"], None),
        (["echo abc", "echo ab$(b)", "echo abd"], None),
        ([1, 2, 3], None),
    ],
)
def test_a_pattern_is_found_where_few_words_differ(values: list[Any], pattern: str | None) -> None:
    assert pattern_of(values) == pattern
