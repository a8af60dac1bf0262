"""What the options of guards mean, in words for editors and for the reference."""

from __future__ import annotations

from typing import Final

from stanchion.policy.deep_meanings import ASKING
from stanchion.policy.work_meanings import OPTIONS as OF_WORK

RUNS: Final = (
    "How many runs have to meet the failures before the calls of all are refused; until then only "
    "theirs are. A run and its children count as one."
)

OPTIONS: Final[dict[str, str]] = {
    **OF_WORK,
    "*.use": "The guard's name, from the list of guards.",
    "*.id": (
        "The entry's own name in findings and overlays; if absent, `use` with hyphens instead "
        "of underscores."
    ),
    "*.enabled": "`false` switches the guard off but keeps the entry in the file.",
    "*.priority": (
        "The guard's place in the chain: smaller numbers judge first; if absent, the "
        "guard's usual place."
    ),
    "*.category": (
        "Breaks ties between guards of the same priority, from `safety` (first) to "
        "`quality` (last)."
    ),
    "*.stages": "The stages at which the guard judges; if absent, all stages that it supports.",
    "*.mode": (
        "`shadow` judges and records but changes nothing; `enforce` acts on what the guard finds."
    ),
    "*.applies_to": (
        "The agents, tasks, tools and risk levels that the guard judges; if absent, all of them."
    ),
    "*.fail_open": (
        "If `true`, a call goes ahead when the guard itself fails, unless the tool's "
        "risk is critical."
    ),
    "*.part_of": "The id of the guard that this one is a part of: together they give one verdict. "
    "If absent, it "
    "stands for itself.",
    "*.always": (
        "If `true`, no overlay can change or remove the guard, and it enforces in shadow mode, too."
    ),
    "*.bypass": "Who may let an action past the guard; if absent, nobody.",
    "*.effects": (
        "What a finding of the guard does besides its action: mark the run, count a "
        "strike, tell operators."
    ),
    "*.log_pass": "If `true`, records also name the guard when it was asked and found nothing.",
    "size_limits.max_chars": (
        "The largest number of characters in the content, counting all texts and keys."
    ),
    "size_limits.max_depth": "The deepest nesting of lists and mappings.",
    "size_limits.max_values": "The largest number of values in the content.",
    "size_limits.action": "The action for content over a limit; with one milder than `block`, "
    "other guards still read "
    "the content.",
    "tool_denylist.tools": "The tools to refuse, by name or glob; an empty list refuses none.",
    "tool_denylist.action": "The action for a call of a listed tool.",
    "tool_allowlist.tools": "The tools that every agent may use, by name or glob, in addition to "
    "its own; an empty "
    "list adds none. If absent, only agents with their own list are limited.",
    "tool_allowlist.undeclared": "Whether to allow or refuse calls of an agent that has no list, "
    "if `tools` is absent "
    "too.",
    "tool_allowlist.action": "The action for a call of a tool that is not allowed.",
    "step_limit.max_steps": (
        "The number of steps allowed; the next one is refused, and 0 refuses the first."
    ),
    "step_limit.per": "Whose steps are counted together: those of a run, a task or an agent.",
    "step_limit.warn_after": (
        "Every step after this many warns, until the limit; if absent, none warns."
    ),
    "step_limit.action": "The action for a step over the limit.",
    "step_limit.counter": (
        "Step limits with the same counter count together; if absent, each entry counts separately."
    ),
    "budget.tokens": "The limit in tokens; if absent, tokens are not limited.",
    "budget.cost_usd": "The limit in US dollars; if absent, cost is not limited.",
    "budget.calls": (
        "The limit on tool calls, model calls and handoffs together; if absent, they "
        "are not limited."
    ),
    "budget.api_calls": "The limit on calls to external APIs: model calls, calls of `open_world` "
    "tools, requests "
    "through the run's transports; if absent, they are not limited.",
    "budget.duration_s": "The limit in seconds of work, adding up all actions, parallel ones too; "
    "if absent, work "
    "time is not limited.",
    "budget.of_task": "The measure whose limit is that of the run's task, `tasks.<name>.budget`; "
    "if absent, the limits "
    "are those given here.",
    "budget.per": (
        "Whose spending is counted together: that of a `run`, a `task`, an `agent`, a `tenant`, "
        "the whole `fleet`, or of a name that the host gives its runs as a label, such as "
        "`customer`."
    ),
    "budget.window": (
        "Counts what was spent in the present hour, day or month of the policy's `timezone`; if "
        "absent, everything counts."
    ),
    "budget.turns": (
        "Lets one action at a time begin on the budget, until its outcome is known: others `wait` "
        "for it, or are refused (`refuse`); if absent, actions run side by side."
    ),
    "budget.window_s": (
        "Counts only what was spent in the last this many seconds; if absent, everything counts."
    ),
    "budget.warn_at": (
        "Warns from this percentage of a limit on, estimates included; if absent, it does not warn."
    ),
    "budget.degrade_at": "Asks for a lesser request from this percentage of a limit on, if the "
    "policy defines one; if "
    "absent, never.",
    "budget.escalate_at": "Asks a person from this percentage of a limit on; if absent, never.",
    "budget.action": (
        "The action for what exceeds a limit; it must be more severe than all marks "
        "before the limit."
    ),
    "budget.reach": "Whether an action that reaches the limit exactly is allowed or refused.",
    "budget.counter": "Budgets with the same counter, `per` and window count together; if absent, "
    "each entry counts "
    "separately.",
    "budget.reserve_tokens": (
        "The tokens reserved for an action without an estimate or another bound; if absent, none."
    ),
    "budget.reserve_cost_usd": "The dollars reserved for an action without an estimate or another "
    "bound; if absent, "
    "none.",
    "budget.reserve_duration_s": "The seconds reserved for an action without an estimate or a time "
    "limit; if absent, "
    "none.",
    "time_limit.max_s": (
        "The time allowed, in seconds from the first action; if absent, `of_task` must be `true`."
    ),
    "time_limit.of_task": "If `true`, the time is that of the run's task, "
    "`tasks.<name>.budget.time_s`; a task without "
    "one is not limited.",
    "time_limit.per": (
        "Whether the time is that of the run or of its task; a run without a task has its own time."
    ),
    "time_limit.estimate_s": "The seconds that an action is expected to take; they count as if "
    "they had already "
    "passed.",
    "time_limit.warn_at": "Warns from this percentage of the time on, the estimate included; if "
    "absent, it does not "
    "warn.",
    "time_limit.escalate_at": (
        "Asks a person from this percentage of the time on; if absent, never."
    ),
    "time_limit.action": (
        "The action for what comes too late; it must be more severe than all "
        "marks before the limit."
    ),
    "time_limit.reach": "Whether an action that reaches the limit exactly is allowed or refused.",
    "breaker.failure_threshold": (
        "This many failures in a row open the breaker, and calls of the tool are refused."
    ),
    "breaker.cooldown_s": (
        "How many seconds the breaker stays open; the time doubles with every relapse."
    ),
    "breaker.max_cooldown_s": "The longest time that the breaker stays open, in seconds.",
    "breaker.successes": (
        "This many successful probes in a row close the breaker, and all calls go ahead again."
    ),
    "breaker.probe_s": "How many seconds to wait for a probe's outcome before another call may be "
    "the probe; choose more than the tool takes.",
    "breaker.counts": "The kinds of fault that count as failures of the tool.",
    "breaker.per": (
        "Whether all agents of a tenant share one breaker per tool, or each agent has its own."
    ),
    "breaker.runs": RUNS,
    "breaker.action": (
        "The action for a call while the breaker is open, or while another call is the probe."
    ),
    "breaker.counter": (
        "Breakers with the same counter share their state; if absent, each entry has its own."
    ),
    "error_rate.per": "What is watched, each separately: tools, runs, agents, the tenant.",
    "error_rate.calls": "How many of the last calls are remembered.",
    "error_rate.min_calls": "The guard says nothing until this many calls are known.",
    "error_rate.warn_at": (
        "The percentage of failed calls from which the tool or run is in the state of warning."
    ),
    "error_rate.halt_at": "The percentage of failed calls from which whatever is in the state of "
    "warning is halted, until an operator resumes it; if absent, the rate alone never halts.",
    "error_rate.repeats": (
        "This many failures in a row put a tool that is in the state of warning into quarantine."
    ),
    "error_rate.recover_s": "A warning ends after this many seconds without too many failures.",
    "error_rate.quarantine_s": "How many seconds a quarantine lasts; after that the tool is in the "
    "state of warning again.",
    "error_rate.halt_after": (
        "The number of the quarantine that halts a tool; 3 means that the third one does."
    ),
    "error_rate.runs": RUNS,
    "error_rate.counts": "The kinds of fault that count as failures of the tool.",
    "health.calls": "How many of a tool's last calls are remembered.",
    "health.min_calls": "The guard says nothing until this many calls are known.",
    "health.low": "A health below this percentage is low.",
    "health.unsteady": "A health below this percentage, and not low, is unsteady.",
    "health.counts": "The kinds of fault that count as failures of the tool.",
    "loops.max_history": "How many of a run's last calls are compared.",
    "loops.max_repeats": "How many times in a row a call, or a cycle of calls, may give the same "
    "results; the next time is refused.",
    "loops.idempotent_repeats": (
        "The same limit for tools annotated as `idempotent` or `read_only`."
    ),
    "loops.poll_repeats": (
        "The same limit for tools annotated as `poll`, and for cycles that contain one."
    ),
    "loops.unreported_repeats": "The same limit for calls whose outcome is unknown: parallel, "
    "refused or never reported.",
    "loops.max_errors": "After this many failures of a tool in the same way the guard warns; after "
    "twice as many it takes `error_action`.",
    "loops.near_repeats": "How many calls with almost the same arguments and the same result are "
    "accepted before `near_action`.",
    "loops.stall_after": "How many calls in a row may bring nothing new before `stall_action`.",
    "loops.refusals_told": (
        "From this many refusals of the same thing on, the agent is told so; 0 means never."
    ),
    "loops.refusals_escalated": "From this many refusals of the same thing on, a person is asked "
    "to look at the run; 0 means never.",
    "loops.refusals_halted": (
        "At this many refusals of the same thing, the run ends; 0 means never."
    ),
    "loops.refusals_factor": "Refusals by one guard with one code, whatever they are about, have "
    "the same three limits, this many times as high; 0 means none.",
    "loops.action": "The action for calls repeated in a row, in cycles or too often.",
    "loops.error_action": "The action for calls of a tool that keeps failing in the same way.",
    "loops.near_action": "The action for calls with almost the same arguments.",
    "loops.stall_action": "The action for a call after many that brought nothing new.",
    "loops.others_renew": "If `true`, something new from another call starts the count of a call "
    "made too often anew; if `false`, only a change of its own result does.",
    "loops.by_reading": "If `true`, calls that only look also have the limit of "
    "`idempotent_repeats` if a tool's name or its commands say so, without an annotation.",
    "recovery.max_retries": "How many times one call is retried, counting all calls inside it.",
    "recovery.per_run": "How many retries a run and its children have in total, in all processes.",
    "recovery.backoff_base_s": "How many seconds to wait before the first retry.",
    "recovery.backoff_factor": "Each further wait is this many times as long as the one before.",
    "recovery.backoff_max_s": "The longest wait, in seconds.",
    "recovery.jitter": (
        "The share, from 0 to 1, by which a wait is randomly made longer or shorter."
    ),
    "recovery.on_recoverable": "The reaction to an error that is likely to go away by itself.",
    "recovery.on_fatal": "The reaction to an error that does not go away by itself.",
    "recovery.on_unknown": "The reaction to an error that is in none of the three lists.",
    "recovery.recoverable": (
        "Error types, tool annotations or faults that are likely to go away by themselves."
    ),
    "recovery.fatal": "Error types, tool annotations or faults that do not go away by themselves.",
    "recovery.ignore": (
        "Error types, tool annotations or faults that the agent itself has to correct."
    ),
    "recovery.retry_unsafe": "If `true`, calls that may do their work twice are retried too.",
    "recovery.rollback": "If `true`, a fatal error rolls the run back in addition to its reaction.",
    "recovery.isolate": "Whether a quarantine isolates the tool or the agent.",
    "recovery.isolate_s": "How many seconds a quarantine lasts.",
    "schema.unknown": "Whether to allow or refuse a tool without a known definition.",
    "schema.extra": "Arguments that the schema does not list: `schema` does what the schema says; "
    "`refuse` and `drop` "
    "apply where it says nothing, and `drop` also where it forbids them.",
    "schema.coerce": (
        "If `true`, a value of the wrong type is converted when there is only one way to do it."
    ),
    "schema.formats": "If `true`, `format` is enforced; otherwise it is only a description.",
    "schema.results": "If `true`, results are checked against their tool's result schema.",
    "schema.max_values": "Calls and results with more values than this are refused unchecked.",
    "schema.hook_deadline_ms": (
        "A call is refused if its hook gives no answer within this many milliseconds."
    ),
    "schema.action": "The action for a call that does not fit its schema or cannot be checked.",
    "schema.result_action": "The action for a result that does not fit; `block` discards it and "
    "undoes the call if it "
    "can.",
    "schema.changed_action": (
        "The action for calls of a tool whose definition differs from the pinned one."
    ),
    "schema.suspect_action": "The action for calls of a tool whose definition instructs the agent, "
    "hides something, "
    "speaks against other tools, asks for secrets or imitates, until a person accepts it.",
    "shell.tools": "The only tools whose calls are read, by name or glob; if absent, every call "
    "that contains a "
    "command is.",
    "shell.arguments": "The only arguments read as commands (a text, a list of words or a list of "
    "lines); if absent, "
    "those with a name such as `command`. If a call of a tool that runs commands has none of them, "
    "all its texts are "
    "read.",
    "shell.roots": "The folders in which a run may delete files; `.` is the working directory.",
    "shell.allow": "The only commands that may run, by name or glob, wrappers included; an empty "
    "list allows none. A "
    "path counts as its program's name only in a system folder. If absent, every command may run.",
    "shell.strict": "If `true`, risky commands that manuals show as everyday use are refused too: "
    "`docker compose "
    "down -v`, `eksctl delete`, `heroku destroy`, `eval` of an unknown text.",
    "shell.danger": (
        "The action for dangers: commands that do harm, and commands that `allow` does not list."
    ),
    "shell.doubt": (
        "The action for doubts: commands that may be meant, about which a person should decide."
    ),
    "shell.note": (
        "The action for notes: commands that may go ahead, but the agent should know their effect."
    ),
    "shell.counted": (
        "Whether notes count towards the third warning of a task, which waits for a person."
    ),
    "shell.repository": "If `true`, the git repository on this host is asked what a command would "
    "throw away; for "
    "tools that run on this host.",
    "shell.deadline_ms": (
        "The time for that answer, in milliseconds; if it is exceeded, the call is refused."
    ),
    "shell.families": "The action for all findings of a family; `allow` switches the family off. "
    "If absent, `danger`, "
    "`doubt` and `note` decide.",
    "shell.unclear": "The actions for a command whose effect cannot be determined, for tools of "
    "low, medium, high and "
    "critical risk.",
    "shell.malformed": "The action for a text that no shell accepts and in which nothing was "
    "found; `allow` records "
    "it.",
    "sql.tools": "The tools whose SQL is judged, by name or glob; if absent, those whose name or "
    "arguments show that "
    "they run SQL.",
    "sql.arguments": "The arguments that contain SQL, in upper or lower case; if absent, `query`, "
    "`sql` and similar "
    "names.",
    "sql.dialect": "The dialect of all tools that `dialects` does not name; if absent, the tool's "
    "name decides, or "
    "the worst of several readings.",
    "sql.dialects": "The dialect of each tool, by name or glob, where the first match counts; if "
    "absent, `dialect` "
    "decides.",
    "sql.level": (
        "What is refused: harmful statements, also schema changes, or everything except reads."
    ),
    "sql.allow_tables": "The only tables that may be used, by name or glob, as statements write "
    "them; if absent, all "
    "tables.",
    "sql.deny_tables": "Tables that may not be used, by name or glob, with or without their "
    "schema; checked before "
    "`allow_tables`.",
    "sql.allow_functions": (
        "Functions that may be called although they do more than compute, by name or glob."
    ),
    "sql.deny_functions": "Functions and procedures that may not be called, by name or glob.",
    "sql.destructive": (
        "The action for statements that remove data for good; if absent, `level` decides."
    ),
    "sql.privilege": (
        "The action for statements that change permissions; if absent, `level` decides."
    ),
    "sql.admin": "The action for statements that reach files, programs, other databases or the "
    "server; if absent, "
    "`level` decides.",
    "sql.function": (
        "The action for calls of functions that do more than compute; if absent, `level` decides."
    ),
    "sql.unbounded": "The action for an UPDATE or DELETE without a condition that selects rows; if "
    "absent, `level` "
    "decides.",
    "sql.table": (
        "The action for statements on tables that the lists do not allow; if absent, "
        "`level` decides."
    ),
    "sql.unclear": (
        "The action for SQL that cannot be understood; if absent, the tool's risk decides."
    ),
    "sql.ddl": "The action for schema changes; if absent, `level` decides.",
    "sql.stacked": (
        "The action for a change that follows a read in the same text; if absent, `level` decides."
    ),
    "sql.write": "The action for changes that select their rows; if absent, `level` decides.",
    "sql.fragments": "The action for values that would change a query into which they are pasted; "
    "if absent, values "
    "are not checked.",
    "files.root": "The folders that contain the run's files; relative paths start at the first, "
    "`.` is the working "
    "directory, and an empty list means anywhere.",
    "files.read": "The only files that may be read, as globs; `**` matches any number of folders. "
    "If absent, all "
    "files.",
    "files.write": "The only files that may be written or deleted, as globs; if absent, all files.",
    "files.deny": "Files that may never be used, as globs, whatever else allows them; folders that "
    "contain them may "
    "not be deleted.",
    "files.protected": "Files to protect in addition to the shipped list, as globs.",
    "files.unprotected": (
        "Files that are not protected here although a list contains them, as globs."
    ),
    "files.shipped": "If `true`, the files on Stanchion's own list are protected: secrets, keys, "
    "system files, its "
    "own files.",
    "files.surroundings": "If `true`, folders for temporary files and caches may be used, and "
    "projects beside the "
    "run's folders and what is installed may be read, although they are outside; with "
    "`real_paths`, a person is asked "
    "about the rest.",
    "files.arguments": "Arguments that name files, each with whether the file is read, written or "
    "deleted; if absent, "
    "the names of arguments decide.",
    "files.tools": "Whether a tool reads, writes or deletes files, by name or glob; if absent, the "
    "names of tools "
    "decide.",
    "files.case_insensitive": "If `true`, upper and lower case are the same in folders and lists.",
    "files.real_paths": (
        "If `true`, links are followed on the disk; use it for tools that run on this host."
    ),
    "files.deadline_ms": (
        "A call is refused if the disk gives no answer within this many milliseconds."
    ),
    "files.action": "The action for files that are denied or not listed.",
    "files.outside_read": "The action for reading outside the folders in `root`.",
    "files.outside_write": "The action for writing or deleting outside the folders in `root`.",
    "files.protected_read": "The action for reading a protected file.",
    "files.protected_write": "The action for writing or deleting a protected file.",
    "files.asked": "The action for protected files about which a person is asked: hooks, settings "
    "of agents and of "
    "other programs, programs that others find by name.",
    "files.unclear": "The action for a path that cannot be read.",
    "capabilities.action": (
        "The action for a tool that needs a capability which the agent does not have."
    ),
    "authority.by_risk": (
        "If `true`, a tool without an authority gets one from its risk: 0 for low to 3 for "
        "critical."
    ),
    "authority.undeclared": "The autonomy level of agents for which the policy gives none.",
    "authority.action": "The action for a tool above the agent's level.",
    "task_scope.action": "The action for a tool that is not related to the task.",
    **ASKING,
    "egress.allowed_hosts": "The only hosts that may be reached: names, `*.example.com`, addresses "
    "or ranges, each "
    "with or without `:port`. An empty list allows none; if absent, all public hosts.",
    "egress.denied_hosts": "Hosts that may not be reached, by name or by the addresses that a name "
    "resolves to, "
    "whatever else allows them.",
    "egress.internal_hosts": (
        "Hosts that may be reached although they are not on the public network."
    ),
    "egress.schemes": "The only URL schemes that may be used.",
    "egress.ports": "The only ports that may be used; if absent, all ports.",
    "egress.methods": "The only HTTP methods that may be used; if absent, all methods.",
    "egress.max_url": "The largest number of characters in a URL.",
    "egress.credentials": "If `true`, URLs may contain a user name and a password.",
    "egress.arguments": (
        "If `true`, URLs in the arguments of tool calls are judged too, as they are written."
    ),
    "egress.resolve": "If `true`, host names are resolved and all their addresses are judged.",
    "egress.deadline_ms": (
        "A request is refused if the resolver gives no answer within this many milliseconds."
    ),
    "egress.proxies": "The only proxies that requests may go through.",
    "egress.action": "The action for a request that is not allowed.",
    "secrets.action": "The action for content with a secret; at `model_chunk` `escalate` refuses, "
    "and at "
    "`handoff_done` every action only warns.",
    "secrets.at": "Other actions for some stages; if absent, `action` applies at all of them.",
    "secrets.kinds": "The only kinds of secret to find, by name or glob; `named-secret` is one "
    "known by its name. If "
    "absent, all kinds.",
    "secrets.without": "Kinds of secret not to find, by name or glob.",
    "secrets.patterns": "Your own kinds of secret.",
    "secrets.allow": "What is never a secret: fingerprints, or globs of values.",
    "secrets.decode": "If `true`, base64 and percent-encoding are decoded once before the search.",
    "secrets.pseudonyms": "If `true`, the same secret always gets the same placeholder.",
    "secrets.salt": (
        "The text from which pseudonyms are derived; if absent, the tenant and the task."
    ),
    "secrets.isolate_after": "The number of the quarantine within a day that isolates the tool; 3 "
    "means that the "
    "third one does.",
    "secrets.isolate_for_s": "How many seconds the tool is isolated.",
    "secrets.isolate_agent": "If `true`, the agent is isolated in place of a tool where no tool is "
    "at work; otherwise "
    "nobody is, and each such secret is refused by itself.",
    "flow.action": (
        "The action for a call or a request that a text from others explains, and the "
        "user does not."
    ),
    "flow.answer": "The action for a final answer with sentences that a text from others told the "
    "agent to say, or "
    "with addresses that would carry away what was read.",
    "flow.remember": "If `true`, a person's yes is valid for the rest of the run; otherwise once.",
    "flow.setting": "How firmly texts from others are held against a call: from `lenient`, which "
    "asks least, to "
    "`strict`, which asks most.",
    "flow.share": "If `true`, what a run has read and been told is kept in the store, where that "
    "outlives the process, "
    "for the other processes of the run; otherwise each process knows only its own part.",
    "pii.entities": (
        "The kinds of personal data to find, by name or glob; if absent, the usual ones."
    ),
    "pii.without": "Kinds of personal data not to find, by name or glob.",
    "pii.action": "The action for content with personal data.",
    "pii.at": "Other actions for some stages; if absent, `action` applies at all of them.",
    "pii.allow": (
        "Values that are not personal data, and domains of email addresses, by name or glob."
    ),
    "pii.bare": (
        "If `true`, a number with a valid check digit counts even without a word that says what it "
        "is."
    ),
    "pii.pseudonyms": "If `true`, the same value always gets the same placeholder.",
    "pii.salt": "The text from which pseudonyms are derived; if absent, the tenant and the task.",
    "presidio.entities": "The kinds of personal data to find, by Presidio's names; if absent, all "
    "except `URL`, "
    "`DATE_TIME` and `UUID`.",
    "presidio.score": "How confident Presidio must be, from 0 to 1.",
    "presidio.language": "The language of the texts, as a code; it selects the recognizers.",
    "presidio.deadline_ms": "How many milliseconds to wait for Presidio's answer.",
    "presidio.action": "The action for content with personal data.",
    "presidio.at": "Other actions for some stages; if absent, `action` applies at all of them.",
    "canary.action": "Whether content with a canary is refused, or the whole run ends.",
    "canary.key": "The key from which canaries are made, at least 16 characters; if absent, anyone "
    "who knows the "
    "run's id can make them.",
    "canary.all_replies": (
        "If `true`, every model reply is checked; otherwise only the final answer."
    ),
    "injection.action": "The action for content with text that tries to give the agent "
    "instructions; `redact` "
    "replaces the text with `[redacted:injection]`.",
    "injection.at": "Other actions for some stages; if absent, `action` applies at all of them.",
    "injection.score": "The total weight that the signs in a passage must reach.",
    "injection.without": "Signs that do not count.",
    "injection.model": (
        "What likeness to known attacks does: nothing, count as a hint, or warn or "
        "redact by itself."
    ),
    "injection.trusted": "If `true`, results of trusted tools are checked too.",
    "injection.replies": "If `true`, model replies are checked too.",
    "injection.users": "If `true`, the user's own words are checked too.",
    "clamp.max_chars": (
        "The largest number of characters in a result, names included; a number counts as eight."
    ),
    "clamp.max_field": "The largest number of characters in one text of a result.",
    "clamp.keep": (
        "Which end of a long text or list is kept; with `both`, the beginning gets two thirds."
    ),
    "output.empty": "The action for results and final answers that say nothing.",
    "output.tools": "The tools whose results must not be empty, by name or glob; if absent, tools "
    "annotated "
    "`read_only` that do not search.",
    "output.exempt": "Tools whose results may be empty, by name or glob.",
    "output.errors": (
        "The action for a final answer that is only an error message; `null` switches the check "
        "off."
    ),
    "output.result_errors": "The action for a result that is only an error message; if absent, "
    "results are not "
    "checked for it.",
    "output.format": "The required format of final answers; if absent, any text.",
    "output.schema": "The JSON Schema of final answers, which must then be JSON; if absent, none.",
    "output.results": "The JSON Schemas of results that are JSON in a text, by tool name or glob: "
    "an exact name "
    "first, then the first glob that matches. `true` accepts any JSON; if absent, results are not "
    "checked.",
    "output.mismatch": "The action for content that does not have the required form.",
    "rule.when": "The condition under which the rule applies, such as `agent.role == 'writer'`.",
    "rule.check": (
        "The condition that must be true then; if absent, the rule acts whenever `when` is true."
    ),
    "rule.action": "The action when the rule is broken; `allow` only records it.",
    "rule.message": "The reason, for the agent to read; if absent, the condition.",
    "rule.advice": "What to do instead, for the agent to read; if absent, to choose another way.",
    "rule.max_attempts": (
        "How often a step is asked for again if the action is `retry`; if absent, twice."
    ),
    "rule.pause": (
        "What a person is asked if the action is `escalate`; if absent, as the policy's "
        "`escalation` says."
    ),
    "sequence.after": "A step; once it has happened, the step in `refuse` is refused.",
    "sequence.refuse": "The step that is refused after the step in `after`.",
    "sequence.unless": "A step that lifts the refusal again.",
    "sequence.before": "A step that needs another step before it.",
    "sequence.need": "The step that must have happened before the step in `before`.",
    "sequence.since": "A step after which the step in `need` must happen again.",
    "sequence.count": "A step that may happen a limited number of times.",
    "sequence.at_most": "How many times the step in `count` may happen.",
    "sequence.distinct": "An expression; its different values are counted instead of calls.",
    "sequence.only": "A step that goes ahead only with a value from another step's result.",
    "sequence.argument": "The argument of the step in `only` that holds the value, or a list of "
    "values, all of which "
    "must be known; `a.b` for one inside another. Without the argument the step is refused.",
    "sequence.seen_in": "The step whose results provide the values.",
    "sequence.field": (
        "The names of the result's fields that hold the values, as a glob; if absent, any field."
    ),
    "sequence.keep": "How many values are kept, newest first; if absent, 1,024.",
    "sequence.within_steps": (
        "How many tool calls a step stays valid; if absent, there is no limit."
    ),
    "sequence.within_s": (
        "How many seconds a step stays valid, by the store's clock; if absent, there is no limit."
    ),
    "sequence.scope": "Whose steps count together: those of a run, a task or an agent.",
    "sequence.action": "The action for the step that is not allowed; `allow` only records it.",
    "sequence.message": "The reason, for the agent to read; if absent, the text of the code.",
    "sequence.advice": (
        "What to do instead, for the agent to read; if absent, the text of the code."
    ),
    "sequence.counter": (
        "Sequences with the same counter share what they remember; if absent, each entry has its "
        "own."
    ),
}
"""Options by the name of their guard; those of `*` are the same for all."""
