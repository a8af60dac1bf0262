"""A value of any maker is a secret beside a word that makes it one, and no secret beside one that
says otherwise."""

from __future__ import annotations

import pytest

from stanchion.guards.secrets import Secrets
from stanchion.guards.secrets.weighing import weighed
from stanchion.kernel.actions import Action
from stanchion.kernel.events import ModelCall, Prompt, RunInfo, ToolCall
from stanchion.kernel.patches import apply
from stanchion.readings import read

RUN = RunInfo("r")
MADE = "Vq8Tz2Lk9Wm4Rx7Hp3Nb6"


@pytest.mark.parametrize(
    ("before", "value"),
    [
        ("GLIMMER_API_KEY=", MADE),
        ("x-orchard-token: ", "9b1f6c52-70de-4a83-b6f5-2e81c90d47aa"),
        ("Authorization: PlumKey ", "9b1f6c52-70de-4a83-b6f5-2e81c90d47aa"),
        ("the deploy token for the harbour bot is ", MADE),
        ("Passwort für das Lager: ", "Moor!77Anker"),
        ("client_secret = '", "d41c8cd98f00b204e9800998ecf84270"),
        ("importprivkey ", "Kx9Rt2Wm5Bq8Zn4Lc7Vh1Dp6Fs3Gj0Yk"),
    ],
)
def test_a_name_and_the_looks_make_a_secret(before: str, value: str) -> None:
    assert weighed(before, value)


@pytest.mark.parametrize(
    ("before", "value"),
    [
        ("api_key_id: ", MADE),
        ("public key: ", MADE),
        ("checksum of the secret: ", "d41c8cd98f00b204e9800998ecf84270"),
        ("cache key: ", MADE),
        ("next page token=", MADE),
        ("csrf_token=", MADE),
        ("password hint: ", "Moor!77Anker"),
        ("token: ", "tokenizer-v2-base"),
        ("secret: ", "${ORCHARD_SECRET}"),
        ("api_key = ", "settings.api_key_v2"),
        ("key: ", "2026-11-16T14:18:01Z"),
        ("password: ", "correct horse"),
        ("auth: ", "https://login.example.com/oauth2/v2.0"),
        ("weather today: ", MADE),
    ],
)
def test_other_names_and_other_values_make_none(before: str, value: str) -> None:
    assert not weighed(before, value)


def test_a_password_in_the_users_own_words_goes_ahead_and_is_not_written_down() -> None:
    text = "log in as john with password 'john1234' please"
    finding = Secrets().judge(read(Prompt(id="e", at=0, run=RUN, text=text)))
    assert finding is not None
    assert (finding.action, finding.code, finding.patches) == (
        Action.ALLOW,
        "secrets.own_words",
        (),
    )
    assert "john1234" not in apply(text, finding.hides)


@pytest.mark.parametrize(
    ("role", "changed"), [("user", False), ("tool", True), ("assistant", True)]
)
def test_in_a_request_only_messages_of_the_user_are_their_own_words(
    role: str, changed: bool
) -> None:
    messages = [
        {"role": "system", "content": "be kind"},
        {"role": role, "content": "password = 'john1234x'"},
    ]
    finding = Secrets().judge(read(ModelCall(id="e", at=0, run=RUN, messages=messages)))
    assert finding is not None
    assert bool(finding.patches) == changed


@pytest.mark.parametrize(
    ("guard", "event"),
    [
        (
            Secrets(),
            Prompt(
                id="e", at=0, run=RUN, text="password = 'john1234x'", source="mail", trusted=False
            ),
        ),
        (Secrets(action="block"), Prompt(id="e", at=0, run=RUN, text="password = 'john1234x'")),
        (
            Secrets(),
            Prompt(id="e", at=0, run=RUN, text="use ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"),
        ),
    ],
    ids=["not the user", "refused", "a known maker"],
)
def test_nothing_else_goes_ahead(guard: Secrets, event: Prompt) -> None:
    finding = guard.judge(read(event))
    assert finding is not None
    assert finding.action >= Action.REDACT
    assert finding.patches


@pytest.mark.parametrize(
    "name", ["hmacKey", "relay_token_value", "x-orchard-auth-key", "smtpPass2", "botCred"]
)
def test_a_value_under_a_field_is_weighed_with_its_name(name: str) -> None:
    event = ToolCall(id="e", at=0, run=RUN, tool="send", args={name: MADE + "q4Y8"})
    assert Secrets().judge(read(event)) is not None
    assert Secrets(without=("likely-secret",)).judge(read(event)) is None


@pytest.mark.parametrize("name", ["keyId", "sortKey", "pageToken", "publicKey", "note"])
def test_a_field_whose_name_says_otherwise_is_left_alone(name: str) -> None:
    event = ToolCall(id="e", at=0, run=RUN, tool="send", args={name: MADE + "q4Y8"})
    assert Secrets().judge(read(event)) is None
