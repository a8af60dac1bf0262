"""Translating a policy pack into a policy, in each of its environments."""

from __future__ import annotations

from typing import Final

import msgspec

from stanchion import typed
from stanchion.policy.document import Document, DocumentNode, Step, in_order, node, shown
from stanchion.policy.errors import Fault, PolicyError
from stanchion.policy.formats.penguiflow.rules import (
    BINDINGS,
    NOTHING,
    Pack,
    RuleBinding,
    RuleEntry,
    RuleGuard,
    binding_of,
    unusable,
    waits_of,
)
from stanchion.policy.nearest import hint
from stanchion.policy.overlay import ENVIRONMENTS, variants
from stanchion.policy.struct_check import check
from stanchion.policy.struct_faults import faults_in

LISTS: Final = {"sync_rules": False, "async_rules": True}
"""Where rules are listed, and whether those of the list are deep."""
EVERY_TOOL: Final = "__default__"
PAUSE_S: Final = 300
"""How long a person has to answer."""


def translate(documents: tuple[Document, ...], origin: str) -> Document:
    """The policy that a pack makes; `PolicyError` has everything that is wrong with it, in every
    environment."""
    (document,) = documents
    every = variants(document)
    faults = [fault for each in every.values() for fault in (*each.faults, *check(each, Pack))]
    if faults:
        raise PolicyError(in_order(faults))
    made = {name: _Translation(each) for name, each in every.items()}
    faults = [fault for each in made.values() for fault in each.faults]
    if faults:
        raise PolicyError(in_order(faults))
    root = dict(made[None].root)
    named = document.node(ENVIRONMENTS)
    changed = {
        str(name): _overlay(document, str(name), root, one.root)
        for name, one in made.items()
        if name
    }
    if changed:
        root[ENVIRONMENTS] = named.holding(changed)
    return Document(origin, DocumentNode(root, document.root.at), doubts=document.doubts)


def _overlay(
    document: Document, name: str, under: dict[str, DocumentNode], over: dict[str, DocumentNode]
) -> DocumentNode:
    """A pack in an environment, as what lies over the pack: its guards stand in the place of the
    others, and tools that it no longer names are taken away."""
    at = document.node(ENVIRONMENTS, name)
    said = {f"{key}=" if key == "guards" else key: child for key, child in over.items()}
    tools, before = over["tools"], under["tools"]
    assert isinstance(tools.value, dict)
    assert isinstance(before.value, dict)
    gone = {
        tool: DocumentNode(None, at.at, at.key, "null")
        for tool in before.value
        if tool not in tools.value
    }
    said["tools"] = msgspec.structs.replace(tools, value={**tools.value, **gone})
    return at.holding(said)


class _Translation:
    """A pack in one of its environments as a policy, and what is wrong with it."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._pack = typed.convert(document.root.data(), Pack)
        self.faults: list[Fault] = []
        self.root = self._translated()

    def _translated(self) -> dict[str, DocumentNode]:
        document, pack = self._document, self._pack
        at = document.root.at
        if not pack.risk_router.critical_fail_closed:
            said = "`critical_fail_closed` cannot be switched off: write `true`, or leave it out"
            self._fault(said, "risk_router", "critical_fail_closed")
        tools = {
            ("*" if tool == EVERY_TOOL else tool): self._risk(tool) for tool in pack.tool_risks
        }
        guards = [
            entry
            for key in LISTS
            for number in range(len(self._rules(key)))
            for entry in self._rule(key, number)
        ]
        made = {
            "name": document.node("policy_pack"),
            "mode": node(pack.gateway.mode, document.place("gateway", "mode")),
            "tools": DocumentNode(
                tools, document.place("tool_risks"), document.key_place("tool_risks")
            ),
            "guards": DocumentNode(guards, at, at),
            "escalation": node({"timeout_s": PAUSE_S}, at),
            "deep": node(waits_of(pack), document.place("risk_router")),
        }
        if document.written("version") is not None:
            made["version"] = document.node("version")
        return made

    def _rules(self, key: str) -> tuple[RuleEntry, ...]:
        rules: tuple[RuleEntry, ...] = getattr(self._pack, key)
        return rules

    def _risk(self, tool: str) -> DocumentNode:
        said = self._document.node("tool_risks", tool)
        return said.holding({"risk": said})

    def _fault(self, message: str, *path: Step) -> None:
        self.faults.append(Fault(self._document.where(*path), message))

    def _rule(self, key: str, number: int) -> list[DocumentNode]:
        """The guards of a rule; none where something is wrong with it that has been told."""
        rule, deep = self._rules(key)[number], LISTS[key]
        binding = binding_of(rule, deep)
        if binding is None:
            own = 'For a rule of your own, name its code: `config: {call: "module:name"}`.'
            self._fault(
                f"there is no rule {shown(rule.id)}: {hint(rule.id, BINDINGS)} {own}",
                key,
                number,
                "id",
            )
            return []
        if wrong := self._misplaced(rule, binding, deep):
            self._fault(wrong, key, number, "id")
            return []
        config = self._document.node(key, number, "config") if rule.config else None
        wrong_in_config = (
            [] if config is None or binding.lacks else faults_in(config, binding.config)
        )
        if wrong_in_config or binding.lacks:
            self.faults += wrong_in_config
            return []
        said = typed.convert(rule.config, binding.config)
        for path, wrong in unusable(said):
            self._fault(wrong, key, number, "config", *path)
        parts = list(binding.parts(said, self._pack, deep))
        if not parts:
            self._fault(f"{shown(rule.id)} says nothing: {NOTHING}", key, number)
        effects = binding.effects if rule.effects is None else rule.effects
        return [self._entry(rule, (key, number), part, effects) for part in parts]

    def _misplaced(self, rule: RuleEntry, binding: RuleBinding, deep: bool) -> str:
        if binding.deep != deep:
            right = next(key for key, is_deep in LISTS.items() if is_deep == binding.deep)
            return f"{shown(rule.id)} does not belong here: move it to `{right}`"
        if binding.lacks and rule.enabled:
            return (
                f"{shown(rule.id)} cannot be judged by this version, which has no "
                f"{binding.lacks}: leave it out"
            )
        return ""

    def _entry(
        self, rule: RuleEntry, at: tuple[str, int], part: RuleGuard, effects: tuple[str, ...]
    ) -> DocumentNode:
        """An entry of a guard, whose values stand where the rule says them."""
        document, gateway, deep = self._document, self._pack.gateway, LISTS[at[0]]
        where = document.place(*at, "config", *part.path) if part.path else document.place(*at)
        made = {key: node(value, where) for key, value in part.options.items()}
        named = f"{rule.id}-{part.name}" if part.name else rule.id
        made |= {"use": node(part.use, where), "id": node(named, document.place(*at, "id"))}
        made["mode"] = node(rule.mode, document.place(*at, "mode"))
        made["enabled"] = node(
            rule.enabled and (gateway.deep.enabled or not deep), document.place(*at, "enabled")
        )
        made["fail_open"] = node(
            gateway.deep.fail_open if deep else gateway.sync.fail_open, document.place("gateway")
        )
        made["effects"] = node(effects, document.place(*at, "effects"))
        made["ends_chain"] = node(False, where)
        if part.name:
            made["part_of"] = node(rule.id, document.place(*at, "id"))
        return DocumentNode(made, document.place(*at))
