"""How much hangs on a call is marked by its verbs, its things and its arguments."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.readings import read
from stanchion.readings.commands.deeds import deeds
from stanchion.readings.shell.analysis import analysed
from stanchion.readings.shell.requests import told_command


def told(tool: str, args: dict[str, Any]) -> tuple[str, set[str]]:
    """Which program a call is told as, and its marks."""
    event = ToolCall(id="1", at=0, run=RunInfo("r"), tool=tool, args=args)
    found = [one.text for one in deeds(read(event))][-1]
    return found[0], {word.removeprefix("--@") for word in found if word[:3] == "--@"}


@pytest.mark.parametrize(
    ("tool", "args", "marks"),
    [
        ("delete_volume", {"name": "pg"}, "weighty"),
        ("delete_user_label", {"name": "pg"}, "light"),
        ("delete_comment_from_repository", {}, "light"),
        ("k3s_uninstall", {"node": "n1"}, "weighty"),
        ("delete_thing", {}, ""),
        ("restart_queue", {"env": "prod"}, "production weighty"),
        ("restart_queue", {"name": "orders-prod"}, "production weighty"),
        ("delete_volume", {"name": "pg-test"}, "weighty light"),
        ("delete_volume", {"name": "test-prod"}, "weighty production"),
        ("stop_server", {"port": 3000}, "weighty light"),
        ("delete_messages", {"before": "2024"}, "every"),
        ("delete_messages", {"ids": ["a"]}, "light"),
        ("drive_delete_file", {"id": "x", "skip_trash": True}, "every"),
        ("purge", {"filter": {}}, "every"),
        ("update_setting", {"setting": "waf", "value": "off"}, "light off"),
        ("log_config", {"audit": False}, "light off"),
        ("log_config", {"audit": True}, "light"),
        ("update_bucket", {"acl": "public-read"}, "weighty public"),
        ("update_bucket", {"private": False}, "weighty public"),
        ("approve_pr", {"bypass_checks": True}, "past"),
        ("create_vm", {"size": "c-32"}, "weighty huge"),
        ("create_vm", {"size": "c-2", "count": 40}, "weighty huge"),
        ("create_vm", {"size": "c-2", "count": 2}, "weighty"),
        ("helm_release", {"state": "absent", "name": "web"}, "weighty"),
        ("edit_group", {"remove_members": ["ann"]}, "weighty"),
    ],
)
def test_a_call_that_acts_is_marked_by_its_weight(
    tool: str, args: dict[str, Any], marks: str
) -> None:
    assert told(tool, args) == ("tool:", set(marks.split()))


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("k8s_list_secrets", {}),
        ("vault_manager", {"action": "read", "path": "a"}),
    ],
)
def test_a_call_that_looks_at_secrets_is_told_apart(tool: str, args: dict[str, Any]) -> None:
    assert told(tool, args)[0] == "look:"


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("update_manager", {"action": "describe"}),
        ("dispatch_find_resources", {"resource_type": "fire"}),
        ("delete_cluster", {"name": "x", "dry_run": True}),
        ("search", {"query": "delete"}),
    ],
)
def test_a_call_that_only_looks_is_not_told(tool: str, args: dict[str, Any]) -> None:
    event = ToolCall(id="1", at=0, run=RunInfo("r"), tool=tool, args=args)
    assert deeds(read(event)) == ()


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("view_manager", {"action": "drop"}),
        ("get_and_delete_user", {}),
        ("snapshot_share", {"snapshot": "x"}),
        ("delete_list", {"id": "x"}),
    ],
)
def test_a_verb_that_acts_is_heard(tool: str, args: dict[str, Any]) -> None:
    assert told(tool, args)[0] == "tool:"


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("foo delete-cluster prod", True),
        ("xyz db drop customers", True),
        ("tool --force --all purge", True),
        ("./scripts/drop_prod_db.sh --yes", True),
        ("opsctl restart --env prod", True),
        ("opsctl restart web", False),
        ("foo cluster list prod", False),
        ("gifsicle --delete a.gif", False),
        ("nvm uninstall node", False),
    ],
)
def test_the_words_of_an_unknown_program_are_told(text: str, is_told: bool) -> None:
    (command,) = analysed(text).commands
    assert (told_command(command) is not None) == is_told
