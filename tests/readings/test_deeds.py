"""What a call asks of a service by its name or over HTTP is told as a command."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.readings import read
from stanchion.readings.commands.deeds import deeds
from stanchion.readings.programs import program_effects


def told(tool: str, args: dict[str, Any], traits: tuple[str, ...] = ()) -> list[Any]:
    """What is told of a call."""
    event = ToolCall(id="1", at=0, run=RunInfo("r"), tool=tool, args=args, traits=traits)
    return [one.text for one in deeds(read(event))]


@pytest.mark.parametrize(
    ("tool", "args", "words"),
    [
        ("github_delete_repositories", {"owner": "o"}, "tool: github delete repository --owner=o"),
        ("mcp__s3__deleteBucket", {"force": True}, "tool: mcp s3 delete bucket --force"),
        ("k8s", {"action": "delete", "kind": "Namespace"}, "tool: k8s delete namespace"),
        ("update_ref", {"force": False}, "tool: update ref --force=false"),
        ("set_role", {"user": {"role": "Admin"}}, "tool: set role --role=admin"),
        ("http_request", {"method": "DELETE", "url": "https://x/a"}, "curl -X DELETE https://x/a"),
        ("http_post", {"url": "https://x", "body": "a"}, "curl -X POST --data-raw a https://x"),
        ("delete_folder", {"path": "/home"}, "rm -r /home"),
        (
            "auth0",
            {"verb": "delete", "resource": "connections/c"},
            "tool: auth0 delete connection c",
        ),
        ("render_api", {"action": "DELETE /v1/services/x"}, "curl -X DELETE /v1/services/x"),
        ("render_api", {"action": "GET /v1/env-vars"}, "look: render api get secret"),
        (
            "fetch",
            {"url": "https://x/a", "options": {"method": "DELETE"}},
            "curl -X DELETE https://x/a",
        ),
        (
            "github_graphql",
            {"query": 'mutation{deleteRef(input:{refId:"R"}){id}}'},
            "tool: github graphql delete ref --refid=r",
        ),
        ("mongo_run", {"command": {"dropDatabase": 1}}, "tool: mongo run drop database"),
        ("dropbox_delete_folder", {"path": "/Team"}, "rm -r /Team"),
        ("delete_repository", {}, "tool: delete repository"),
        ("files", {"action": "delete", "path": "/home"}, "rm -r /home"),
        ("share_file", {"path": "a", "access": "anyone"}, "tool: share file --path=a"),
        ("api", {"body": {"query": "mutation { deleteRef(a: 1) }"}}, "tool: api delete ref"),
    ],
)
def test_what_is_told_of_a_call(tool: str, args: dict[str, Any], words: str) -> None:
    found = told(tool, args)
    assert " ".join(found[0]).startswith(words)


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("read_file", {"path": "a"}),
        ("search", {"query": "delete repository"}),
        ("http_request", {"method": "GET", "url": "https://x/a"}),
        ("write_file", {"path": "a", "content": "delete"}),
        ("bash", {"command": "/srv/terminate_worker.sh"}),
    ],
)
def test_what_changes_nothing_is_not_told(tool: str, args: dict[str, Any]) -> None:
    assert told(tool, args) == []


def test_a_request_is_told_by_its_words_too() -> None:
    url = "https://api.x.example/v1/apps/7/addPassword"
    found = told("http_request", {"method": "POST", "url": url})
    assert found[1][:8] == ("tool:", "http", "request", "api", "x", "example", "create", "v1")
    here = {"method": "POST", "url": "http://localhost:3000/users"}
    assert len(told("http_request", here)) == 1


def test_a_declared_effect_says_more_than_a_name() -> None:
    assert told("delete_repository", {"name": "r"}, ("local",)) == []
    assert told("delete_repository", {"name": "r"}, ("irreversible",)) != []


@pytest.mark.parametrize(
    ("program", "code", "words"),
    [
        ("python3", "import requests\nrequests.delete('https://x/a')", ("curl", "-X", "DELETE")),
        ("python3", "import httpx\nhttpx.request('PUT', 'https://x/a')", ("curl", "-X", "PUT")),
        ("node", "fetch('https://x/a', {method: 'DELETE'})", ("curl", "-X", "DELETE")),
        ("python3", "import stripe\nstripe.Payout.create(amount=5)", ("tool:", "stripe", "payout")),
        (
            "node",
            "const o = new Octokit(); o.rest.repos.delete({})",
            ("tool:", "octokit", "o", "rest", "repo"),
        ),
        (
            "python3",
            "import github\nr = g.get_repo('a/b')\nr.edit(private=False)",
            ("tool:", "github", "r"),
        ),
        (
            "python3",
            "import git\nr.remote('origin').push(refspec=':' + b)",
            ("git", "push", "origin", ":$"),
        ),
        (
            "yaegi",
            'import "k8s.io/client-go/kubernetes"\ncs.RbacV1().ClusterRoleBindings().Create(c, b)',
            ("tool:", "kubernete", "cs", "rbac", "v", "1", "cluster", "role", "binding"),
        ),
        (
            "node",
            'require("@aws-sdk/client-s3"); s3.send(new DeleteObjectsCommand({Bucket}));',
            ("tool:", "aws", "sdk", "delete", "object"),
        ),
        (
            "python3",
            "import smtplib\nfor r in found:\n    s.send_message(m)",
            ("tool:", "send", "bulk", "message"),
        ),
        ("python3", "import git\nr.git.push('origin', force=True)", ("git", "push", "origin")),
    ],
)
def test_what_code_asks_of_a_service(program: str, code: str, words: tuple[str, ...]) -> None:
    assert words in [argv[: len(words)] for argv in program_effects(program, code).argvs]
