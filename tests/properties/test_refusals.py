"""Refusals are seen: any interleaving of the same ends by the 10th, and different ones end
nothing."""

from collections import Counter
from typing import Any

from hypothesis import given, strategies as st

from stanchion.kernel.actions import Action
from stanchion.readings.history import COUNTED, LoopHistory
from stanchion.testing import shield_for
from tests.properties.examples import sample

POLICY: dict[str, Any] = {
    "name": "refusing",
    "guards": [
        {"use": "tool_denylist", "tools": ["no*"]},
        {"use": "loops", "near_action": "allow", "stall_action": "allow"},
    ],
}

CALLS = st.lists(
    st.tuples(
        st.sampled_from(["no-a", "no-b", "no-c", "no-d", "yes"]), st.integers(0, 2), st.booleans()
    ),
    max_size=60,
)
"""Calls of denied tools and of one that is not; whether what that brings is new; and by which of
two processes."""


@sample(25)
@given(CALLS)
def test_any_interleaving_of_refused_calls_ends_by_the_tenth_of_one(
    calls: list[tuple[str, int, bool]],
) -> None:
    one = shield_for(POLICY)
    runs = [one.run("ann", id="r"), shield_for(POLICY, store=one.store).run("ann", id="r")]
    since: Counter[str] = Counter()
    news: list[int] = []
    for tool, result, other in calls:
        run = runs[other]
        decision = run.check(tool, {"q": len(news) if tool == "yes" else result})
        if tool == "yes":
            if decision.proceeds:
                run.result(tool, {"q": len(news)}, result, call=decision.id)
                since = since if result in news[-10:] else Counter()
                news.append(result)
            continue
        since[tool] += 1
        wanted = Action.HALT if since[tool] >= 10 or since.total() >= 30 else Action.BLOCK
        assert decision.action == wanted, (tool, since)
        assert len(decision.findings) == (1 if since[tool] == 1 and since.total() < 6 else 2)
        if wanted == Action.HALT:
            return


@sample(25)
@given(
    st.lists(st.sampled_from([f"no-{number}" for number in range(60)]), max_size=40, unique=True)
)
def test_different_refusals_end_nothing_before_the_thirtieth(tools: list[str]) -> None:
    run = shield_for(POLICY).run("ann")
    decisions = [run.check(tool, {}) for tool in tools]
    assert {decision.action for decision in decisions[:29]} <= {Action.BLOCK}
    assert {decision.action for decision in decisions[29:]} <= {Action.HALT}


@sample(80)
@given(st.lists(st.integers(0, 200), max_size=400))
def test_no_refusal_is_counted_too_low_and_few_are_counted_exactly(drawn: list[int]) -> None:
    history = LoopHistory()
    real: Counter[int] = Counter()
    for number in drawn:
        real[number] += 1
        counted, which, whatever = history.refuse((f"{number:08}",), "whatever")
        assert (which, whatever) == (f"{number:08}", real.total())
        assert counted >= real[number]
        if len(real) <= COUNTED:
            assert counted == real[number]
    assert len(history.refusals) <= COUNTED
    assert LoopHistory.of(history.text()).refusals == history.refusals
    assert LoopHistory.of(history.text()).reasons == history.reasons


BESIDE = st.lists(
    st.one_of(
        st.from_regex(r"[a-z]{1,9}", fullmatch=True),
        st.from_regex(r"/(tmp|srv/data)/[a-z0-9]{1,9}", fullmatch=True),
        st.from_regex(r"[a-z]{1,4}=[0-9]{1,4}", fullmatch=True),
        st.from_regex(r"/home/[a-z]{1,9}", fullmatch=True),
    ),
    max_size=6,
)
"""Words beside the one that a command is refused for; some would be refused themselves."""

REFUSED = {
    "rm -rf": "/",
    "dd if=/dev/zero": "of=/dev/sda",
    "mkfs.ext4": "/dev/sda1",
    "shred -u": "/dev/sda",
}


@sample(25)
@given(
    st.sampled_from(sorted(REFUSED)),
    st.lists(st.tuples(BESIDE, BESIDE, BESIDE), min_size=10, max_size=10),
)
def test_no_words_before_behind_or_in_another_command_hide_what_is_refused_again(
    command: str, junk: list[tuple[list[str], list[str], list[str]]]
) -> None:
    run = shield_for({"name": "refusing", "guards": [{"use": "shell"}, {"use": "loops"}]}).run(
        "ann"
    )
    for at, (before, behind, other) in enumerate(junk, 1):
        first = f"rm -rf {' '.join(other)}; " if other else ""
        decision = run.check(
            "bash", {"command": first + " ".join([command, *before, REFUSED[command], *behind])}
        )
        assert decision.action == (Action.HALT if at == 10 else Action.BLOCK), at
