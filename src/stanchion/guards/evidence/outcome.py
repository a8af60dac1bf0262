"""How a check ended, by what it printed, and texts that shells run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from shlex import join, quote
from typing import Any, Final

from stanchion.kernel.regex import regex
from stanchion.readings.act_words import COMMANDS
from stanchion.readings.names import plain
from stanchion.readings.texts import leaves
from stanchion.readings.word_lists import listed

LONGEST: Final = 65_536
BEHIND: Final = listed("args arguments argv params parameters options flags")
"""Names of arguments that stand behind the command they are given with."""
AROUND: Final = frozenset(
    {
        "env", "environment", "envvars", "shell", "executable", "interpreter", "stdin", "input",
        "background", "runinbackground", "isbackground", "isinput", "detach", "async",
    }
)  # fmt: skip
"""Names of arguments that say what runs a command, what it is given, or that nobody waits for
it."""


def shell_texts(args: Mapping[str, Any]) -> list[str]:
    """The shell texts in the arguments of a call, each with the words that other arguments put
    behind it."""
    given = [value for key, value in args.items() if plain(str(key)) in COMMANDS]
    return [text for value in given if (text := _shell_text(value, args))]


def _shell_text(value: Any, args: Mapping[str, Any]) -> str:
    text = _text(value)
    if not text:
        return ""
    behind = [each for key, each in args.items() if plain(str(key)) in BEHIND and each is not value]
    return " ".join([text, *[word for each in behind for word in _words(each)]])


def changes_what_runs(args: Mapping[str, Any]) -> bool:
    """Whether something beside a command says how it runs."""
    return any(
        bool(value) and value != "false" for key, value in args.items() if plain(str(key)) in AROUND
    )


def _words(value: Any) -> list[str]:
    """What stands behind a command: a text as it is, words one by one."""
    if isinstance(value, list):
        return [quote(str(word)) for word in value]
    return [value if isinstance(value, str) else quote(str(value))] if value else []


def _text(value: Any) -> str:
    """A text, or words as one; of words, what a shell among them is given to run."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST else ""
    if not isinstance(value, list) or not value or not all(isinstance(word, str) for word in value):
        return ""
    return _text(join(value))


NONE: Final = 0
"""Nothing ran."""
PASSED: Final = 1
FAILED: Final = 2
UNCLEAR: Final = 3
"""Something ran, and it is not known what came of it."""

READ: Final = 20_000
"""How much of the end of an output is read."""
STATUSES: Final = listed("exitcode exitstatus returncode rc exit")
"""Names under which a result has the status of a process, in small letters, without separators."""
GOOD: Final = listed("success ok passed succeeded")
BAD: Final = listed("iserror failed timedout")

_STATUS: Final = regex(
    r"\bexit(?:ed)?(?: with)?(?: non-zero)? ?(?:code|status)(?: of)?[:=]? ?(-?\d{1,5})\b",
    re.IGNORECASE,
)
_BROKEN: Final = regex(
    r"^(?:(?:fatal )?error(?:\[\w{1,12}\])?: |traceback \(most recent call last\)|npm err!"
    r"|[\w./-]{1,60}: command not found|sh: \d+: [\w./-]{1,60}: not found)",
    re.IGNORECASE | re.MULTILINE,
)
_NO_TESTS: Final = regex(
    r"no tests (?:ran|found|collected|executed|to run|were (?:run|found|executed))|collected 0 "
    r"items|\bran 0 tests"
    r"|\b0 tests? (?:ran|run|passed)|no test files|\b[0-9]+ (?:tests?|items?) collected\b",
    re.IGNORECASE,
)
"""What runners say that ran no tests, or that only looked for them."""
_ZERO: Final = regex(
    r"\b0 (?:passed|passing|examples?)\b|\btests run: 0\b|\btests: +0 total\b|\brunning 0 tests\b",
    re.IGNORECASE,
)
"""The same for a part of a run: another part may have had some."""
_COUNTED: Final = regex(
    r"\b[1-9]\d* (?:tests? |specs? )?(?:passed|passing)\b|\bran [1-9]\d* tests?\b|\btests run: "
    r"[1-9]"
    r"|\b[1-9]\d* (?:examples?|tests?|runs?|assertions?),|\b100% tests passed\b|\bpassed: +[1-9]",
    re.IGNORECASE,
)
"""Tests that were counted, of which there was one at least."""
_RAN: Final = regex(r"^ok\s+\S(?!.*\[no tests to run\])|^--- PASS", re.MULTILINE)
"""Tests of Go's, package by package."""
_FAILED: Final = regex(
    r"\b[1-9]\d* (?:tests? |specs? |examples? )?(?:failed|failing|failures?|errors?|broken)\b"
    r"|\b(?:[Ff]ailures|[Ff]ailed|[Ee]rrors)[=:] {0,12}[1-9]|^not ok\b"
    r"|^\W{0,8}(?:FAILED|FAIL|FAILURES!?)\b|--- FAIL|\btest result: FAILED|\bBUILD "
    r"FAIL(?:URE|ED)\b|\bTests? failed\b"
    r"|\btests? timed out",
    re.MULTILINE,
)
_PASSED: Final = regex(
    r"\b[1-9]\d* (?:tests? |specs? )?(?:passed|passing)\b|^OK\b|^ok\s+\S|\btest result: "
    r"ok\b|\bBUILD SUCCESS(?:FUL)?\b"
    r"|\b100% tests passed\b|\b[1-9]\d* (?:examples?|tests?|runs?|assertions?), .{0,60}\b0 "
    r"(?:failures|failed|errors)\b"
    r"|\bPassed!\s|^PASS\b|\ball tests passed\b",
    re.MULTILINE,
)
_UNCLEAN: Final = regex(
    r"(?<!passed, )\b[1-9]\d* (?:errors?|warnings?|problems?|issues?|offenses?|violations?)\b"
    r"(?! \(\d+ fixed, 0 remaining\))"
    r"|^\S{1,200}:\d+:(?:\d+:)? |\bFailed$|\berror TS\d+",
    re.IGNORECASE | re.MULTILINE,
)
_CLEAN: Final = regex(
    r"\ball checks passed\b"
    r"|\bno (?:issues|problems|errors|offenses|warnings|lint errors|violations) "
    r"(?:found|detected)\b"
    r"|\b0 (?:errors|problems|issues|violations)\b|\brated at 10(?:\.00)?/10\b"
    r"|\ball done! .{0,12}\d+ files? would be left"
    r"|\ball matched files use\b|, no offenses",
    re.IGNORECASE,
)


def status_in(result: Any) -> int | None:
    """The status that a result names as that of its process; 0 or 1 where it only says whether it
    went well."""
    waiting, said = [result], None
    for _ in range(64):
        if not waiting:
            break
        value = waiting.pop(0)
        if isinstance(value, list):
            waiting += value[:16]
        elif isinstance(value, dict):
            for name, each in value.items():
                plain = str(name).replace("_", "").replace("-", "").lower()
                if plain in STATUSES and isinstance(each, int) and not isinstance(each, bool):
                    return each
                if isinstance(each, bool) and plain in GOOD:
                    said = 0 if each else 1
                elif isinstance(each, bool) and each and plain in BAD:
                    said = 1
                elif isinstance(each, dict | list):
                    waiting.append(each)
    return said


def text_in(result: Any) -> str:
    """The end of what a result says."""
    if isinstance(result, str):
        return result[-READ:]
    return "\n".join([leaf.text for leaf in leaves(result) if not leaf.named])[-READ:]


def outcome(result: Any, lint: bool, counts: bool, alone: bool, heard: bool = True) -> int:
    """What came of a check. `counts`: the status is 0 only where the check went well; `alone`:
    nothing else can have failed; `heard`: nothing but what it prints is in the result.

    1. A status that the result names is taken where it counts, one that stands in what is printed
       only where nothing else can have printed it.
    2. Without a status words count as a pass only where nothing else can have printed them. A
       failure that somebody tells is believed of anybody.
    3. A status of 0 is a pass unless words say that tests failed or that there were none. Words of
       others cannot gainsay that there were none.
    """
    text = text_in(result)
    said = _linted(text) if lint else _tested(text)
    status = _status(result, text, heard) if counts else None
    if status is None:
        if not heard:
            return FAILED if said == FAILED else UNCLEAR
        silent = lint and not text.strip()
        return PASSED if silent else said if said else UNCLEAR
    if status:
        return FAILED if alone or said == FAILED else UNCLEAR
    if lint:
        return PASSED
    if _FAILED.search(text) is not None:
        return FAILED
    none = _none_ran(text) or (not heard and _NO_TESTS.search(text) is not None)
    return UNCLEAR if none else PASSED


def tells_of_tests(text: str) -> bool:
    """Whether a text has words that would be read as tests or linters that went well, or as the
    status of a process."""
    return any(words.search(text) is not None for words in (_PASSED, _CLEAN, _STATUS))


def _status(result: Any, text: str, heard: bool) -> int | None:
    named = status_in(result)
    if named is not None or not heard:
        return named
    found = _STATUS.findall(text)
    return int(found[-1]) if found else None


def _tested(text: str) -> int:
    if _FAILED.search(text) is not None:
        return FAILED
    if _PASSED.search(text) is not None:
        return UNCLEAR if _none_ran(text) else PASSED
    if _BROKEN.search(text) is not None:
        return FAILED
    return UNCLEAR if _none_ran(text) else NONE


def _none_ran(text: str) -> bool:
    """Whether a text says that there were no tests, and of none that there were some."""
    none = _NO_TESTS.search(text) is not None or _ZERO.search(text) is not None
    return none and _COUNTED.search(text) is None and _RAN.search(text) is None


def _linted(text: str) -> int:
    if _UNCLEAN.search(text) is not None or _BROKEN.search(text) is not None:
        return FAILED
    return PASSED if _CLEAN.search(text) is not None else NONE
