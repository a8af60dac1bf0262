"""Tools as they are understood: what they do, and what their parameters are for."""

from typing import Any

import pytest

from stanchion.guards.flow.roles import Role, role
from stanchion.guards.flow.tools import Tool
from stanchion.readings.hostile.effects import BOOK, CREATE, DELETE, PAY, SEND, SHARE, UPDATE


@pytest.mark.parametrize(
    ("name", "effects"),
    [
        ("send_email", SEND),
        ("send_money", PAY),
        ("delete_file", DELETE),
        ("share_file", SHARE),
        ("reserve_hotel", BOOK),
        ("GmailSendEmail", SEND),
        ("update_password", UPDATE),
    ],
)
def test_what_a_tool_does(name: str, effects: int) -> None:
    tool = Tool(name)
    assert not tool.reads
    assert tool.effects & effects


@pytest.mark.parametrize("name", ["get_iban", "search_emails", "read_file", "list_files", "open_webpage", "calculate"])
def test_a_tool_that_reads_has_no_effect(name: str) -> None:
    assert (Tool(name).reads, Tool(name).effects) == (True, 0)


def test_a_description_helps_where_a_name_does_not() -> None:
    tool = Tool("xkcd", "Deletes a record from the archive.")
    assert not tool.reads
    assert tool.effects & DELETE
    assert Tool("xkcd").effects == 0


def test_annotations_of_the_policy_count_more_than_names() -> None:
    assert Tool("send_probe", traits=("read_only",)).reads
    purge = Tool("get_lost", traits=("destructive",))
    assert not purge.reads
    assert purge.effects & DELETE


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("recipients", Role.TARGET),
        ("to", Role.TARGET),
        ("email", Role.TARGET),
        ("account_id", Role.TARGET),
        ("sender", Role.OTHER),
        ("email_id", Role.OBJECT),
        ("fileId", Role.OBJECT),
        ("new_start_time", Role.TIME),
        ("body", Role.CONTENT),
        ("password", Role.SECRET),
        ("api_key", Role.SECRET),
        ("command", Role.COMMAND),
        ("amount", Role.AMOUNT),
        ("street", Role.OTHER),
    ],
)
def test_what_a_parameter_is_for(name: str, found: Role) -> None:
    assert role(name) is found


def test_a_parameter_is_known_by_its_description_and_by_what_it_holds() -> None:
    schema = {"properties": {"dst": {"type": "string", "description": "Account that gets the money"}}}
    assert Tool("pay", "", schema).role("dst", "x") is Role.TARGET
    assert Tool("pay").role("dst", "x") is Role.OTHER
    assert Tool("pay").role("dst", "a@example.org") is Role.TARGET


def test_what_a_definition_offers_is_a_choice() -> None:
    schema = {
        "properties": {"permission": {"enum": ["r", "rw"]}, "kind": {"anyOf": [{"$ref": "#/$defs/Kind"}]}},
        "$defs": {"Kind": {"enum": ["file"]}},
    }
    tool = Tool("share_file", "", schema)
    assert tool.chosen("permission", "r")
    assert tool.chosen("kind", "file")
    assert not tool.chosen("permission", "x")


def test_talking_to_the_user_and_to_a_person_is_neutral() -> None:
    assert Tool("send_message_to_user").neutral({"message": "hello"})
    assert Tool("transfer_to_human_agents").neutral({"summary": "x"})
    assert Tool("think").neutral({"thought": "x"})
    assert not Tool("send_message").neutral({"recipient": "bob", "message": "hello"})
    assert not Tool("complete_order").neutral({"order_id": "7"})


def test_odd_definitions_do_no_harm() -> None:
    odd: list[Any] = [None, [], {"properties": []}, {"properties": {"a": 1}}, {"properties": {"a": {"anyOf": [1]}}}]
    for schema in odd:
        assert Tool("create_note", {"description": 7}, schema).effects & CREATE
