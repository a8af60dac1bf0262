"""Policy packs: read and checked as a whole, then put in force by a gateway, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import msgspec

from stanchion.dialects.errors import DialectError
from stanchion.dialects.penguiflow.rules import (
    LONGEST_MS,
    SETTINGS,
    DefaultRiskRouter,
    RuleOverrides,
    RuleRegistry,
    says_nothing,
)
from stanchion.dialects.penguiflow.words import shown, typed
from stanchion.policy.composed import read_text
from stanchion.policy.document import Document, DocumentNode, in_order
from stanchion.policy.errors import Fault, PolicyError, refusal
from stanchion.policy.formats.penguiflow.rules import BINDINGS, NOTHING, Pack
from stanchion.policy.formats.penguiflow.translate import LISTS, translate
from stanchion.policy.load import compile_document, file_text
from stanchion.policy.nearest import hint
from stanchion.policy.overlay import environment, variants
from stanchion.policy.struct_check import check

Config = TypeVar("Config", bound=msgspec.Struct)

SHIPPED: Final = "default-guardrails"
"""The name of the pack that comes with Stanchion."""


class GatewayConfig(msgspec.Struct):
    """How a gateway judges. What is assigned to one of its fields is in force from the next event
    on. A pack that does not say `fail_open` of its fast rules has them fail closed."""

    mode: Literal["shadow", "enforce"] = "enforce"
    sync_timeout_ms: float = 800.0
    sync_parallel: bool = True
    sync_fail_open: bool = True
    async_enabled: bool = True
    async_fail_open: bool = False

    def __post_init__(self) -> None:
        self.checked()

    def checked(self) -> None:
        """Raise where a field says what cannot be carried out."""
        typed(self)
        if not 0 < self.sync_timeout_ms <= LONGEST_MS:
            limit = f"milliseconds, more than 0, {LONGEST_MS:,} at most"
            raise DialectError(
                f"GatewayConfig.sync_timeout_ms is {shown(self.sync_timeout_ms)}: give {limit}"
            )


class GuardrailPolicyPack(msgspec.Struct, frozen=True):
    """A pack as it is in one of its environments: its name, its version, and what it says."""

    policy_id: str
    version: str
    data: dict[str, Any]
    places: dict[str, Any] = {}
    """Where a file has the entries of rules, by their lists and numbers, such as
    `sync_rules[0]`."""

    def __post_init__(self) -> None:
        typed(self)


def load_policy_pack(path: str | Path, *, env: str | None = None) -> GuardrailPolicyPack:
    """Read a pack from a file, or the one that is shipped, and check all of it; `env` names one of
    its environments.

    Raises `PolicyError` with everything that is wrong, each at its line, in every environment.
    """
    document = _document(path)
    data = document.root.data()
    if not isinstance(data, dict) or "policy_pack" not in data:
        raise refusal(
            document.where(), "this is no policy pack: begin it with `policy_pack:` and its name"
        )
    every = [*variants(document).values(), environment(document, env)]
    faults = [fault for one in every for fault in (*one.faults, *check(one, Pack))]
    if faults:
        raise PolicyError(in_order(list(dict.fromkeys(faults))))
    faults = [fault for one in every for fault in _twice(one)]
    if faults:
        raise PolicyError(in_order(list(dict.fromkeys(faults))))
    for one in every:
        compile_document(translate((_known(one),), one.origin), imports=False)
    chosen = environment(document, env)
    merged: dict[str, Any] = chosen.root.data()
    written = document.written("version")
    version = "1" if written is None else str(written)
    return GuardrailPolicyPack(
        str(merged["policy_pack"]), version, {**merged, "version": version}, _places(chosen, merged)
    )


def _places(document: Document, data: dict[str, Any]) -> dict[str, Any]:
    return {
        f"{key}[{number}]": document.where(key, number, "id")
        for key in LISTS
        for number in range(len(data.get(key, ())))
    }


def _twice(document: Document) -> Iterator[Fault]:
    """Entries whose rule has one already, in the same list or in the other."""
    seen: set[str] = set()
    for key in LISTS:
        for number, said in enumerate(document.root.data().get(key, ())):
            if said["id"] in seen:
                yield Fault(document.where(key, number, "id"), _taken(said["id"]))
            seen.add(said["id"])


def _taken(name: str) -> str:
    return f"the rule `{name}` has an entry already: say everything of it in one"


def _document(path: str | Path) -> Document:
    if path == SHIPPED:
        from importlib import resources

        return read_text(
            resources.files(__package__).joinpath("default.yaml").read_text("utf-8"),
            f"pack {SHIPPED}",
        )
    try:
        return read_text(file_text(Path(path)), str(path))
    except FileNotFoundError:
        how = f"give the path of a file, or `{SHIPPED}` for the pack that is shipped"
        raise refusal(path, f"no such policy pack: {how}") from None
    except UnicodeDecodeError:
        raise refusal(path, "cannot be read: it is not UTF-8") from None
    except OSError as error:
        why = error.strerror.lower() if error.strerror else type(error).__name__
        raise refusal(path, f"cannot be read: {why}") from None


def _known(document: Document) -> Document:
    """A pack without entries for rules that only a registry can know."""
    root = document.root
    assert isinstance(root.value, dict)
    kept = dict(root.value)
    for key in LISTS:
        listed = kept.get(key)
        if listed is not None and isinstance(listed.value, list):
            known = [one for one in listed.value if _is_known(one)]
            kept[key] = msgspec.structs.replace(listed, value=known)
    return msgspec.structs.replace(document, root=msgspec.structs.replace(root, value=kept))


def _is_known(entry: DocumentNode) -> bool:
    said = entry.data()
    return said["id"] in BINDINGS or "call" in said.get("config", {})


class Settled(msgspec.Struct, frozen=True):
    """What a pack comes to for the rules of one's own that a registry has."""

    told: dict[str, RuleOverrides]
    config: dict[str, dict[str, Any]]
    entries: dict[str, dict[str, dict[str, Any]]]
    """The entries of all other rules, by the list that they stand in and their ids."""

    def settings(self) -> Iterator[tuple[str, str, Any]]:
        """What is set of which rule, one after the other."""
        for name, config in self.config.items():
            yield from ((name, key, value) for key, value in config.items())


def settled(registry: RuleRegistry, pack: GuardrailPolicyPack) -> Settled:
    """Tell the entries of a pack apart; raises where one is for no rule, or says what its rule does
    not have."""
    own = registry.own
    told: dict[str, RuleOverrides] = {}
    configs: dict[str, dict[str, Any]] = {}
    entries: dict[str, dict[str, dict[str, Any]]] = {}
    seen: set[str] = set()
    for key, deep in LISTS.items():
        others = entries.setdefault(key, {})
        for number, said in enumerate(pack.data.get(key, ())):
            name, config = said["id"], said.get("config", {})
            try:
                if name in seen:
                    raise DialectError(_taken(name))
                seen.add(name)
                if name in own:
                    configs[name] = _config(own[name], name, config)
                    told[name] = _told(registry, name, said, key, deep)
                elif name in BINDINGS or "call" in config:
                    others[name] = {
                        setting: said[setting] for setting in SETTINGS if setting in said
                    }
                else:
                    words = hint(name, [*BINDINGS, *own])
                    raise DialectError(
                        f"`{key}` has `{name}`, which is no rule of the registry: {words}"
                    )
            except DialectError as error:
                at = pack.places.get(f"{key}[{number}]")
                raise (error if at is None else DialectError(f"{at}: {error}")) from None
    for name, entry in _merged(registry.entries(), entries)["sync_rules"].items():
        if says_nothing(entry) and entry.get("enabled", True):
            raise DialectError(f"the rule `{name}` still says nothing after the pack: {NOTHING}")
    return Settled(told, configs, entries)


def _told(
    registry: RuleRegistry, name: str, said: dict[str, Any], key: str, deep: bool
) -> RuleOverrides:
    if registry.is_fast(name) is deep:
        right = next(other for other in LISTS if other != key)
        raise DialectError(f"`{name}` does not belong to `{key}`: move it to `{right}`")
    return RuleOverrides(
        said.get("enabled"), said.get("mode", "enforce"), tuple(said.get("effects", ()))
    )


def _config(rule: Any, name: str, config: dict[str, Any]) -> dict[str, Any]:
    settable = [
        one for one in dir(rule) if not one.startswith("_") and not callable(getattr(rule, one))
    ]
    for key in config:
        if key not in settable:
            raise DialectError(f"the rule `{name}` has no setting `{key}`: {hint(key, settable)}")
    return config


def configured(config: Config, said: dict[str, Any]) -> Config:
    """A configuration with what a pack says of it."""
    given = {"sync_fail_open": False} | ({"mode": said["mode"]} if "mode" in said else {})
    for part, names in (
        ("sync", ("timeout_ms", "parallel", "fail_open")),
        ("async", ("enabled", "fail_open")),
    ):
        given |= {
            f"{part}_{name}": said[part][name] for name in names if name in said.get(part, {})
        }
    return msgspec.structs.replace(config, **given)


Entries = dict[str, dict[str, dict[str, Any]]]
"""Entries of rules by the list that they stand in and their ids."""


def written(
    pack: tuple[str, str],
    config: Any,
    router: DefaultRiskRouter,
    risks: Mapping[str, str],
    built_in: dict[str, dict[str, Any]],
    entries: Entries,
) -> dict[str, Any]:
    """The pack that a gateway judges by: what its parts say, with the rules that its registry and a
    pack name."""
    rules = _merged(built_in, entries)
    return {
        "policy_pack": pack[0],
        "version": pack[1],
        "gateway": {
            "mode": config.mode,
            "sync": {
                "timeout_ms": config.sync_timeout_ms,
                "parallel": config.sync_parallel,
                "fail_open": config.sync_fail_open,
            },
            "async": {"enabled": config.async_enabled, "fail_open": config.async_fail_open},
        },
        "tool_risks": {tool: str(risk) for tool, risk in risks.items()},
        **{
            key: [one for one in listed.values() if not says_nothing(one)]
            for key, listed in rules.items()
        },
        "risk_router": {
            "high_risk_wait_ms": router.high_risk_wait_ms,
            "medium_risk_wait_ms": router.medium_risk_wait_ms,
        },
    }


def _merged(built_in: dict[str, dict[str, Any]], entries: Entries) -> Entries:
    """The rules that a registry and a pack name, what the pack says over what the registry does."""
    rules: Entries = {"sync_rules": dict(built_in), "async_rules": {}}
    for key, listed in entries.items():
        for name, entry in listed.items():
            rules[key][name] = _over(rules[key].get(name, {}), entry)
    return rules


def _over(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """An entry of a rule with what a pack says laid over it."""
    config = {**under.get("config", {}), **over.get("config", {})}
    return {**under, **over, **({"config": config} if config else {})}
