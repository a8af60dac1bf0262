"""The JSON Schema of policy files, made from the structs, for editors that complete and check as one writes.

It accepts everything that loads. What only the loader can see (conditions, code that is named, what an overlay finds
to change) it leaves to the loader.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from holdfast.policy.overlay import ENVIRONMENTS, EXTENDS
from holdfast.policy.schema import ENTRIES, GUARDS, PolicyFile

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
TITLE: Final = "Holdfast policy"
CHANGE: Final = "Change"
"""How the name of a definition ends that says only what an overlay changes."""

Schema = dict[str, Any]

FIELDS: Final[dict[str, str]] = {
    "PolicyFile.name": "What the policy is called, in answers and records.",
    "PolicyFile.version": "The version of the policy, for people.",
    "PolicyFile.mode": "enforce: a refusal is a refusal. shadow: judged and recorded, and nothing is changed.",
    "PolicyFile.roles": "What all agents of a role have in common, by the role's name.",
    "PolicyFile.agents": "The agents, by id; `*` and `?` make a pattern. The closest entry counts.",
    "PolicyFile.tasks": "The tasks, by name; `*` and `?` make a pattern. The closest entry counts.",
    "PolicyFile.tools": "The tools, by name; `*` and `?` make a pattern. The closest entry counts.",
    "PolicyFile.guards": "What judges events; each entry says which guard it is with `use`.",
    "PolicyFile.limits": "Limits of the engine itself.",
    "PolicyFile.autonomy": "Whether a run is judged more strictly the less of its budgets is left.",
    "PolicyFile.prices": "What models charge, by name; `*` and `?` make a pattern. They win over the shipped table.",
    "PolicyFile.faults": "Whose a failure is, where the shipped table does not say it, or not as it is here.",
    "FaultEntries.types": "Classes of faults by the name of an error's type, or of a base class of it.",
    "FaultEntries.status": "Classes of faults by status code: `404`, `50x`, `5xx`; asked where no type is known.",
    "FaultEntries.text": "Classes of faults by what an error's text says; asked last, the first that fits counts.",
    "TextEntry.pattern": "A regular expression (RE2) that is somewhere in the text, in small or capital letters.",
    "TextEntry.fault": "Whose fault it is then.",
    "PriceEntry.input_usd_per_mtok": "Dollars for a million tokens of the prompt.",
    "PriceEntry.output_usd_per_mtok": "Dollars for a million tokens of the reply.",
    "PriceEntry.cached_input_usd_per_mtok": "Dollars for a million tokens of the prompt that a cache had.",
    "PriceEntry.cache_write_usd_per_mtok": "Dollars for a million tokens that are written to a cache.",
    "PriceEntry.cache_write_1h_usd_per_mtok": "The same for a cache that keeps them for an hour.",
    "PriceEntry.long_prompt": "Other rates for a call whose prompt is long.",
    "LongPrompt.above_tokens": "Above how many tokens a prompt is long.",
    "LongPrompt.input_usd_per_mtok": "Dollars for a million tokens of the prompt.",
    "LongPrompt.output_usd_per_mtok": "Dollars for a million tokens of the reply.",
    "LongPrompt.cached_input_usd_per_mtok": "Dollars for a million tokens of the prompt that a cache had.",
    "LongPrompt.cache_write_usd_per_mtok": "Dollars for a million tokens that are written to a cache.",
    "LongPrompt.cache_write_1h_usd_per_mtok": "The same for a cache that keeps them for an hour.",
    "PolicyFile.escalation": "Whom an escalated action waits for, and how long.",
    "PolicyFile.degrade": "What a lesser request is, where a guard answers `degrade`.",
    "Degrade.models": "The cheaper model for a model, by name; `*` and `?` make a pattern. The closest entry counts.",
    "Degrade.keep_messages": "Only so many of the newest messages are sent, with all instructions.",
    "Degrade.max_tokens": "The reply may have so many tokens at the most.",
    "Degrade.pause_s": "The request waits for so many seconds first.",
    "RoleEntry.allowed_tools": "The only tools that agents of this role may use; an empty list allows none.",
    "RoleEntry.capabilities": "What agents of this role can do; conditions read it as `agent.capabilities`.",
    "AgentEntry.role": "The agent's role; conditions read it as `agent.role`.",
    "AgentEntry.allowed_tools": "The only tools this agent may use, in place of its role's; an empty list allows none.",
    "AgentEntry.capabilities": "What this agent can do besides what its role can.",
    "RoleEntry.autonomy_level": "Up to which authority agents of this role decide by themselves; see `authority`.",
    "AgentEntry.autonomy_level": "Up to which authority this agent decides by itself, in place of its role's level.",
    "TaskEntry.related_tools": "The tools that the task is about; the guard `task_scope` warns of others.",
    "TaskEntry.files": "The files that the task is about; the guard `files` reads it.",
    "TaskFiles.write": "The only files that may be written or deleted; `**` stands for whole names.",
    "TaskFiles.deny": "Files that may not be touched at all, whatever else allows them.",
    "TaskEntry.additional_tools": "Tools that are allowed on top of an agent's own, while it works on this task.",
    "TaskEntry.deadline_s": "So many seconds after its start a run on this task is over.",
    "ToolEntry.risk": "How much harm the tool can do.",
    "ToolEntry.timeout_s": "How many seconds one call may take.",
    "ToolEntry.annotations": "What is known of the tool.",
    "ToolEntry.trust": "Whether what the tool returns can be trusted.",
    "ToolEntry.undo": "Code that undoes a call, as `module:name`; it takes the call's own arguments.",
    "ToolEntry.harmless": "Errors of the tool after which nothing has happened, by type or base class.",
    "ToolEntry.needs": "What an agent has to be able to do to use the tool; the guard `capabilities` reads it.",
    "ToolEntry.authority": "The autonomy level that the tool asks for; the guard `authority` escalates what is above.",
    "ToolEntry.schema": "The JSON Schema (2020-12) of the tool's arguments; the guard `schema` reads it.",
    "ToolEntry.result_schema": "The JSON Schema of the tool's results; the guard `schema` reads it.",
    "ToolEntry.hook": "Code that checks every call, as `module:name`; a text that it gives refuses.",
    "ToolEntry.pin": "The digest that the tool's ingested definition has to have; another one escalates.",
    "Escalation.roles": "Who is asked, first to last.",
    "Escalation.timeout_s": "After so many seconds without an answer the action is refused.",
    "Escalation.wait_s": "For so long a call waits for the answer; it can be repeated later, with the answer it got.",
    "Limits.warnings": "Which warning of one guard in a task escalates.",
    "AppliesTo.agents": "Only these agents; a name is exact unless a glob is written.",
    "AppliesTo.tasks": "Only these tasks; a name is exact unless a glob is written.",
    "AppliesTo.tools": "Only these tools; a name is exact unless a glob is written.",
    "*.use": "Which guard this is.",
    "*.id": "A name of its own, in findings and for overlays; otherwise its `use` with hyphens.",
    "*.enabled": "false takes the guard out without removing it from the file.",
    "*.priority": "A guard with a smaller number is asked earlier.",
    "*.category": "Breaks ties between guards of one priority: safety first, quality last.",
    "*.stages": "Where the guard judges.",
    "*.mode": "shadow: judged and recorded, and nothing is changed.",
    "*.applies_to": "Whom the guard concerns; everybody if left out.",
    "*.fail_open": "Whether a call goes ahead where the guard breaks, if the tool's risk is not critical.",
    "*.log_pass": "Whether records name the guard where it was asked and found nothing.",
    "*.action": "What becomes of what the guard finds; `allow` only records.",
    "size_limits.max_chars": "How many characters the content may have, all texts and keys together.",
    "size_limits.max_depth": "How many levels deep it may be nested.",
    "size_limits.max_values": "How many values it may have.",
    "tool_denylist.tools": "Tools that are refused; a name is exact unless a glob is written.",
    "tool_allowlist.tools": "Tools that everybody may use, besides an agent's own.",
    "tool_allowlist.undeclared": "What becomes of calls of an agent for which there is no list at all.",
    "step_limit.max_steps": "How many steps there are; the next one is refused.",
    "step_limit.per": "Whose steps are counted together.",
    "step_limit.warn_after": "Every step after this many warns; the third warning of a task escalates.",
    "step_limit.counter": "Limits with the same counter count together; otherwise each counts apart.",
    "budget.tokens": "How many tokens there are.",
    "budget.cost_usd": "How many dollars there are.",
    "budget.calls": "How many tool calls, model calls and handoffs there are.",
    "budget.api_calls": "How many calls of external APIs there are.",
    "budget.duration_s": "How many seconds of work there are, all actions together.",
    "budget.per": "Whose spending is counted together.",
    "budget.window_s": "Only what was spent in the last so many seconds counts; otherwise everything does.",
    "budget.warn_at": "From so many percent of a limit on it warns, the estimate included.",
    "budget.degrade_at": "From so many percent on it asks for a lesser request, where there is one.",
    "budget.escalate_at": "From so many percent on a person has to agree.",
    "budget.action": "What becomes of what does not fit.",
    "budget.reach": "Whether what reaches a limit exactly still goes ahead.",
    "budget.counter": "Budgets with the same counter count together; otherwise each counts apart.",
    "time_limit.max_s": "How many seconds there are from the first action on.",
    "time_limit.per": "Whether the time of the run counts, or that of its task.",
    "time_limit.estimate_s": "How many seconds an action takes: it has to end in time, too.",
    "time_limit.warn_at": "From so many percent of the time on it warns, the estimate included.",
    "time_limit.escalate_at": "From so many percent of the time on a person has to agree.",
    "time_limit.reach": "Whether what reaches the limit exactly is still in time.",
    "breaker.failure_threshold": "After so many failures in a row nobody calls the tool for a time.",
    "breaker.cooldown_s": "For how many seconds nobody calls it; every relapse doubles them.",
    "breaker.max_cooldown_s": "How many seconds it becomes at the most.",
    "breaker.successes": "After so many probes that went well, one after the other, all calls go ahead again.",
    "breaker.probe_s": "After so many seconds without an outcome another call may be the probe.",
    "breaker.counts": "Whose faults count as failures of the tool.",
    "breaker.per": "Whether all agents of a tenant share what is known of a tool, or each agent has its own.",
    "breaker.action": "What becomes of a call while the tool is left alone, or another call tries it.",
    "breaker.counter": "Breakers with the same counter share what they know of a tool; otherwise each has its own.",
    "health.calls": "How many of the last calls of a tool are remembered.",
    "health.min_calls": "Nothing is said before so many calls are known.",
    "health.low": "A health below this is low.",
    "health.unsteady": "A health below this, and not low, is unsteady.",
    "health.counts": "Whose faults count as failures of the tool.",
    "loops.max_history": "How many of the last calls of a run are looked at.",
    "loops.max_repeats": "How often a call may be made in a row, or calls in a circle, with the same results.",
    "loops.idempotent_repeats": "The same for tools annotated as idempotent or read_only.",
    "loops.poll_repeats": "The same for tools annotated as poll.",
    "loops.unreported_repeats": "The same where it is not known what came of the calls.",
    "loops.max_errors": "After so many failures of a tool in the same way it warns, after twice as many it acts.",
    "loops.near_repeats": "How many calls with almost the same arguments and the same result are let be.",
    "loops.stall_after": "After so many calls in a row that gained nothing it speaks.",
    "loops.action": "What becomes of calls that are repeated in a row, in circles, or too often.",
    "loops.error_action": "What becomes of calls of a tool that keeps failing in the same way.",
    "loops.near_action": "What becomes of calls with almost the same arguments.",
    "loops.stall_action": "What becomes of a call after many that gained nothing.",
    "queue.max_running": "How many calls run at a time.",
    "queue.max_waiting": "How many calls wait in line; one more is refused at once.",
    "queue.timeout_s": "How many seconds a call waits at the most; then it is refused.",
    "queue.pause_s": "How many seconds it waits before it is judged again.",
    "queue.keep_s": "After so many seconds without an outcome a place is free again.",
    "queue.per": "Who shares a line; tool: all calls of a tool in a tenant.",
    "queue.counter": "Queues with the same counter share a line; otherwise each has its own.",
    "recovery.max_retries": "How often one call, with all calls inside it, is tried again.",
    "recovery.per_run": "How often a run and its children try anything again.",
    "recovery.backoff_base_s": "How many seconds to wait before the first retry.",
    "recovery.backoff_factor": "How many times as long to wait before each further one.",
    "recovery.backoff_max_s": "How many seconds to wait at the most.",
    "recovery.jitter": "By which share a wait is made longer or shorter at random.",
    "recovery.on_recoverable": "What becomes of an error that is likely to pass by itself.",
    "recovery.on_fatal": "What becomes of an error that does not pass by itself.",
    "recovery.on_unknown": "What becomes of an error of which nobody can tell.",
    "recovery.recoverable": "Errors, annotations of tools or faults that are likely to pass.",
    "recovery.fatal": "Errors, annotations of tools or faults that do not pass by themselves.",
    "recovery.ignore": "Errors, annotations of tools or faults that are for the agent to mend.",
    "recovery.retry_unsafe": "Whether calls are tried again that may do their work twice.",
    "recovery.rollback": "Whether a fatal error rolls the run back, whatever else becomes of it.",
    "recovery.isolate": "What a quarantine isolates.",
    "recovery.isolate_s": "For how many seconds a quarantine isolates it.",
    "schema.unknown": "What becomes of a tool of which no definition is known.",
    "schema.extra": "Arguments the schema does not list: as it says, or refused or left out where it says nothing.",
    "schema.coerce": "Whether values of a wrong type are read as the right one, where there is one way to.",
    "schema.formats": "Whether `format` is held to; by itself it only describes.",
    "schema.results": "Whether results are held against the result schemas of their tools.",
    "schema.max_values": "Calls and results of more values than this are not checked, and do not go ahead.",
    "schema.hook_deadline_ms": "No answer of a hook within so many milliseconds refuses.",
    "schema.action": "What becomes of a call that does not fit, or cannot be checked.",
    "schema.result_action": "What becomes of a result that does not fit.",
    "schema.changed_action": "What becomes of calls of a tool whose definition is not the one that was pinned.",
    "sql.tools": "The tools whose SQL is judged; otherwise those whose names or arguments say that they run SQL.",
    "sql.arguments": "The arguments that are SQL, in small or capital letters; otherwise `query`, `sql` and the like.",
    "sql.dialect": "The dialect of all tools; otherwise what a tool's name says, or the worst of several readings.",
    "sql.dialects": "The dialects of tools, by name or glob; the first that fits counts.",
    "sql.level": "What is refused: what does harm, changes of the schema too, or everything but reads.",
    "sql.allow_tables": "The only tables that may be touched, as statements write them.",
    "sql.deny_tables": "Tables that nobody touches, with or without their schema.",
    "sql.allow_functions": "Functions that may be called although they do more than compute.",
    "sql.deny_functions": "Functions and procedures that nobody calls.",
    "sql.destructive": "What becomes of what removes data for good.",
    "sql.privilege": "What becomes of what changes who may do what.",
    "sql.admin": "What becomes of what reaches files, programs, other databases or the server.",
    "sql.function": "What becomes of calls of functions that do more than compute.",
    "sql.unbounded": "What becomes of an UPDATE or DELETE that picks no rows.",
    "sql.table": "What becomes of statements on tables that the lists do not allow.",
    "sql.unclear": "What becomes of what cannot be understood; otherwise that follows from the tool's risk.",
    "sql.ddl": "What becomes of changes of the schema.",
    "sql.stacked": "What becomes of a change behind a read in one text.",
    "sql.write": "What becomes of changes that pick their rows.",
    "sql.fragments": "What becomes of values that would change a query they are pasted into; not looked at otherwise.",
    "files.root": "The folders in which files are; relative paths begin at the first, `.` is the working directory.",
    "files.read": "The only files that may be read; `**` stands for whole names.",
    "files.write": "The only files that may be written or deleted.",
    "files.deny": "Files that may not be touched at all, whatever else allows them.",
    "files.protected": "Files that are protected besides those Holdfast knows.",
    "files.unprotected": "Files that are not protected here, though a list has them.",
    "files.shipped": "Whether the files that Holdfast knows are protected: secrets, keys, the system, its own.",
    "files.arguments": "Arguments that name files, and how they are used, where their names do not say so.",
    "files.tools": "How tools use files, by name or glob, where their names do not say so.",
    "files.case_insensitive": "Whether upper and lower case are one in folders and lists.",
    "files.real_paths": "Whether the disk is asked where links lead; for tools that run on this host.",
    "files.deadline_ms": "No answer of the disk within so many milliseconds refuses.",
    "files.action": "What becomes of files that are denied, or not among those that may be used.",
    "files.outside_read": "What becomes of reading outside of the folders.",
    "files.outside_write": "What becomes of writing or deleting outside of the folders.",
    "files.protected_read": "What becomes of reading what is protected.",
    "files.protected_write": "What becomes of writing or deleting what is protected.",
    "files.unclear": "What becomes of a path that cannot be read.",
    "capabilities.action": "What becomes of a tool that needs what the agent has not.",
    "authority.by_risk": "Whether a tool without an authority has that of its risk: low 0 to critical 3.",
    "authority.undeclared": "The level of agents for which none is given.",
    "authority.action": "What becomes of what is above the agent's level.",
    "task_scope.action": "What becomes of a tool that the task is not about.",
    "python.call": "The code that judges, as `module:name`.",
    "python.deadline_ms": "No answer within so many milliseconds refuses.",
    "python.deep": "Being late lets calls of low and medium risk proceed.",
    "egress.allowed_hosts": "The only hosts that may be reached: names, `*.example.com`, addresses, ranges, "
    "each with `:port` or without.",
    "egress.denied_hosts": "Hosts that may not be reached, by name or by what names resolve to, whatever else allows "
    "them.",
    "egress.internal_hosts": "Hosts that may be reached although they are not on the public network.",
    "egress.schemes": "The schemes that may be used.",
    "egress.ports": "The only ports that may be used.",
    "egress.methods": "The only methods that may be used.",
    "egress.max_url": "How many characters a URL may have.",
    "egress.credentials": "Whether URLs may carry a user name and a password.",
    "egress.arguments": "Whether URLs in the arguments of tool calls are judged, by what is written.",
    "egress.resolve": "Whether names are resolved, and all their addresses judged.",
    "egress.deadline_ms": "No answer of the resolver within so many milliseconds refuses.",
    "egress.proxies": "The only proxies that requests may go through.",
    "clamp.max_chars": "How many characters a result may have in all.",
    "clamp.max_field": "How many characters one text of a result may have.",
    "clamp.keep": "Which end of a text or list is kept.",
    "rule.when": "Where the rule applies: a condition, such as `agent.role == 'writer'`.",
    "rule.check": "What must hold there; without one the rule speaks wherever `when` holds.",
    "rule.message": "Why, for the agent to read.",
    "rule.advice": "What to do instead, for the agent to read.",
    "rule.effects": "Marks that it leaves on the run.",
    "sequence.after": "A step that has happened, after which another is refused.",
    "sequence.refuse": "The step that is refused after it.",
    "sequence.unless": "A step that lifts the refusal again.",
    "sequence.before": "A step that needs another before it.",
    "sequence.need": "The step that it needs.",
    "sequence.since": "A step after which it is needed anew.",
    "sequence.count": "A step that may happen so often.",
    "sequence.at_most": "How often.",
    "sequence.distinct": "What is counted instead of calls: different values of this expression.",
    "sequence.only": "A step that goes ahead only with a value from another's result.",
    "sequence.argument": "The argument whose value that is; `a.b` for one inside another.",
    "sequence.seen_in": "The step whose results give the values.",
    "sequence.field": "The names, as a glob, under which the values stand there; left out, anywhere.",
    "sequence.keep": "How many values are kept, the newest; left out, 1,024.",
    "sequence.within_steps": "For how many tool calls a step counts; left out, for good.",
    "sequence.within_s": "For how many seconds a step counts; left out, for good.",
    "sequence.scope": "Whose steps count: this run's, all of the task, or all of the agent.",
    "sequence.message": "Why, for the agent to read.",
    "sequence.advice": "What to do instead, for the agent to read.",
    "sequence.counter": "Sequences with the same counter share what they remember; otherwise each has its own.",
}
"""What each field means: `Struct.field`, an option of a guard as `use.option`, `*` for every guard. An option that is
not here has the description of its own type, or else that of its guard."""


def policy_schema() -> Schema:
    """The schema of a policy file, as plain data."""
    _, defs = msgspec.json.schema_components([PolicyFile])
    for name, definition in defs.items():
        use = next((tag for tag, entry in ENTRIES.items() if entry.__name__ == name), None)
        _describe(definition, name if use is None else use, use)
    changes = {f"{name}{CHANGE}": _change(definition) for name, definition in defs.items()}
    whole = defs.pop("PolicyFile")
    change = changes.pop(f"PolicyFile{CHANGE}")
    items = whole["properties"]["guards"]["items"]
    items.pop("discriminator", None)
    listed = {"type": "array", "items": _changed_guard(items)}
    change["properties"]["guards"] = {"description": FIELDS["PolicyFile.guards"], **_nullable(listed)}
    described = {name: {"description": each["description"]} for name, each in whole["properties"].items()}
    whole.pop("additionalProperties")
    strict = change.pop("additionalProperties")
    names = {"type": "array", "items": {"type": "string"}}
    schema = {
        "$schema": DIALECT,
        "title": TITLE,
        "description": whole.pop("description"),
        "type": "object",
        "properties": {
            **described,
            EXTENDS: {
                "description": "A pack or a file that this policy lies over, or several; it says what is different.",
                "anyOf": [{"type": "string"}, names],
            },
            ENVIRONMENTS: {
                "description": "The same policy elsewhere, by name: only what differs there; null takes a key away.",
                "type": ["object", "null"],
                "additionalProperties": _nullable(
                    {
                        "type": "object",
                        "properties": described,
                        "additionalProperties": strict,
                        "allOf": [{"$ref": f"#/$defs/PolicyFile{CHANGE}"}],
                    }
                ),
            },
        },
        "additionalProperties": False,
        "if": {"required": [EXTENDS]},
        "then": {"$ref": f"#/$defs/PolicyFile{CHANGE}"},
        "else": {"$ref": "#/$defs/PolicyFile"},
        "$defs": {"PolicyFile": whole, f"PolicyFile{CHANGE}": change, **defs, **changes},
    }
    plain: Schema = msgspec.json.decode(msgspec.json.encode(schema))
    return plain


def _describe(definition: Schema, owner: str, use: str | None) -> None:
    """Give every property of a definition its description."""
    definition.pop("title", None)
    definition["description"] = " ".join(definition["description"].split())
    if use is not None:
        definition["title"] = use
        definition["properties"]["use"] = {"const": use}
    fallback = GUARDS[use].__doc__ if use is not None else None
    for name, each in definition["properties"].items():
        known = FIELDS.get(f"{owner}.{name}", FIELDS.get(f"*.{name}") if use is not None else None)
        said = each.get("description", known if known is not None else fallback)
        each["description"] = " ".join(said.split()) if said is not None else name


def _change(definition: Schema) -> Schema:
    """The same for an overlay: nothing is required, and null takes a key away."""
    changed = {key: value for key, value in definition.items() if key not in ("required", "properties")}
    properties = definition.get("properties", {})
    changed["properties"] = {name: _loosened(name, each) for name, each in properties.items()}
    return changed


def _loosened(name: str, each: Schema) -> Schema:
    if name == "use":
        return each
    described = {"description": each["description"]}
    return {**described, **_nullable(_pointed({key: v for key, v in each.items() if key not in described}))}


def _pointed(each: Any) -> Any:
    """A schema that points to what overlays change, wherever it pointed to something whole."""
    if isinstance(each, list):
        return [_pointed(item) for item in each]
    if not isinstance(each, dict):
        return each
    made = {key: _pointed(value) for key, value in each.items() if key != "default"}
    if "$ref" in made:
        made["$ref"] += CHANGE
    if isinstance(made.get("additionalProperties"), dict):
        made["additionalProperties"] = _nullable(made["additionalProperties"])
    return made


def _nullable(each: Schema) -> Schema:
    null = {"type": "null"}
    members = each["anyOf"] if set(each) == {"anyOf"} else [each]
    return {"anyOf": members if null in members else [*members, null]}


def _changed_guard(items: Schema) -> Schema:
    """An entry of an overlay: it names a guard with `use`, or an entry below with `id`."""
    return {
        "anyOf": [{"$ref": f"{one['$ref']}{CHANGE}"} for one in items["anyOf"]],
        "allOf": [{"anyOf": [{"required": ["use"]}, {"required": ["id"]}]}],
    }
