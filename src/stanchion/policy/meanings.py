"""What the keys of a policy file mean, in words for editors and for the reference."""

from __future__ import annotations

from typing import Final

from stanchion.policy.schema import options_of

FIELDS: Final[dict[str, str]] = {
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
    "If absent, it stands for itself.",
    "*.always": (
        "If `true`, no overlay can change or remove the guard, and it enforces in shadow mode, too."
    ),
    "*.bypass": "Who may let an action past the guard; if absent, nobody.",
    "*.effects": (
        "What a finding of the guard does besides its action: mark the run, count a "
        "strike, tell operators."
    ),
    "*.log_pass": "If `true`, records also name the guard when it was asked and found nothing.",
    "PolicyFile.name": "The policy's name in answers and records.",
    "PolicyFile.version": "The policy's version, for people.",
    "PolicyFile.timezone": (
        "The time zone whose hours, days and months budgets with a `window` count in, such as "
        "`Europe/Berlin`."
    ),
    "PolicyFile.mode": (
        "`enforce` acts on decisions; `shadow` judges and records but changes nothing."
    ),
    "PolicyFile.roles": "Roles by name: what all agents of the role have in common.",
    "PolicyFile.agents": (
        "Agents by id; `*` and `?` make a pattern. The most specific entry counts."
    ),
    "PolicyFile.tasks": (
        "Tasks by name; `*` and `?` make a pattern. The most specific entry counts."
    ),
    "PolicyFile.tools": (
        "Tools by name; `*` and `?` make a pattern. The most specific entry counts."
    ),
    "PolicyFile.guards": "The guards that judge events; each entry names its guard with `use`.",
    "PolicyFile.limits": "Limits of the engine itself.",
    "PolicyFile.autonomy": "If `true`, a run is judged more strictly as its budgets run out.",
    "PolicyFile.risk": "What the risk levels of runs mean. A level that is not here changes "
    "nothing, except that "
    "`critical` always asks a person.",
    "RiskLevels.low": "Runs that can do little harm.",
    "RiskLevels.medium": "Runs that can do some harm.",
    "RiskLevels.high": "Runs that can do much harm.",
    "RiskLevels.critical": "Runs that can do the worst: a person has to approve every action.",
    "RiskEntry.active": "The guards that are active at this level, by id or glob; guards with "
    "`always: true` are "
    "active at every level.",
    "RiskEntry.strict_marks": "If `true`, the marks of guards, such as `warn_at`, come earlier at "
    "this level, as in "
    "the autonomy mode `strict`.",
    "RiskEntry.approval": "If `true`, a person has to approve every tool call, request and handoff "
    "at this level. At "
    "`critical` that is always so.",
    "TaskEntry.risk": (
        "The risk level of runs on this task; a run can have a higher one. If "
        "absent, the task has none."
    ),
    "AppliesTo.risks": (
        "Only runs at these risk levels, `none` for runs without a level; if absent, all."
    ),
    "PolicyFile.prices": (
        "Model prices by model name; `*` and `?` make a pattern. They override the shipped table."
    ),
    "PolicyFile.faults": (
        "Which kind of fault a failure is; these entries override the shipped table."
    ),
    "PolicyFile.escalation": "Who answers escalated actions, and how long an action waits.",
    "PolicyFile.bypass": (
        "How long a request for a bypass waits, and what an emergency may do without an answer."
    ),
    "PolicyFile.approved": "Calls that nobody is asked about any more, by name, because people "
    "have approved them "
    "often. They answer guards that escalate; a guard that refuses still refuses.",
    "ApprovedEntry.tool": "The tool that is called.",
    "ApprovedEntry.args": "The arguments of the call, with exactly these values. A call with other "
    "arguments is not "
    "approved.",
    "ApprovedEntry.patterns": "Text arguments that may vary: `*` stands for a part of one word.",
    "ApprovedEntry.guards": (
        "The guards whose questions are answered. If another guard asks, a person is asked."
    ),
    "ApprovedEntry.agents": "The agents that may make the call, by their exact names.",
    "ApprovedEntry.tasks": "The tasks in which the call may be made, by their exact names; `''` "
    "stands for runs "
    "without a task.",
    "ApprovedEntry.until": "The last day on which it holds, in UTC, such as `2027-01-31`.",
    "ApprovedEntry.why": "The reason, for people.",
    "PolicyFile.operators": (
        "The people who may approve what an agent may not do, by name, each with a key."
    ),
    "PolicyFile.degrade": "What a lesser request is when a guard answers `degrade`.",
    "PolicyFile.experience": "What is kept of the outcomes of calls, and for how long.",
    "Experience.tier": "Where outcomes are kept: `none` keeps nothing, `session` counts in the "
    "run, `process` in the "
    "memory of the process, `persistent` beside the store.",
    "Experience.days": "`stanchion experience prune` removes incidents older than this many days.",
    "Experience.rows": "The most incidents that `stanchion experience prune` leaves.",
    "PolicyFile.advice": "How agents are told what is known of their tools.",
    "Advice.style": "The words of advice: `concise` for small models, `expert` for large ones, "
    "`friendly` for agents "
    "that talk to users.",
    "Advice.tokens": (
        "The most tokens that `run.awareness()` gives, unless it is called with a "
        "number of its own."
    ),
    "PolicyFile.durations": (
        "If `true`, the time that each guard takes is measured; `chain_result()` gives it."
    ),
    "Bypass.allowed": "Whether somebody may let an action past the guard.",
    "Bypass.requires_approval": (
        "The role whose yes it takes; one of `escalation.roles` or of the operators' roles."
    ),
    "Bypassing.timeout_s": "How many seconds each authority has to answer a request for a bypass.",
    "Bypassing.emergency_s": "After this many seconds without an answer, an emergency request for "
    "a safety response "
    "goes ahead once.",
    "Bypassing.review_s": (
        "How many seconds an operator has to review such an emergency; then an alert is sent."
    ),
    "Bypassing.safety_responses": "The tools that may stop harm in an emergency, by their exact "
    "names. They must not "
    "have the effect `irreversible` or `privilege`.",
    "Bypass.audit_required": "Always `true`: a bypass is recorded.",
    "PolicyFile.unread": "What happens to content that cannot be read: `block` refuses it, `media` "
    "lets images, audio "
    "and documents in, `allow` lets everything pass. What passes is marked as unread.",
    "FaultEntries.types": (
        "The kind of fault by the name of the error's type, or of one of its base classes."
    ),
    "FaultEntries.status": (
        "The kind of fault by status code (`404`, `50x`, `5xx`); used if the type is not known."
    ),
    "FaultEntries.text": (
        "The kind of fault by the error's text; used last, and the first match counts."
    ),
    "TextEntry.pattern": "A regular expression (RE2) to find anywhere in the text, ignoring case.",
    "TextEntry.fault": "The kind of fault if the pattern matches.",
    "PriceEntry.input_usd_per_mtok": "US dollars per million prompt tokens.",
    "PriceEntry.output_usd_per_mtok": "US dollars per million reply tokens.",
    "PriceEntry.cached_input_usd_per_mtok": "US dollars per million prompt tokens read from a "
    "cache; if absent, the "
    "price of other prompt tokens.",
    "PriceEntry.cache_write_usd_per_mtok": "US dollars per million tokens written to a cache; if "
    "absent, the price of "
    "other prompt tokens.",
    "PriceEntry.cache_write_1h_usd_per_mtok": "US dollars per million tokens written to a cache "
    "that keeps them for "
    "an hour; if absent, the price of other cache writes.",
    "PriceEntry.long_prompt": (
        "Other prices for calls with a long prompt; if absent, there are none."
    ),
    "PriceEntry.max_output_tokens": "The most tokens a reply can have if the request sets no "
    "limit; if absent, "
    "unknown.",
    "LongPrompt.above_tokens": "A prompt with more tokens than this is long.",
    "LongPrompt.input_usd_per_mtok": "US dollars per million prompt tokens.",
    "LongPrompt.output_usd_per_mtok": "US dollars per million reply tokens.",
    "LongPrompt.cached_input_usd_per_mtok": "US dollars per million prompt tokens read from a "
    "cache; if absent, the "
    "price of other prompt tokens.",
    "LongPrompt.cache_write_usd_per_mtok": "US dollars per million tokens written to a cache; if "
    "absent, the price of "
    "other prompt tokens.",
    "LongPrompt.cache_write_1h_usd_per_mtok": "US dollars per million tokens written to a cache "
    "that keeps them for "
    "an hour; if absent, the price of other cache writes.",
    "PolicyFile.deep": (
        "How deep rules are asked: how long by the risk of a call, how many at once, and when not."
    ),
    "Deep.critical_wait_ms": (
        "How many milliseconds a call of critical risk waits for a deep rule; it is then refused."
    ),
    "Deep.high_wait_ms": "How many milliseconds a call of high risk waits; a person is then asked.",
    "Deep.medium_wait_ms": "How many milliseconds a call of medium risk waits; it then goes ahead.",
    "Deep.low_wait_ms": (
        "How many milliseconds a call of low risk waits; with 0 the rule is asked beside the call."
    ),
    "Deep.questions_for_a_run": (
        "How many questions of a run are open at a time; more count as late at once."
    ),
    "Deep.time_box_s": (
        "A rule without an answer after this many seconds is told to stop, and its "
        "answer is dropped."
    ),
    "Deep.rest_after": (
        "After this many failures or late answers in a row a rule is left alone for a while."
    ),
    "Deep.rest_s": "How many seconds a rule is left alone; its answers count as late meanwhile.",
    "Deep.answers_kept": "How many answers of deep rules are kept; the oldest is forgotten first.",
    "Escalation.roles": "The roles that are asked, in this order.",
    "Escalation.timeout_s": "The action is refused after this many seconds without an answer.",
    "Escalation.next_after_s": "After this many seconds without an answer the next role is asked "
    "as well; if absent, a "
    "third of `timeout_s`.",
    "Escalation.quorum": "How many operators must say yes to a critical action, each with their "
    "own key; if absent, 2 "
    "where at least two have one of the roles, otherwise 1.",
    "Escalation.wait_s": "How many seconds a call waits for the answer; afterwards it can be "
    "repeated and uses the "
    "answer it got.",
    "Escalation.tickets_for_a_run": "The most tickets that a run may open; beyond that nobody is "
    "asked and the action "
    "is refused.",
    "Escalation.tickets_a_minute": "The most tickets that an agent may open within a minute.",
    "Escalation.dialogs": "The hosts, by their names, with a person before them whose answer in "
    "the host's own dialog "
    "counts for one call; never for anything critical.",
    "OperatorEntry.key": (
        "The operator's public key, one line in OpenSSH format: `ssh-ed25519 AAAA…`."
    ),
    "OperatorEntry.roles": "The roles in which the operator may answer.",
    "OperatorEntry.agents": (
        "Agents that work for the operator; somebody else must answer their requests."
    ),
    "Degrade.models": "The cheaper model to use, by the model's name; `*` and `?` make a pattern. "
    "The most specific "
    "entry counts.",
    "Degrade.keep_messages": "Sends only this many of the newest messages, and all instructions; "
    "if absent, all "
    "messages.",
    "Degrade.max_tokens": "Limits the reply to this many tokens; if absent, it is not limited.",
    "Degrade.pause_s": "Waits this many seconds before the request; if absent, it does not wait.",
    "RoleEntry.allowed_tools": "The only tools that agents of this role may use, by name or glob; "
    "an empty list "
    "allows none.",
    "RoleEntry.capabilities": (
        "What agents of this role can do; conditions read it as `agent.capabilities`."
    ),
    "RoleEntry.autonomy_level": "The highest authority that agents of this role may use without "
    "asking; see the guard "
    "`authority`.",
    "AgentEntry.role": "The agent's role; conditions read it as `agent.role`.",
    "AgentEntry.allowed_tools": "The only tools this agent may use, by name or glob, instead of "
    "its role's; an empty "
    "list allows none.",
    "AgentEntry.capabilities": "What this agent can do in addition to its role.",
    "AgentEntry.autonomy_level": "The highest authority that this agent may use without asking, "
    "instead of its role's "
    "level.",
    "TaskEntry.related_tools": "The tools that belong to the task; the guard `task_scope` warns "
    "about others. If "
    "absent, all tools belong.",
    "AgentEntry.branches": "The branches that this agent may commit and push to, as globs, unless "
    "its task says "
    "others; the guard `evidence` with `branch` enforces it.",
    "TaskEntry.branches": "The branches that work on the task may be committed and pushed to, as "
    "globs; `!main` "
    "excludes one. The guard `evidence` with `branch` enforces it.",
    "TaskEntry.files": "The files that belong to the task; the guard `files` enforces it.",
    "TaskEntry.additional_tools": (
        "Tools that are allowed in addition to an agent's own while it works on this task."
    ),
    "TaskEntry.deadline_s": (
        "A run on this task ends this many seconds after its start; if absent, it has no deadline."
    ),
    "TaskEntry.budget": (
        "What the task may use in all; the guards `budget` and `time_limit` with "
        "`of_task` enforce it."
    ),
    "TaskBudget.tokens": "How many tokens the task may use; if absent, they are not limited.",
    "TaskBudget.time_s": (
        "How many seconds the task may take from its first action; if absent, it is not limited."
    ),
    "TaskBudget.api_calls": (
        "How many external API calls the task may make; if absent, they are not limited."
    ),
    "TaskBudget.cost_usd": (
        "How many US dollars the task may cost; if absent, they are not limited."
    ),
    "TaskFiles.write": "The only files that may be written or deleted, as globs; `**` matches any "
    "number of folders. "
    "If absent, all files.",
    "TaskFiles.deny": "Files that may never be used, as globs, whatever else allows them.",
    "ToolEntry.risk": "How much harm the tool can do.",
    "ToolEntry.ask": "Whether a person is asked before each call: `true`, or a mapping that says "
    "above what number, and who.",
    "AskEntry.above": "The largest number that needs no person; if absent, every call does. A call "
    "without the number is asked about.",
    "AskEntry.of": "The number that `above` is about, as in a condition.",
    "AskEntry.by": (
        "The roles that may answer, in this order; if empty, those of `escalation.roles`."
    ),
    "AskEntry.prompt": "The question for that person; if empty, the reason.",
    "ToolEntry.timeout_s": (
        "The longest time one call may take, in seconds; if absent, it is not limited."
    ),
    "ToolEntry.effect": "What a call does: `read` only looks, `local` changes something here, "
    "`outward` reaches others, `privilege` changes who may do what, `irreversible` cannot be taken "
    "back. If absent, it is read from the tool's name.",
    "ToolEntry.sinks": "The arguments that say whom or what a call acts on, such as a recipient; a "
    "dot leads into a mapping. A person is shown them, and a yes never leaves them open.",
    "ToolEntry.result": "What the tool's results count as: the `user`'s own words, `trusted` "
    "words, `records` whose fields name things, or `content` that anyone may have written.",
    "ToolEntry.annotations": "How often a call may happen, and whether it counts as a call of an "
    "external API.",
    "ToolEntry.undo": (
        "Code that undoes a call, as `module:name`; it takes the call's own arguments."
    ),
    "ToolEntry.harmless": (
        "Errors of the tool after which nothing has happened, by type or base class."
    ),
    "ToolEntry.needs": (
        "The capabilities that an agent needs to use the tool; the guard "
        "`capabilities` enforces it."
    ),
    "ToolEntry.authority": "The autonomy level that the tool requires; the guard `authority` "
    "escalates calls of "
    "agents below it.",
    "ToolEntry.schema": (
        "The JSON Schema (2020-12) of the tool's arguments; the guard `schema` enforces it."
    ),
    "ToolEntry.result_schema": (
        "The JSON Schema of the tool's results; the guard `schema` enforces it."
    ),
    "ToolEntry.hook": (
        "Code that checks every call, as `module:name`; a text that it returns refuses the call."
    ),
    "ToolEntry.pin": (
        "The digest that the tool's definition must have; the guard `schema` escalates any other."
    ),
    "ToolEntry.unread": "What happens to unreadable content in this tool's calls and results; if "
    "absent, the policy's "
    "own `unread`.",
    "ToolEntry.alternatives": "Tools that do something similar, by their exact names. A refusal of "
    "this tool names "
    "them to the agent; calls of them are judged like any other.",
    "Limits.warnings": "The number of the warning by one guard in a task that escalates; 3 means "
    "that the third one "
    "does.",
    "Limits.count_marks": "Whether marks of meters, such as `warn_at`, and warnings of guards that "
    "only watch count "
    "towards `warnings`, as in AGENT-33.",
    "Limits.matches_a_kb": "How many places of an event may look like a secret, for each KB of its "
    "texts and on top of 256, and eight times as many like personal data; with more it is refused "
    "unread (`kernel.too_dense`), because each of "
    "them is looked at closely.",
    "Limits.command_chars": "A command with more characters is unclear, and none of it is read.",
    "Limits.command_steps": "A command is unclear where reading and following it takes more steps "
    "than these and one for each character, or where it runs more than one command for each 39 of "
    "them.",
    "Limits.command_depth": "A command is unclear where groups, substitutions and texts that run "
    "as scripts stand deeper in each other.",
    "Limits.query_chars": "SQL with more characters is unclear, and none of it is read.",
    "Limits.query_steps": "SQL is unclear where parsing it may take more steps; each word or sign "
    "takes 6 of them at least, and each statement 96.",
    "Limits.query_depth": "SQL is unclear where brackets stand deeper in each other.",
    "PolicyFile.strikes": "What findings with the effect `increment_strike` lead to.",
    "Pausing.prompt": "The question, in words for the person; if absent, the rule's message.",
    "Pausing.roles": "The roles that are asked, in this order; if absent, those of `escalation`.",
    "Pausing.scope": "What waits meanwhile: `tool_call` is the action alone, `step` everything "
    "that the agent would "
    "begin before it asks its model again, `run` everything that the run would begin.",
    "Pausing.timeout_s": "The action is refused after this many seconds without an answer.",
    "Strikes.per": "What the strikes of a guard are counted for.",
    "Strikes.decay_s": "A strike is forgotten after this many seconds.",
    "Strikes.escalate_at": "From this number of strikes by one guard on, nothing begins until a "
    "person has said yes; "
    "if absent, nobody is asked.",
    "Strikes.quarantine_at": "From this number of strikes by one guard on, the agent is isolated; "
    "if absent, it never "
    "is.",
    "Strikes.quarantine_s": "The agent is isolated for this many seconds.",
    "AppliesTo.agents": "Only these agents, by name or glob; if absent, all.",
    "AppliesTo.tasks": "Only these tasks, by name or glob; if absent, all.",
    "AppliesTo.tools": "Only these tools, by name or glob; if absent, all.",
    "OwnPattern.kind": "The name of the kind, in findings and placeholders.",
    "OwnPattern.pattern": "A regular expression (RE2) that matches the secret.",
    "OwnPattern.keywords": (
        "Words of which a match must contain at least one; if absent, it needs none."
    ),
    "OwnPattern.entropy": "The least entropy of a match, in bits per character.",
    "RiskRow.words": (
        "The first operands: `*` is any one, `**` up to four, `x*` whatever begins with `x`."
    ),
    "RiskRow.flags": "Options that must be there.",
    "RiskRow.lacks": "Options of which none may be there.",
    "RiskRow.has": (
        "Words that must stand somewhere behind the name, in whatever case; `*` at either "
        "end is whatever stands there. As a list, one group each."
    ),
    "RiskRow.hasnt": "Words of which none may stand there.",
    "RiskRow.value": "Options with values that they must have, as `--option=value`.",
    "RiskRow.given": "Texts of which one must be in the input.",
    "RiskRow.from": "Programs of which one makes what it reads.",
    "RiskRow.sets": "Variables of which one must be set.",
    "RiskRow.touches": (
        "Paths of which it must use one, by how: `reads=…`, `writes=…`, `deletes=…`, `targets=…` "
        "(what it writes, and all that redirections open for that), `emptied=…` and `opened=…` "
        "(by redirections), `operands=…`, `behind=…` (the first), `last=…`, `roots=…` (of a "
        "search) or `listed=…` (where a search found them). `@home` is a path in that place, one "
        "of `at`, `secret`, `traces` or `remote`."
    ),
    "RiskRow.mark": "What the reader must have noticed of the command.",
    "RiskRow.hint": "A text without which nothing else is asked, which costs less.",
    "RiskRow.at": (
        "Places of which one operand must be: `root`, `home`, `core`, `system`, `disk`, `outside`, "
        "`open`, `shared`, `all`."
    ),
    "RiskRow.is": "A question that no table answers, by its name.",
    "RiskRow.family": "The family of the danger; if absent, `service`.",
    "RiskRow.loss": (
        "What is lost, a name of the table of consequences; if absent, what the family says."
    ),
    "RiskRow.strict": "If `true`, it holds only where everyday commands are refused, too.",
    "RiskRow.ask": "What a repository is asked, by which less may be lost.",
    "RiskRow.after": (
        "How an earlier command of the same program and text must begin whose words name the same, "
        "as `remote add` before `push`; behind `!` it has to name an address of a stranger."
    ),
    "RiskRow.by_path": "If `true`, the repository is asked about the command's paths alone.",
    "RiskRow.then": (
        "What is lost where the repository knows of something that would go; if absent, as much as "
        "without an answer."
    ),
    "RiskRow.else": "What is lost where the repository knows of nothing that would go.",
    "Program.risks": "Rows by why they are a danger; a text is a row of `words`.",
    "Program.hits": "Commands for which a row must hold.",
    "Program.misses": "Commands for which no row may hold.",
    "Step.tool": "The tools of the step: a name, a glob or a list of them.",
    "Step.when": "A condition on the event that must be true.",
    "Step.outcome": "When the step counts: as it starts, succeeds, fails or ends either way. If "
    "absent, `started` for "
    "steps that refuse others and `success` for steps that others need.",
    "Step.stage": "The stage of the step; anything other than `tool_call` has no outcome.",
}
"""Keys by the struct that has them; those of `*` stand in the entry of every guard, beside the
options that it declares itself."""


def meaning_of(owner: str, name: str) -> str:
    """What a key of a struct or an option of a guard means. `KeyError` where nothing says it."""
    option = options_of(owner).get(name)
    if option is not None:
        return option.meaning
    own = FIELDS.get(f"{owner}.{name}")
    return FIELDS[f"*.{name}"] if own is None else own
