"""A call that hands something on to another tool, or asks much at once, is judged as the calls in
it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.packs import new_run

DANGEROUS: list[tuple[str, dict[str, Any]]] = [
    ("bash", {"command": "rm -rf /srv"}),
    ("execute_python", {"code": "import shutil\nshutil.rmtree('/srv/data')"}),
    ("github_delete_repository", {"owner": "o", "repo": "r"}),
    ("delete_namespace", {"cluster": "prod", "name": "x"}),
    ("aws_rds_modify_db_instance", {"DeletionProtection": False}),
]
HONEST: list[tuple[str, dict[str, Any]]] = [
    ("bash", {"command": "ls"}),
    ("execute_python", {"code": "print(1)"}),
    ("github_get_repository", {"owner": "o", "repo": "r"}),
    ("read_file", {"path": "a"}),
]
WAYS: list[Any] = [
    lambda tool, args: ("call_tool", {"name": tool, "arguments": args}),
    lambda tool, args: ("gateway", {"tool": tool, "input": json.dumps(args)}),
    lambda tool, args: ("rpc", {"method": "tools/call", "params": {"name": tool, "args": args}}),
    lambda tool, args: ("batch", {"calls": [{"function_name": tool, "parameters": args}]}),
    lambda tool, args: ("many", {"steps": [[{"fn": tool, "kwargs": args}], {"fn": "x"}]}),
]
ASKED: list[dict[str, Any]] = [
    {"method": "DELETE", "url": "https://api.x.example/repos/o/r"},
    {"httpMethod": "delete", "target": "/repos/o/r"},
]


@pytest.mark.parametrize("way", WAYS)
def test_a_call_is_judged_wherever_it_is_handed_on(way: Any) -> None:
    run = new_run()
    assert [call for call in DANGEROUS if run.check(*way(*call)).proceeds] == []
    assert [call for call in HONEST if not run.check(*way(*call)).proceeds] == []


@pytest.mark.parametrize("request_", ASKED)
def test_a_request_is_judged_wherever_it_stands(request_: dict[str, Any]) -> None:
    run = new_run()
    assert not run.check("api", request_).proceeds
    assert not run.check("api", {"options": request_}).proceeds
    assert not run.check("api_batch", {"requests": [{"method": "GET"}, request_]}).proceeds
    assert run.check("api_batch", {"requests": [{"method": "GET", "url": "/repos/o/r"}]}).proceeds


@pytest.mark.parametrize(
    "tool", ["define_tool", "create_function", "register_action", "list_tools"]
)
def test_a_tool_that_is_described_is_not_called(tool: str) -> None:
    run = new_run()
    assert run.check(
        tool, {"name": "delete_repository", "parameters": {"owner": "string"}}
    ).proceeds


SPELLED: list[tuple[str, dict[str, Any]]] = [
    ("aws_s3_put_bucket_policy", {"Bucket": "b", "Policy": "{}"}),
    ("aws", {"service": "s3", "operation": "PutBucketPolicy", "params": {"Bucket": "b"}}),
    ("use_aws", {"service_name": "s3", "operation_name": "put_bucket_policy", "parameters": {}}),
    ("aws_cli", {"args": ["s3api", "put-bucket-policy", "--bucket", "b"]}),
]


@pytest.mark.parametrize(("tool", "args"), SPELLED)
def test_a_call_to_aws_is_one_of_its_program(tool: str, args: dict[str, Any]) -> None:
    found = new_run().check(tool, args)
    assert "aws s3api put-bucket-policy" in str(found)
