"""What the options of guards that ask others mean, in words for editors and for the reference."""

from __future__ import annotations

from typing import Final

WAITS: Final = (
    "How many milliseconds a call waits for the answer, by its risk (`low`, `medium`, `high`, "
    "`critical`); never longer than `deadline_ms`. If absent, as the policy's `deep` says."
)

REQUIRED: Final = (
    "If `true`, the answer must come: every call waits for it, up to `deadline_ms`, "
    "and is refused without it."
)

ASKING: Final[dict[str, str]] = {
    "python.call": "The code that judges, as `module:name`: a function or an object, not a class; "
    "imported when the "
    "policy loads.",
    "python.deadline_ms": (
        "A call is refused if the code gives no answer within this many milliseconds."
    ),
    "python.deep": "If `true`, a call waits by its risk, and goes ahead at low and medium risk "
    "when the answer is "
    "late.",
    "python.isolated": (
        "If `true`, the code runs in its own process, which is stopped at the deadline."
    ),
    "python.waits": WAITS,
    "python.cache": "If `true`, the answer to an event is used again for one that says the same, "
    "for the same agent "
    "and task.",
    "llm_judge.rule": "The rule that the model judges by, in plain words.",
    "llm_judge.model": "The model, by the name that the endpoint knows it under.",
    "llm_judge.endpoint": "The URL of an OpenAI-compatible API; `chat/completions` is added to it.",
    "llm_judge.key_env": (
        "The environment variable that has the key; it is read when the model is asked."
    ),
    "llm_judge.deadline_ms": "How many milliseconds the model may take.",
    "llm_judge.waits": WAITS,
    "llm_judge.required": REQUIRED,
    "llm_judge.action": "The action for the verdict `refuse`.",
    "llm_judge.unsure": (
        "The action for the verdict `unsure`, which is also the verdict on what is too long."
    ),
    "llm_judge.max_chars": (
        "How many characters of an event are sent; one with more is not sent, and is `unsure`."
    ),
    "llm_judge.input_usd_per_mtok": "US dollars per million prompt tokens; if absent, the policy's "
    "`prices`, "
    "or else the shipped table.",
    "llm_judge.output_usd_per_mtok": "US dollars per million reply tokens; if absent, the policy's "
    "`prices`, "
    "or else the shipped table.",
    "scope_classifier.about": "What tasks are about, by the task's name or a glob. If absent, and "
    "for other tasks, "
    "the run's `task` itself.",
    "scope_classifier.covered": (
        "An action is told of if the task covers a smaller share than this of its words."
    ),
    "scope_classifier.task_words": (
        "A task with fewer telling words says too little to compare anything with."
    ),
    "scope_classifier.action_words": (
        "An action with fewer telling words says too little to be compared."
    ),
    "scope_classifier.action": "The action for what has little to do with the task.",
    "scope_classifier.deadline_ms": "How many milliseconds the answer may take.",
    "scope_classifier.waits": WAITS,
    "scope_classifier.required": REQUIRED,
    "injection_classifier.at_least": "The chance from which on a text is told of.",
    "injection_classifier.action": "The action for content with such a text.",
    "injection_classifier.trusted": "If `true`, results of trusted tools are checked too.",
    "injection_classifier.deadline_ms": "How many milliseconds the answer may take.",
    "injection_classifier.waits": WAITS,
    "injection_classifier.required": REQUIRED,
}
"""Options by the name of their guard."""
