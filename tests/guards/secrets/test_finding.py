"""Where secrets are found, what is said of them, and what stands in their place."""

from __future__ import annotations

import json
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from stanchion import Action, PolicyError, Shield
from stanchion.guards.secrets import Secrets
from stanchion.guards.secrets.told import fingerprint
from stanchion.kernel.content import content_of, with_content
from stanchion.kernel.events import (
    Egress,
    Failure,
    Handoff,
    ModelCall,
    ModelReply,
    Prompt,
    RunInfo,
    ToolCall,
    ToolResult,
)
from stanchion.readings import read
from stanchion.testing import shield_for
from tests.guards.steps import steps_of
from tools.secret_rules import files, read_rule

KEY = "AKIAQ3EGRXYZ5ABCD7WQ"
PLACEHOLDER = "[redacted:aws-access-token]"
RUN = RunInfo("r", task="t")
GUARD = Secrets()


def redacted(content: Any, guard: Secrets = GUARD, tool: str = "t") -> Any:
    """Arguments of a call as they go ahead."""
    event: Any = ToolCall(id="e", at=0, run=RUN, tool=tool, args=content)
    finding = guard.judge(read(event))
    if finding is None:
        return content
    from stanchion.kernel.patches import apply

    return apply(content, finding.patches)


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ({"body": f"key {KEY}."}, {"body": f"key {PLACEHOLDER}."}),
        ({"a": [1, {"b": (f"x {KEY}",)}]}, None),
        ({"a": {KEY: 1}}, {"a": {PLACEHOLDER: 1}}),
        ({"json": json.dumps({"aws": {"id": KEY}})}, {"json": json.dumps({"aws": {"id": PLACEHOLDER}})}),  # noqa: E501
        ({"json": json.dumps(json.dumps({"id": KEY}))}, {"json": json.dumps(json.dumps({"id": PLACEHOLDER}))}),  # noqa: E501
        ({"url": f"https://h/p?id={KEY}&x=1"}, {"url": f"https://h/p?id={PLACEHOLDER}&x=1"}),
        ({"password": "Zt9kQ2mVx7Lp"}, {"password": "[redacted:named-secret]"}),
        ({"h": {"Authorization": "Bearer q8Zt9kQ2mVx7Lp"}}, {"h": {"Authorization": "Bearer [redacted:named-secret]"}}),  # noqa: E501
        ({"Cookie": "sid=q8Zt9kQ2mVx7Lp; theme=dark"}, {"Cookie": "[redacted:named-secret]"}),
        ({"x-api-key": ["q8Zt9kQ2mVx7Lp"]}, {"x-api-key": ["[redacted:named-secret]"]}),
    ],
)  # fmt: skip
def test_secrets_are_taken_out_on_the_structure(content: Any, wanted: Any) -> None:
    if wanted is None:
        event: Any = ToolResult(
            id="e", at=0, run=RUN, tool="t", result={"a": [1, {"b": [f"x {KEY}"]}]}
        )
        finding = GUARD.judge(read(event))
        assert finding is not None
        assert [patch.path for patch in finding.patches] == [("a", 1, "b", 0)]
        return
    assert redacted(content) == wanted


@pytest.mark.parametrize(
    "value",
    [
        "${PASSWORD}", "$PASSWORD", "{{ password }}", "<your password>", "changeme", "xxxxxxxxxxxx",
        "************", "os.environ['PASSWORD']", "process.env.SECRET", "your_password_here",
        "[redacted:named-secret]", "short", "a whole sentence about passwords",
        "secrets.db_password", "%(password)s", "[named-secret:0a1b2c]",
    ],
)  # fmt: skip
def test_what_only_stands_for_a_secret_is_none(value: str) -> None:
    assert redacted({"password": value, "n": {"api_key": value}}) == {
        "password": value,
        "n": {"api_key": value},
    }


def test_one_encoding_is_seen_through_and_only_the_secret_is_taken_out() -> None:
    encoded = b64encode(f"user=me;id={KEY};zone=1".encode()).decode()
    quoted = quote('{"id":"', safe="") + KEY.replace("K", "%4B") + quote('"}', safe="")
    said = redacted({"a": f"x {encoded} y", "b": f"q={quoted}"})
    assert said["a"].startswith(f"x {encoded[:12]}")
    assert said["a"].endswith(" y")
    assert PLACEHOLDER in said["a"]
    assert said["b"] == f"q=%7B%22id%22%3A%22{PLACEHOLDER}%22%7D"
    assert redacted({"a": encoded, "b": quoted}, Secrets(decode=False)) == {
        "a": encoded,
        "b": quoted,
    }


def test_a_long_encoded_file_is_seen_through_where_texts_come_whole() -> None:
    encoded = b64encode(
        ("line of a file\n" * 2_000 + f"id = {KEY}\n" + "more\n" * 500).encode()
    ).decode()
    assert PLACEHOLDER in redacted({"content": encoded})["content"]


def test_every_stage_with_content_is_judged() -> None:
    text = f"id {KEY}"
    events: list[Any] = [
        Prompt(id="e", at=0, run=RUN, text=text, trusted=False),
        ModelCall(
            id="e", at=0, run=RUN, messages=[{"role": "user", "content": text}], params={"x": text}
        ),
        ModelReply(id="e", at=0, run=RUN, text=text),
        ToolCall(id="e", at=0, run=RUN, args={"a": text}),
        ToolResult(id="e", at=0, run=RUN, result=[text]),
        Egress(
            id="e", at=0, run=RUN, url=f"https://h/{KEY}", headers={"X": text}, payload={"a": text}
        ),
        Failure(id="e", at=0, run=RUN, error="E", text=text),
        Handoff(id="e", at=0, run=RUN, to="b", payload={"a": text}),
    ]
    for event in events:
        finding = GUARD.judge(read(event))
        assert finding is not None, event
        assert finding.action == Action.REDACT
        from stanchion.kernel.patches import apply

        clean = with_content(event, apply(content_of(event), finding.patches))
        assert KEY not in str(content_of(clean))
        assert GUARD.judge(read(clean)) is None


def test_a_finding_names_kind_place_and_fingerprint_and_never_the_value() -> None:
    event: Any = ToolCall(
        id="e", at=0, run=RUN, args={"to": {"body": f"a {KEY}"}, KEY: "b", "n": [f"{KEY}"] * 9}
    )
    finding = GUARD.judge(read(event))
    assert finding is not None
    called = fingerprint("aws-access-token", KEY)
    assert finding.args[:2] == ("aws-access-token", "args.(a name)")
    assert finding.detail == f"fingerprint {called}"
    assert called not in f"{finding.message}{finding.advice}"
    assert "args.to.body" in finding.message
    assert "more" in finding.message
    assert KEY not in f"{finding.message}{finding.advice}{finding.args}"
    assert len(called) == 12


def test_pseudonyms_are_stable_in_a_task_and_tell_nothing_elsewhere() -> None:
    guard = Secrets(pseudonyms=True)
    one = redacted({"a": KEY, "b": f"again {KEY}"}, guard)
    assert one["b"] == f"again {one['a']}"
    assert one["a"].startswith("[aws-access-token:")
    assert len(one["a"]) == len("[aws-access-token:]") + 6
    assert redacted(one, guard) == one
    other: Any = ToolCall(id="e", at=0, run=RunInfo("r", task="another"), args={"a": KEY})
    finding = guard.judge(read(other))
    assert finding is not None
    assert finding.patches[0].value != one["a"]
    salted = Secrets(pseudonyms=True, salt="s").judge(read(other))
    here: Any = ToolCall(id="e", at=0, run=RUN, args={"a": KEY})
    same = Secrets(pseudonyms=True, salt="s").judge(read(here))
    assert salted is not None
    assert same is not None
    assert salted.patches == same.patches


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from([read_rule(text).hits[0] for text in files().values()]),
        min_size=1,
        max_size=4,
    ),
    st.booleans(),
)
def test_what_was_redacted_is_not_found_again(hits: list[str], pseudonyms: bool) -> None:
    guard = Secrets(pseudonyms=pseudonyms)
    content = {"a": " ".join(hits), "b": {"password": hits[0]}}
    once = redacted(content, guard)
    assert redacted(once, guard) == once


def test_kinds_can_be_chosen_and_left_out() -> None:
    text = {"a": f"id {KEY}", "password": "Zt9kQ2mVx7Lp"}
    assert redacted(text, Secrets(kinds=("aws-*",))) == {
        "a": f"id {PLACEHOLDER}",
        "password": "Zt9kQ2mVx7Lp",
    }
    assert redacted(text, Secrets(without=("aws-*",)))["a"] == f"id {KEY}"


def test_patterns_of_the_policy_are_looked_for_too() -> None:
    own: Any = [
        {
            "kind": "acme-key",
            "pattern": r"\bACME-([0-9A-Z]{12})\b",
            "keywords": ["acme"],
            "entropy": 2.0,
        }
    ]
    guard = msgspec.convert({"patterns": own}, Secrets)
    assert redacted({"a": "x ACME-7Q2M9XKD4TZB y", "b": "ACME-AAAAAAAAAAAA"}, guard) == {
        "a": "x ACME-[redacted:acme-key] y",
        "b": "ACME-AAAAAAAAAAAA",
    }


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"at": {"charge": "block"}}, "where nothing is looked for"),
        ({"at": {"model_chunk": "escalate"}}, "makes no sense at `model_chunk`"),
        (
            {"at": {"egress": "block"}, "stages": ["tool_call"]},
            "at which this guard does not judge",
        ),
        ({"kinds": ["aws-acess-token"]}, "there is no kind `aws-acess-token`"),
        ({"without": ["nope-*"]}, "there is no kind `nope-\\*`"),
        ({"salt": "x"}, "does nothing without `pseudonyms`"),
        ({"patterns": [{"kind": "own", "pattern": "a+"}]}, "have no end"),
        ({"patterns": [{"kind": "aws-access-token", "pattern": "abc"}]}, "is taken"),
        ({"patterns": [{"kind": "Own Key", "pattern": "abc"}]}, "does not match the pattern"),
        ({"patterns": [{"kind": "own", "patern": "abc"}]}, "patern"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(PolicyError, match=says):
        Shield.load(
            {"name": "p", "guards": [{"use": "secrets", **options}]},
            store="memory:",
            journal="memory:",
        )


def test_an_allowed_value_is_no_secret_and_neither_is_what_is_inside_of_it() -> None:
    text = {"a": f"id {KEY}"}
    assert redacted(text, Secrets(allow=(fingerprint("aws-access-token", KEY),))) == text
    assert redacted(text, Secrets(allow=("AKIAQ3*",))) == text
    assert redacted(text, Secrets(allow=("AKIAZZ*", "0" * 12))) != text


def test_one_guard_judges_from_many_threads() -> None:
    contents = [
        {"a": f"id AKIA{number:016d} {number}", "b": "nothing here"} for number in range(200)
    ]
    wanted = [redacted(content, Secrets()) for content in contents]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(redacted, contents)) == wanted


def test_a_call_without_secrets_costs_few_steps() -> None:
    event: Any = ToolCall(
        id="e", at=0, run=RUN, args={"path": "src/a.py", "line": 3, "text": "hello"}
    )
    GUARD.judge(read(event))
    assert steps_of(lambda: GUARD.judge(read(event))) < 200


@pytest.mark.parametrize("action", ["warn", "escalate"])
def test_what_goes_on_unchanged_is_still_kept_out_of_the_trail(action: str) -> None:
    """A warning and a question to a person leave the action as it is; neither record nor ticket has
    the secret."""
    policy = {"name": "p", "guards": [{"use": "secrets", "action": action}]}
    shield = shield_for(policy)
    decision = shield.run("a").check("t", {"body": f"id {KEY}"})
    assert decision.action == Action[action.upper()]
    assert decision.patches == ()
    assert all(KEY.encode() not in kept.text for kept in shield.journal.kept())
    assert KEY not in str(shield.tickets())
