"""The guard: structure is kept, fields name their values, and options do what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from stanchion import Shield
from stanchion.guards.pii import Pii
from stanchion.kernel.actions import Action
from stanchion.kernel.events import ModelReply, RunInfo
from stanchion.kernel.stages import Stage
from stanchion.readings import read
from tests.guards.pii.reading import RUN, called, judged, kinds, redacted

USUAL = Pii()


def test_a_field_names_its_value_at_any_depth() -> None:
    given = {
        "people": [{"name": "Ann", "ssn": "536904399"}, {"name": "Bo", "SSN": 536904399}],
        "order": "536904399",
    }
    assert called(USUAL, given) == {
        "people": [
            {"name": "Ann", "ssn": "[redacted:us-ssn]"},
            {"name": "Bo", "SSN": "[redacted:us-ssn]"},
        ],
        "order": "536904399",
    }


@pytest.mark.parametrize("name", ["routingNumber", "aba_routing", "Routing No.", "bank-routing"])
def test_names_are_read_however_they_are_spelt(name: str) -> None:
    assert called(USUAL, {name: "121042882"}) == {name: "[redacted:us-aba-routing]"}


def test_a_word_of_another_text_says_nothing() -> None:
    given = {"a": "the routing number is", "b": "121042882"}
    assert called(USUAL, given) == given


def test_a_name_that_is_a_number_is_hidden_too() -> None:
    assert called(USUAL, {"078-05-1123": {"card": 4111111111111111}}) == {
        "[redacted:us-ssn]": {"card": "[redacted:credit-card]"}
    }


def test_blanks_and_hyphens_of_other_alphabets_are_read() -> None:
    assert redacted(USUAL, "4111\u00a01111\u00a01111\u00a01111") == "[redacted:credit-card]"
    assert redacted(USUAL, "ä 078\u201105\u20111123 ö") == "ä [redacted:us-ssn] ö"
    assert redacted(USUAL, "\ud800 078-05-1123 \udfff") == "\ud800 [redacted:us-ssn] \udfff"


def test_what_overlaps_is_hidden_once() -> None:
    assert redacted(Pii(entities=("*",)), "415-555-0132@example.org") == "[redacted:email]"


def test_values_and_domains_can_be_allowed() -> None:
    guard = Pii(
        entities=("email", "credit-card"),
        allow=("*@example.org", "example.com", "4111111111111111"),
    )
    text = "a@example.org b@example.com c@example.net 4111 1111 1111 1111 5555555555554444"
    expected = (
        "a@example.org b@example.com [redacted:email] 4111 1111 1111 1111 [redacted:credit-card]"
    )
    assert redacted(guard, text) == expected


def test_a_pseudonym_is_the_same_for_the_same_value_in_the_same_task() -> None:
    guard = Pii(pseudonyms=True)
    once = redacted(guard, "4111 1111 1111 1111 and 4111111111111111")
    first, _, second = once.partition(" and ")
    assert first == second
    assert redacted(guard, "5555555555554444") != first
    elsewhere = guard.judge(
        read(ModelReply(id="e", at=0, run=RunInfo("r", task="other"), text="4111111111111111"))
    )
    assert elsewhere is not None
    assert elsewhere.patches[0].value != first


def test_a_salt_makes_pseudonyms_the_same_everywhere() -> None:
    guard = Pii(pseudonyms=True, salt="house")
    runs = [RUN, RunInfo("other", task="else", tenant="b")]
    found = [
        guard.judge(read(ModelReply(id="e", at=0, run=run, text="4111111111111111")))
        for run in runs
    ]
    assert found[0] is not None
    assert found[0] == found[1]


def test_numbers_without_a_word_count_where_asked_for() -> None:
    assert kinds(USUAL, "121042882") == []
    assert kinds(Pii(bare=True, entities=("us-aba-routing",)), "121042882") == ["us-aba-routing"]
    assert kinds(Pii(bare=True, entities=("us-passport",)), "912803456") == []


def test_a_warning_changes_nothing() -> None:
    finding = judged(Pii(action="warn"), "078-05-1123")
    assert finding is not None
    assert (finding.action, finding.code, finding.patches) == (Action.WARN, "pii.found", ())


def test_a_refusal_hides_the_value_from_the_record() -> None:
    finding = judged(Pii(action="block"), "078-05-1123")
    assert finding is not None
    assert finding.action == Action.BLOCK
    assert [patch.value for patch in finding.patches] == ["[redacted:us-ssn]"]
    assert "1123" not in finding.message + finding.advice


def test_no_message_names_more_than_three_places() -> None:
    finding = judged(USUAL, "078-05-1123 4111111111111111 DE89370400440532013000 12345678Z")
    assert finding is not None
    assert finding.message == (
        "personal data (us-ssn, credit-card, iban and 1 more) in the text was replaced by "
        "placeholders"
    )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"entities": ("emial",)}, "`emial` is not an entity: did you mean `email`"),
        ({"entities": ("zz*",)}, "`zz\\*` is not an entity"),
        ({"entities": ("iban",), "without": ("iban",)}, "no entity is left"),
        ({"entities": ()}, "no entity is left"),
        ({"salt": "x"}, "nothing acts on `salt`"),
        ({"at": {"charge": "block"}}, "`at` has `charge`"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Pii(**options)  # type: ignore[arg-type]  # the options of a policy


def test_what_makes_no_sense_at_a_stage_becomes_stricter_and_a_finished_handoff_is_only_told() -> (
    None
):
    guard = Pii(action="escalate", at={"prompt": "warn"})
    assert guard.actions_at(Stage.MODEL_CHUNK) == (Action.BLOCK,)
    assert guard.actions_at(Stage.PROMPT) == (Action.WARN,)
    assert guard.actions_at(Stage.HANDOFF_DONE) == (Action.WARN,)
    assert guard.actions_at(Stage.TOOL_CALL) == (Action.ESCALATE,)
    assert guard.actions_at(Stage.CHARGE) == ()
    assert set(guard.actions()) == {Action.BLOCK, Action.WARN, Action.ESCALATE}


def test_work_grows_with_the_text_alone() -> None:
    """Twice the text has twice the candidates, whatever it is made of."""
    finder = Pii(entities=("*",))._reader.finder
    for text in (
        b"4111 1111 1111 1111 ",
        b"415 555 0132 ",
        b"078051123 ",
        b"a@b.co ",
        b"1",
        b"::1:",
    ):
        few = len(finder.candidates(text * 200))
        many = len(finder.candidates(text * 400))
        assert many <= 2 * few + 64


@pytest.mark.parametrize("action", ["allow", "warn", "escalate"])
def test_what_goes_ahead_as_it_is_stays_out_of_the_records_all_the_same(
    action: str, tmp_path: Path
) -> None:
    policy = {"name": "pii", "guards": [{"use": "pii", "at": {"tool_call": action}}]}
    shield = Shield.load(policy, store="memory:", journal=tmp_path)
    args = {"card": "4111 1111 1111 1111"}
    decision = shield.run("a").check("pay", args)
    assert [finding.code for finding in decision.findings] == ["pii.found"]
    assert decision.patched(args) == args
    shield.close()
    written = b"".join([file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()])
    assert b"[redacted:credit-card]" in written
    assert b"1111 1111" not in written
