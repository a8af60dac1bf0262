"""What cannot be carried out is said in one line that names PenguiFlow's own word."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stanchion import Refused
from stanchion.dialects import penguiflow
from stanchion.dialects.penguiflow import (
    DialectError,
    GuardrailContext,
    GuardrailEvent,
    InjectionPatternRule,
    RedactionSpec,
    RuleRegistry,
    SecretRedactionRule,
    StopSpec,
    apply_policy_config,
    load_policy_pack,
)
from tests.dialects.penguiflow.planner import AsyncRule, Rule, call, decides, gateway_of, judged


def changed(**attributes: Any) -> Rule:
    """A rule that is not as it should be."""
    rule = Rule("own")
    for name, value in attributes.items():
        setattr(rule, name, value)
    return rule


def applied(**parts: Any) -> None:
    gateway = gateway_of()
    own = {
        "registry": gateway.registry,
        "gateway": gateway,
        "builder": gateway.context_builder,
        "router": gateway.risk_router,
        "policy": load_policy_pack("default-guardrails"),
    }
    apply_policy_config(**{**own, **parts})


def _any() -> Any:
    return gateway_of()


def without_risks() -> None:
    class Builder:
        def build(self, _event: Any, _ctx: Any) -> None:
            """Nothing."""

    gateway = gateway_of(context_builder=Builder())
    parts = (gateway.registry, gateway, gateway.context_builder, gateway.risk_router)
    apply_policy_config(*parts, load_policy_pack("default-guardrails"))


def twice() -> None:
    gateway = gateway_of(Rule("own"))
    gateway.registry.register(Rule("own"))


def late() -> None:
    gateway = gateway_of()
    judged(gateway, call())
    gateway.registry.register(Rule("own"))


Wrong = Callable[[], Any]
flow: Any = penguiflow
"""Everything that the dialect has, to be used wrongly."""
WRONG: dict[str, tuple[Wrong, str]] = {
    "an action": (lambda: decides("STPO"), ("GuardrailDecision.action is `STPO`: did you mean "
                                           "`STOP`?")),
    "a severity": (
        lambda: decides("STOP", severity="hgih"),
        "GuardrailDecision.severity is `hgih`: did you mean `high`?",
    ),
    "a specification": (
        lambda: decides("STOP", stop=flow.RetrySpec()),
        "GuardrailDecision.stop is `RetrySpec`: give a StopSpec",
    ),
    "effects": (lambda: decides("STOP", effects="mine"), 'effects is a text: write `("mine",)`'),
    "an effect": (lambda: decides("STOP", effects=("rollback",)), "`rollback` is Stanchion's own"),
    "an effect that is nearly one": (
        lambda: decides("STOP", effects=("flag_trajectry",)),
        "there is no effect `flag_trajectry`: did you mean `flag_trajectory`?",
    ),
    "a confidence": (lambda: decides("STOP", confidence=7), ("GuardrailDecision.confidence is `7`: "
                                                            "give a number from")),
    "a reason": (lambda: decides("STOP", reason=None), ("GuardrailDecision.reason is `None`: give "
                                                        "a "
                                                       "text")),
    "a corrective message": (
        lambda: flow.RetrySpec(corrective_message=3),
        "RetrySpec.corrective_message is `3`: give a text",
    ),
    "a user's message": (lambda: flow.StopSpec(user_message=None), ("StopSpec.user_message is "
                                                                   "`None`: give a text")),
    "a prompt": (lambda: flow.PauseSpec(prompt=None), "PauseSpec.prompt is `None`: give a text"),
    "a replacement": (
        lambda: flow.RedactionSpec(replacement=None),
        "RedactionSpec.replacement is `None`: give a text",
    ),
    "redactions of nothing": (lambda: flow.apply_redactions_to_text("abc", "x"), "`redactions` is `x`: give a list of"),  # noqa: E501
    "a redaction of nothing": (lambda: flow.apply_redactions("abc", [1]), ("`redactions` has `1`: "
                                                                          "give a RedactionSpec")),
    "a payload": (lambda: flow.GuardrailEvent("llm_before", "r", payload=None), "GuardrailEvent.payload is `None`"),  # noqa: E501
    "arguments": (
        lambda: flow.GuardrailEvent("tool_call_start", "r", None, "t", [1]),
        "GuardrailEvent.tool_args is `list`: give a dict",
    ),
    "a tool": (lambda: flow.GuardrailEvent("tool_call_start", "r", None, 5), ("GuardrailEvent.tool_"
                                                                              "n"
                                                                             "ame is `5`: give a")),
    "a channel": (
        lambda: flow.GuardrailEvent("llm_stream_chunk", "r", "x", payload={"channel": 5}),
        "`channel` in the payload is `5`: give the name of a channel",
    ),
    "final": (
        lambda: flow.GuardrailEvent("llm_stream_chunk", "r", "x", payload={"final": "yes"}),
        "`final` in the payload is `yes`: give True or False",
    ),
    "a message": (
        lambda: flow.GuardrailEvent("llm_before", "r", payload={"messages": [1]}),
        "`messages` in the payload is `list`: give a list of messages, each a dict",
    ),
    "messages": (lambda: flow.GuardrailEvent("llm_before", "r", payload={"messages": "hi"}), "`messages` in the"),  # noqa: E501
    "an index": (
        lambda: flow.GuardrailEvent("llm_stream_chunk", "r", "x", payload={"index": True}),
        "`index` in the payload is `True`: give the number of the piece",
    ),
    "tools of a context": (
        lambda: flow.GuardrailContext("r", tool_context={"available_tools": "rm"}),
        "`available_tools` is `rm`: give a",
    ),
    "denied tools": (lambda: flow.ToolAllowlistRule(denied_tools="rm"), ('denied_tools is a text: '
                                                                        'write `("rm",)`')),
    "allowed tools": (lambda: flow.ToolAllowlistRule(allowed_tools="rm"), ('allowed_tools is a '
                                                                          'text: write `("rm",)`')),
    "whether a rule is switched on": (
        lambda: flow.ToolAllowlistRule(enabled="no"),
        "ToolAllowlistRule.enabled is `no`: give True or False",
    ),
    "whether an own rule is switched on": (
        lambda: gateway_of(changed(enabled="no")),
        "the rule `own` has `enabled` as `no`: give True or False",
    ),
    "patterns of secrets": (lambda: flow.SecretRedactionRule(patterns=["x"]), ("SecretRedactionRule."  # noqa: E501
                                                                              "patterns does not")),
    "patterns of injections": (lambda: flow.InjectionPatternRule(patterns=["x"]), "InjectionPatternRule.patterns does"),  # noqa: E501
    "one pattern": (lambda: flow.InjectionPatternRule(patterns="x"), ("InjectionPatternRule.pattern"
                                                                      "s"
                                                                     " does not fit")),
    "risks": (lambda: flow.ContextSnapshotBuilder([1]), ("`tool_risk_registry` is `list`: give the "
                                                        "risks of tools")),
    "a mode": (lambda: flow.GatewayConfig(mode="shadw"), ("GatewayConfig.mode is `shadw`: did you "
                                                         "mean `shadow`?")),
    "a time": (lambda: flow.GatewayConfig(sync_timeout_ms=-1), ("GatewayConfig.sync_timeout_ms is "
                                                               "`-1`: give millisec")),
    "no time": (lambda: flow.GatewayConfig(sync_timeout_ms=float("nan")), ("GatewayConfig.sync_time"
                                                                           "o"
                                                                          "ut_ms is `nan`")),
    "a time that is true": (lambda: flow.GatewayConfig(sync_timeout_ms=True), ("sync_timeout_ms is "
                                                                              "`True`: give a "
                                                                              "numb")),
    "a pack's version": (lambda: flow.GuardrailPolicyPack("x", 1, {}), ("GuardrailPolicyPack.versio"
                                                                        "n"
                                                                       " is `1`: give a te")),
    "a ticket of nothing": (lambda: _any().ticket(None, "r"), ("`ticket` takes the "
                                                              "GuardrailDecision that says PAUSE")),
    "no gateway": (lambda: applied(gateway=None), "`gateway` is `None`: give the GuardrailGateway"),
    "no redactions": (lambda: decides("REDACT"), "says REDACT has no `redactions`"),
    "attempts": (lambda: flow.RetrySpec(-1), ("RetrySpec.max_attempts is `-1`: give a whole number "
                                             "from 0 to 100")),
    "attempts that are true": (lambda: flow.RetrySpec(True), "RetrySpec.max_attempts is `True`"),
    "a scope": (lambda: flow.PauseSpec("stpe"), "PauseSpec.scope is `stpe`: did you mean `step`?"),
    "a timeout": (lambda: flow.PauseSpec(timeout_s=0), "PauseSpec.timeout_s is `0`: give seconds"),
    "roles": (lambda: flow.PauseSpec(approver_roles="admin"), ('approver_roles is a text: write '
                                                              '`("admin",)`')),
    "one offset": (lambda: flow.RedactionSpec(start_offset=1), "RedactionSpec has one offset"),
    "offsets": (lambda: flow.RedactionSpec("text", "#", None, 4, 4), "has the offsets 4 to 4"),
    "no path": (lambda: flow.RedactionSpec(""), "RedactionSpec.path is ``: write `text`"),
    "a path to nothing": (
        lambda: flow.apply_redactions({"a": 1}, [flow.RedactionSpec("b.c")]),
        "a redaction is for `b.c`, where there is nothing",
    ),
    "beyond the end": (
        lambda: flow.apply_redactions_to_text("abc", [flow.RedactionSpec("text", "#", None, 3, 9)]),
        "a redaction begins at 3, where `text` has ended",
    ),
    "no text": (lambda: flow.apply_redactions_to_text({}, []), ("a `dict` is no text: "
                                                               "`apply_redactions` takes data")),
    "an event": (lambda: flow.GuardrailEvent("tool_start", "r"), ("there is no event `tool_start`: "
                                                                 "did you mean")),
    "no run": (lambda: flow.GuardrailEvent("llm_before", ""), "GuardrailEvent.run_id says nothing"),
    "no tool": (
        lambda: judged(gateway_of(), flow.GuardrailEvent("tool_call_start", "r")),
        "`tool_call_start` is about no tool: give its `tool_name`",
    ),
    "another run": (
        lambda: gateway_of().evaluate_sync(GuardrailContext("a"), call(run_id="b")),
        "the event has the run_id `b`, its context `a`",
    ),
    "no event": (lambda: _any().evaluate_sync({}), "`evaluate` takes a GuardrailEvent, or"),
    "no event, async": (lambda: asyncio.run(gateway_of().evaluate(call(), call())), "`evaluate` takes"),  # noqa: E501
    "no run at all": (lambda: _any().run(7), ("a run is known by its GuardrailContext or its id, "
                                             "not by `int`")),
    "a risk": (lambda: flow.ContextSnapshotBuilder({"pay": "hgih"}), ("the risk of `pay` is "
                                                                      "`hgih`: "
                                                                     "did you mean")),
    "a wait": (lambda: flow.DefaultRiskRouter(high_risk_wait_ms=-1), ("`high_risk_wait_ms` is "
                                                                      "`-1`: "
                                                                     "give milliseconds")),
    "open at critical": (lambda: flow.DefaultRiskRouter(critical_fail_closed=False), "`critical_fail_closed` cannot"),  # noqa: E501
    "a rule without an id": (lambda: gateway_of(changed(rule_id="")), "`Rule` has no `rule_id`"),
    "a class": (lambda: gateway_of(Rule), ("`Rule` is a class: register one of its objects, "
                                          "`Rule()`")),
    "a rule that cannot judge": (lambda: gateway_of(changed(evaluate=None)), ("has no method "
                                                                             "`evaluate(event, ")),
    "a rule of no event": (lambda: gateway_of(changed(supports_event_types=())), "has no `supports_event_types`"),  # noqa: E501
    "a rule of no such event": (
        lambda: gateway_of(changed(supports_event_types={"llm_befor"})),
        "there is no event `llm_befor`: did you mean `llm_before`?",
    ),
    "a rule that takes one parameter": (
        lambda: gateway_of(changed(evaluate=lambda _event: None)),
        ("`evaluate` of the rule `own` takes other parameters: write `def evaluate(self, event, "
        "context_snapshot)`"),
    ),
    "a rule that takes three": (lambda: gateway_of(changed(evaluate=lambda _e, _s, _x: None)), "takes other para"),  # noqa: E501
    "a rule that takes a keyword": (
        lambda: gateway_of(changed(evaluate=lambda _event, *, context_snapshot: context_snapshot)),
        "takes other parameters",
    ),
    "no cost": (lambda: gateway_of(changed(cost=None)), ("the rule `own` has no `cost`: give "
                                                        "`RuleCost.FAST` or")),
    "a cost": (lambda: gateway_of(changed(cost="depe")), ("the rule `own` has the cost `depe`: did "
                                                         "you mean `deep`?")),
    "the same id": (twice, "there is a rule `own` already"),
    "a rule that comes late": (late, "register rules before the first one"),
    "a registry": (lambda: flow.GuardrailGateway([]), ("`registry` is a `list`: give a "
                                                      "RuleRegistry")),
    "an evaluator": (lambda: flow.AsyncRuleEvaluator(None), ("AsyncRuleEvaluator was given a "
                                                            "`NoneType`")),
    "an inbox of nothing": (lambda: flow.InMemoryGuardInbox(None), ("InMemoryGuardInbox was given "
                                                                    "a "
                                                                   "`NoneType`")),
    "an inbox of one's own": (lambda: gateway_of(guard_inbox=object()), ("`guard_inbox` is a "
                                                                        "`object`")),
    "another's inbox": (
        lambda: gateway_of(guard_inbox=flow.InMemoryGuardInbox(flow.AsyncRuleEvaluator(RuleRegistry()))),  # noqa: E501
        "`guard_inbox` asks the rules of another RuleRegistry",
    ),
    "a decision policy": (lambda: gateway_of(decision_policy=object()), ("`decision_policy` cannot "
                                                                        "be changed")),
    "a router": (lambda: gateway_of(risk_router=object()), ("`risk_router` is a `object`: give a "
                                                           "DefaultRiskRouter")),
    "a builder": (lambda: gateway_of(context_builder=object()), ("`context_builder` needs a method "
                                                                "`def build(self, event, ctx)`")),
    "a builder that takes one parameter": (
        lambda: gateway_of(context_builder=SimpleNamespace(build=lambda _event: None)),
        "`context_builder` needs a method `def build(self, event, ctx)`",
    ),
    "a configuration": (lambda: gateway_of(config={}), ("`config` is a `dict`: give a "
                                                       "GatewayConfig")),
    "a builder without risks": (without_risks, ("the pack has `tool_risks`, and `context_builder` "
                                               "is no Context")),
    "another's registry": (lambda: applied(registry=RuleRegistry()), ("`registry` is not the one "
                                                                      "of "
                                                                     "this gateway")),
    "another's builder": (lambda: applied(builder=flow.ContextSnapshotBuilder()), "give `gateway.context_builder`"),  # noqa: E501
    "another's router": (lambda: applied(router=flow.DefaultRiskRouter()), ("give "
                                                                           "`gateway.risk_router`")),
    "a pack": (lambda: applied(policy={}), ("a pack is a GuardrailPolicyPack, not `dict`: use "
                                           "`load_policy_pack`")),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_it_is_said_in_one_line(what: str) -> None:
    use, says = WRONG[what]
    with pytest.raises(DialectError) as wrong:
        use()
    assert says in str(wrong.value)
    assert "\n" not in str(wrong.value)


@pytest.mark.parametrize(
    "answer",
    [
        "STOP",
        {"action": "ALLOW"},
        StopSpec(),
        decides("REDACT", redactions=(RedactionSpec("text"),)),
        decides("REDACT", redactions=(RedactionSpec("tool_args.none"),)),
    ],
    ids=[
        "a text",
        "a mapping",
        "a specification",
        "a text that is not there",
        "an argument that is not there",
    ],
)
@pytest.mark.parametrize("kind", [Rule, AsyncRule])
def test_an_answer_that_is_none_stops(kind: type[Rule], answer: Any) -> None:
    gateway = gateway_of(kind("own", answer))
    assert judged(gateway, call()).action == "STOP"
    gateway.close()


def test_a_fast_rule_cannot_wait_at_a_piece_of_a_reply() -> None:
    class Waits(Rule):
        async def evaluate(self, event: Any, context_snapshot: Any) -> None:
            await asyncio.sleep(0)

    gateway = gateway_of(Waits("own", events=("llm_stream_chunk",)))
    assert judged(gateway, GuardrailEvent("llm_stream_chunk", "r", "hello")).action == "STOP"
    gateway.close()


@pytest.mark.parametrize("kind", [SecretRedactionRule, InjectionPatternRule])
def test_a_pattern_that_cannot_be_matched_is_told_when_its_rule_is_registered(kind: Any) -> None:
    registry = RuleRegistry()
    given: Any = {"BAD": "(a"} if kind is SecretRedactionRule else [("(a", "jb_override")]
    with pytest.raises(DialectError, match=rf"^{kind.__name__}: .*\(a") as told:
        registry.register(kind(patterns=given))
    assert "\n" not in str(told.value)
    assert registry.get_sync_rules("llm_stream_chunk") == []


def test_a_pattern_of_secrets_whose_matches_have_no_end_is_told_when_its_rule_is_registered() -> (
    None
):
    with pytest.raises(
        DialectError, match=r"^SecretRedactionRule: the matches of the pattern .* have no end"
    ):
        RuleRegistry().register(SecretRedactionRule(patterns={"BAD": r"(a+)+\$"}))


def test_an_option_that_a_shield_does_not_have_is_told_at_once() -> None:
    with pytest.raises(
        DialectError, match="`GuardrailGateway` has no option `tennant`: did you mean `tenant`"
    ):
        gateway_of(tennant="x")


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        (
            "sync_rules:\n  - id: injection-patterns\n  - id: injektion-patterns\n",
            ":5:9: `sync_rules` has `injektion-",
        ),
        (
            "async_rules:\n  - id: nobody\n",
            ":4:9: `async_rules` has `nobody`, which is no rule of the registry",
        ),
        (
            "sync_rules:\n  - {id: own, config: {treshold: 1}}\n",
            ":4:10: the rule `own` has no setting `treshold`",
        ),
        (
            "async_rules:\n  - id: own\n",
            ":4:9: `own` does not belong to `async_rules`: move it to `sync_rules`",
        ),
    ],
)
def test_an_entry_that_fits_no_rule_is_named_with_its_line(
    rules: str, says: str, tmp_path: Path
) -> None:
    file = tmp_path / "pack.yaml"
    file.write_text(f'policy_pack: mine\nversion: "1"\n{rules}')
    gateway = gateway_of(Rule("own"))
    with pytest.raises(DialectError) as wrong:
        flow.apply_policy_config(
            gateway.registry,
            gateway,
            gateway.context_builder,
            gateway.risk_router,
            flow.load_policy_pack(file),
        )
    assert str(wrong.value).startswith(f"{file}{says}")
    gateway.close()


def test_a_fault_of_a_rule_in_a_run_is_in_the_log_once(caplog: pytest.LogCaptureFixture) -> None:
    rule = Rule("own", lambda *_: decides("ALLOW", effects=("flag_trajektory",)))
    gateway = gateway_of(rule)
    for name in ("a", "b"):
        with pytest.raises(Refused):
            gateway.run(name).call(lambda: 1)
    gateway.close()
    line = (
        "the rule `own` failed: there is no effect `flag_trajektory`: did you mean "
        "`flag_trajectory`?"
    )
    assert caplog.text.count(line) == 1
