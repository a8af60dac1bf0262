"""One context, one answer: what a boundary refuses, `execute` refuses too, with a tool or without,
sync and async."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from stanchion.dialects.veronica import (
    Decision,
    EgressAllowlistHook,
    EgressConfig,
    SecretGuardConfig,
    SecretGuardHook,
    ShieldConfig,
    ToolCallContext,
    VeronicaIntegration,
)

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
EGRESS = ShieldConfig(egress=EgressConfig(enabled=True, allowed_hosts=["example.com"]))
SECRETS = ShieldConfig(secret_guard=SecretGuardConfig(enabled=True))
GOOD, BAD = "https://example.com/", "https://example.org/"


def resolved(_host: str, _port: int) -> list[str]:
    return ["93.184.215.14"]


def answers(config: ShieldConfig, ctx: ToolCallContext, **kwargs: Any) -> list[Any]:
    """What the boundary and `execute` say of one context, sync and async, each in an integration of
    its own."""
    made = [VeronicaIntegration(shield=config, resolver=resolved) for _ in range(4)]
    pipelines = [vi._shield_pipeline for vi in made]
    assert pipelines[0] is not None
    assert pipelines[1] is not None
    return [
        pipelines[0].before_llm_call(ctx),
        asyncio.run(pipelines[1].abefore_llm_call(ctx)),
        made[2].execute(ctx, lambda **given: sorted(given), **kwargs),
        asyncio.run(made[3].aexecute(ctx, lambda **given: sorted(given), **kwargs)),
    ]


@pytest.mark.parametrize("tool", ["fetch", None])
@pytest.mark.parametrize("said", ["metadata", "endpoint"])
def test_where_a_context_says_that_its_call_goes_is_judged(tool: str | None, said: str) -> None:
    for url, expected in (
        (BAD, [Decision.HALT] * 4),
        (GOOD, [Decision.ALLOW, Decision.ALLOW, ["n"], ["n"]]),
    ):
        given: dict[str, Any] = {said: {"url": url} if said == "metadata" else url}
        assert answers(EGRESS, ToolCallContext("r", tool_name=tool, **given), n=1) == expected


@pytest.mark.parametrize("tool", ["fetch", None])
@pytest.mark.parametrize(
    "host",
    ["{}", "{}/v1", "{}:443/v1", "//{}/v1", " {} ", "me:pw@{}"],
    ids=["bare", "path", "port", "//", " ", "@"],
)
def test_an_endpoint_without_a_scheme_is_read_as_its_host(tool: str | None, host: str) -> None:
    for name, expected in (
        ("example.org", [Decision.HALT] * 4),
        ("169.254.169.254", [Decision.HALT] * 4),
    ):
        assert (
            answers(EGRESS, ToolCallContext("r", tool_name=tool, endpoint=host.format(name)), n=1)
            == expected
        )
    allowed = answers(EGRESS, ToolCallContext("r", tool_name=tool, endpoint="example.com/v1"), n=1)
    assert allowed == [Decision.ALLOW, Decision.ALLOW, ["n"], ["n"]]


@pytest.mark.parametrize("tool", ["fetch", None])
@pytest.mark.parametrize("path", ["/v1/chat", "chat/completions", "v1.2/chat", "./example.org"])
def test_an_endpoint_that_is_a_path_goes_nowhere(tool: str | None, path: str) -> None:
    ctx = ToolCallContext("r", tool_name=tool, endpoint=path)
    assert answers(EGRESS, ctx, n=1) == [Decision.ALLOW, Decision.ALLOW, ["n"], ["n"]]


@pytest.mark.parametrize("tool", ["fetch", None])
def test_the_arguments_of_a_call_are_judged_with_a_tool_or_without_one(tool: str | None) -> None:
    ctx = ToolCallContext("r", tool_name=tool)
    assert answers(EGRESS, ctx, url=BAD)[2:] == [Decision.HALT] * 2
    assert answers(EGRESS, ctx, url=GOOD)[2:] == [["url"]] * 2


@pytest.mark.parametrize("tool", ["fetch", None])
def test_an_argument_does_not_hide_what_the_metadata_say_under_the_same_name(
    tool: str | None,
) -> None:
    ctx = ToolCallContext("r", tool_name=tool, metadata={"url": BAD})
    assert answers(EGRESS, ctx, url=GOOD)[2:] == [Decision.HALT] * 2


@pytest.mark.parametrize("tool", ["send", None])
def test_a_secret_does_not_leave_with_a_call(tool: str | None) -> None:
    assert (
        answers(SECRETS, ToolCallContext("r", tool_name=tool), body=TOKEN)[2:]
        == [Decision.QUARANTINE] * 2
    )
    assert (
        answers(SECRETS, ToolCallContext("r", tool_name=tool, metadata={"a": TOKEN}))
        == [Decision.QUARANTINE] * 4
    )
    assert (
        answers(SECRETS, ToolCallContext("r", tool_name=tool, metadata={"a": "tea"}), n=1)[2:]
        == [["n"]] * 2
    )


def test_a_secret_does_not_leave_in_messages() -> None:
    vi = VeronicaIntegration(shield=SECRETS)
    words = [{"role": "tool", "content": f"it is {TOKEN}"}]
    assert vi.execute(ToolCallContext("r"), lambda messages: messages, words) is Decision.QUARANTINE
    plain = [{"role": "user", "content": "tea"}]
    assert vi.execute(ToolCallContext("r"), lambda messages, n: (messages, n), plain, n=2) == (
        plain,
        2,
    )


def test_a_patch_of_metadata_changes_nothing_of_the_call() -> None:
    """A function gets its own arguments alone, also where a guard takes something out of what
    stands beside them."""
    vi = VeronicaIntegration(policy={"guards": [{"use": "secrets", "stages": ["tool_call"]}]})
    ctx = ToolCallContext("r", tool_name="send", metadata={"note": TOKEN, "a": TOKEN})
    assert vi.execute(ctx, lambda a, b: (a, b), "tea", TOKEN) == ("tea", "[redacted:github-pat]")


def test_a_pattern_of_ones_own_is_found_behind_an_escape() -> None:
    ctx = ToolCallContext("r", tool_name="t")
    for written in ("corp-12345678", "corp%2D12345678", "%63orp-12345678", "corp%252D12345678"):
        hook = SecretGuardHook(["corp-[0-9]{8}"])
        assert (
            hook.before_egress(ctx, f"https://192.0.2.1/?k={written}", "GET") is Decision.QUARANTINE
        )
    assert (
        SecretGuardHook(["corp-[0-9]{8}"]).before_egress(
            ctx, "https://192.0.2.1/?k=corp%2D1234", "GET"
        )
        is None
    )


def test_a_hook_looks_names_up_with_its_own_resolver() -> None:
    asked: list[str] = []

    def own(host: str, _port: int) -> list[str]:
        asked.append(host)
        return ["93.184.215.14"]

    ctx = ToolCallContext("r")
    assert (
        EgressAllowlistHook(["example.com"], resolver=own).before_egress(ctx, GOOD, "GET") is None
    )
    vi = VeronicaIntegration(egress=EgressAllowlistHook(["example.com"], resolver=own))
    assert vi.run.egress(GOOD).proceeds
    assert asked == ["example.com", "example.com"]


def test_metadata_that_cannot_be_read_halt_at_every_boundary() -> None:
    deep: dict[str, Any] = {}
    for _ in range(200):
        deep = {"a": deep}
    vi = VeronicaIntegration(shield=EGRESS, resolver=resolved)
    pipeline = vi._shield_pipeline
    assert pipeline is not None
    ctx = ToolCallContext("r", tool_name="t", metadata=deep)
    assert (
        pipeline.before_llm_call(ctx) is pipeline.before_egress(ctx, GOOD, "GET") is Decision.HALT
    )
    assert (
        asyncio.run(pipeline.abefore_egress(ctx, GOOD, "GET"))
        is vi.execute(ctx, print)
        is Decision.HALT
    )
    assert vi.execute(ToolCallContext("r", endpoint=GOOD, metadata=deep), print) is Decision.HALT
