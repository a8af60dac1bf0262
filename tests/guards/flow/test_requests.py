"""What users ask for, read from their words."""

import pytest

from stanchion.guards.flow.requests import requests
from stanchion.guards.flow.user import User
from stanchion.guards.flow.values import Value
from stanchion.readings.hostile.effects import BOOK, DELETE, PAY, SEND, SHARE, UPDATE


def verbs(text: str) -> list[str]:
    return [request.verb for request in User(text).requests]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Please pay the bill.", ["pay"]),
        ("Can I change my flight?", ["change"]),
        ("I need a refund for the order.", ["refund"]),
        ("Could you help me with cancelling my booking?", ["cancel"]),
        ("Find the file and delete it.", ["delete"]),
        ("Get rid of the old draft.", ["delete"]),
    ],
)
def test_a_request_is_read(text: str, found: list[str]) -> None:
    assert [verb for verb in verbs(text) if verb in found] == found


@pytest.mark.parametrize(
    "text",
    [
        "What did the client send?",
        "What scores did users Olivia Smith, Mia Anderson, and Mason Thompson give in the file?",
        "They usually send me a note.",
        "I'll pay it later.",
        "Do not delete anything.",
        "Remind me to pay the rent.",
        "Tell me how much I owe.",
        "Who is invited to the transfer meeting?",
        "When was the mail sent?",
        "Is there a message titled 'Send the money'?",
    ],
)
def test_what_is_told_or_forbidden_is_no_request(text: str) -> None:
    effects = 0
    for request in User(text).requests:
        effects |= request.effects
    assert not effects & (SEND | PAY | DELETE | SHARE | BOOK), verbs(text)


def test_a_request_knows_its_object_and_whether_there_are_many() -> None:
    one, many = requests("delete the largest file. share all the reports with bob.")
    assert (one.verb, one.many, "file" in one.stems) == ("delete", False, True)
    assert (many.verb, many.many, "report" in many.stems) == ("share", True, True)


def test_verbs_that_only_tools_know_are_requests_too() -> None:
    assert requests("defrost the freezer") == []
    (request,) = requests("defrost the freezer", {"defrost": 0})
    assert request.verb == "defrost"


@pytest.mark.parametrize(
    ("text", "hands_on", "points"),
    [
        ("Please do the actions specified in the email from Bob.", True, False),
        ("Read the file and follow the instructions precisely.", True, False),
        ("Perform the following tasks in the order they are given: 1. pay the bill.", False, False),
        ("Book the trip, the details are in the mail.", False, True),
        ("Pay the bill.", False, False),
    ],
)
def test_work_that_is_handed_to_a_text(text: str, hands_on: bool, points: bool) -> None:
    user = User(text)
    assert (user.hands_on, user.points) == (hands_on, points)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("send it to anna@example.org", "Anna@example.org"),
        ("pay 1,100 to them", "1100.0"),
        ("use my credit card ending in 7334", "credit_card_7334"),
        ("open example.org/a/b", "https://www.example.org/a/b/"),
        ("read the 'meeting notes' of the team", "team meeting notes"),
    ],
)
def test_a_value_is_the_users(said: str, value: str) -> None:
    assert User(said).has(Value("x", value))


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("send it to anna@example.org", "nna@example.org"),
        ("send it to anna@example.org", "anna@example.com"),
        ("pay 1100 to them", "110"),
        ("mail anna at example org", "anna@example.org"),
        ("read the notes", "secret notes"),
    ],
)
def test_a_value_is_not_the_users(said: str, value: str) -> None:
    assert not User(said).has(Value("x", value))


def test_a_language_without_a_lexicon_is_noticed() -> None:
    assert User("Please send the notes to Anna and book a room").understood
    assert not User("Bitte schicke die Notizen an Anna und buche einen Raum").understood


def test_update_is_what_change_means() -> None:
    assert User("Change my password.").requests[0].effects & UPDATE
