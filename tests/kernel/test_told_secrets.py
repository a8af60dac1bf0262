"""A secret that somebody tells in a sentence is one; a sentence about passwords is not."""

import pytest

from stanchion.kernel.told_secrets import without_told

TELLS = [
    ("my password is hunter2", "my password is X"),
    ("My Password was Hunter-2!, ok?", "My Password was X!, ok?"),
    ("the wifi password for guests is Sommer2024.", "the wifi password for guests is X."),
    ("mein Passwort ist geheim99", "mein Passwort ist X"),
    ("mon mot de passe est Azerty12", "mon mot de passe est X"),
    ("la contraseña es perro123", "la contraseña es X"),
    ("my pin is 4711", "my pin is X"),
    ("the password is 'open sesame'", "the password is 'X sesame'"),
    ("your api key is abcdef12", "your api key is X"),
    ("my bank password is swordfish.", "my bank password is X."),
    ("my password is one1 and my pin is 9876", "my password is X and my pin is X"),
]
SAYS = [
    "the password is required",
    "my password is wrong.",
    "my password is not working",
    "the password is 8 characters long",
    "the pin is 3 digits",
    "the token is invalid",
    "the token is 4096 long",
    "if password is None:",
    "the key is 12345678",
    "my password is [redacted]",
    "the secret is ${TOKEN1}",
    "passwords are hashed",
    "the spin is fast99",
    "password",
]


@pytest.mark.parametrize(("text", "shown"), TELLS)
def test_a_secret_that_is_told_is_hidden(text: str, shown: str) -> None:
    assert without_told(text, "X") == shown


@pytest.mark.parametrize("text", SAYS)
def test_a_sentence_about_one_stays(text: str) -> None:
    assert without_told(text, "X") is text
