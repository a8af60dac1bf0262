"""The rules about shell commands that the first law knows. They look at the text of a command, and
not at what it does: `echo 'test -f ghost'` proves a ghost. Results that were published depend on
them; the second law has none of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from stanchion.tutor.rules.rule import RuleLibrary, read_rules

_BASH: Final = {"obs.tool": {"eq": "bash"}}
_DONE: Final = {"obs.rc": {"eq": 0}}
_NOT_DONE: Final = {"obs.rc": {"neq": 0}}
_ONE: Final = {"obs.rc": {"eq": 1}}
_HERE: Final = "{obs.scope}"


def _truth(text: str, kind: str, scope: str = _HERE) -> dict[str, Any]:
    return {"truth": {"text": text, "kind": kind, "scope": scope}}


def _entity(kind: str, value: str) -> dict[str, Any]:
    return {"entity": {"kind": kind, "value": value}}


def _rule(
    name: str, match: list[Any], conclude: dict[str, Any], sound: bool = True, **extract: Any
) -> dict[str, Any]:
    soundness = "sound" if sound else "heuristic"
    return {
        "id": f"R_{name}",
        "soundness": soundness,
        "match": match,
        "conclude": conclude,
        "extract": extract,
    }


def _from(pattern: str, source: str = "obs.command") -> dict[str, str]:
    return {"regex": pattern, "from": source}


def _tested(
    name: str, flag: str, text: str, kind: str, done: bool = True, entity: str = ""
) -> dict[str, Any]:
    """A rule about `test` with a flag."""
    match = [_BASH, {"obs.command": {"matches": f"test -{flag} "}}, _DONE if done else _NOT_DONE]
    conclude = {**_truth(text, kind, "{path}"), **(_entity(entity, "{path}") if entity else {})}
    return _rule(name, match, conclude, path=_from(rf"test -{flag} ['\"]?([^'\"\s]+)"))


def _asked_of(
    name: str, rc: dict[str, Any], text: str, of: Mapping[str, str], entity: bool
) -> dict[str, Any]:
    """A rule about a program that is asked whether something is there."""
    match = [_BASH, {"obs.command": {"contains": of["program"]}}, rc]
    conclude = {
        **_truth(text, "property", of["scope"]),
        **(_entity(of["kind"], f"{{{of['var']}}}") if entity else {}),
    }
    return _rule(name, match, conclude, True, **{of["var"]: _from(of["pattern"])})


def _grepped(name: str, rc: dict[str, Any], text: str) -> dict[str, Any]:
    match = [{"obs.tool": {"in": ["bash", "grep"]}}, {"obs.command": {"contains": "grep"}}, rc]
    return _rule(name, match, _truth(text, "existence"))


def _defined(name: str, word: str, var: str, text: str, entity: str) -> dict[str, Any]:
    match = [{"obs.stdout": {"matches": rf"^\s*(?:{word})\s+\w+"}}]
    conclude = {**_truth(text, "existence"), **_entity(entity, f"{{{var}}}")}
    return _rule(name, match, conclude, True, **{var: _from(rf"(?:{word})\s+(\w+)", "obs.stdout")})


_COMMAND: Final = "obs.command"
_PGREP: Final = {
    "program": "pgrep",
    "scope": "system",
    "kind": "process",
    "var": "proc",
    "pattern": r"pgrep\s+(?:-[^\s]+\s+)*['\"]?([^'\"\s]+)",
}
_PING: Final = {
    "program": "ping",
    "scope": "network",
    "kind": "host",
    "var": "host",
    "pattern": r"ping\s+(?:-[^\s]+\s+)*([^\s]+)",
}
_RULES: Final = [
    _rule("bash_success", [_DONE], _truth("Command '{obs.command}' succeeded", "property")),
    _rule(
        "bash_failure",
        [_NOT_DONE],
        _truth("Command '{obs.command}' failed with rc={obs.rc}", "property"),
    ),
    _tested("file_exists_test", "[fe]", "File '{path}' exists", "existence", entity="file"),
    _tested(
        "file_not_exists_test", "[fe]", "File '{path}' does not exist", "existence", done=False
    ),
    _tested("dir_exists_test", "d", "Directory '{path}' exists", "existence", entity="directory"),
    _grepped("grep_pattern_found", _DONE, "Pattern found in file"),
    _grepped("grep_pattern_not_found", _ONE, "Pattern not found in file"),
    _defined(
        "function_definition",
        "def|function",
        "fn_name",
        "Function '{fn_name}' is defined",
        "function",
    ),
    _defined("class_definition", "class", "class_name", "Class '{class_name}' is defined", "class"),
    _asked_of("process_running_pgrep", _DONE, "Process '{proc}' is running", _PGREP, entity=True),
    _asked_of(
        "process_not_running_pgrep", _ONE, "Process '{proc}' is not running", _PGREP, entity=False
    ),
    _asked_of("host_reachable_ping", _DONE, "Host '{host}' is reachable", _PING, entity=True),
    _asked_of(
        "host_unreachable_ping", _NOT_DONE, "Host '{host}' is unreachable", _PING, entity=False
    ),
    _rule(
        "url_accessible_curl",
        [_BASH, {_COMMAND: {"contains": "curl"}}, _DONE],
        _truth("URL is accessible", "property", "network"),
    ),
    _rule(
        "port_open_nc",
        [_BASH, {_COMMAND: {"matches": r"nc\s+-z"}}, _DONE],
        _truth("Port {port} is open on '{host}'", "property", "network"),
        host=_from(r"nc\s+-[^\s]*z[^\s]*\s+([^\s]+)"),
        port=_from(r"nc\s+-[^\s]*z[^\s]*\s+[^\s]+\s+(\d+)"),
    ),
    _rule(
        "disk_space_available",
        [_BASH, {_COMMAND: {"contains": "df"}}, _DONE, {"obs.stdout": {"matches": r"\d+%"}}],
        _truth("Disk space information retrieved", "quantitative", "system"),
        sound=False,
    ),
    _tested("file_readable", "r", "File '{path}' is readable", "property"),
    _tested("file_writable", "w", "File '{path}' is writable", "property"),
    _tested("file_executable", "x", "File '{path}' is executable", "property"),
    _rule(
        "line_count",
        [_BASH, {_COMMAND: {"contains": "wc -l"}}, _DONE, {"obs.stdout": {"matches": r"^\s*\d+"}}],
        _truth("File has {count} lines", "quantitative"),
        count=_from(r"^\s*(\d+)", "obs.stdout"),
    ),
    _tested("file_empty", "s", "File '{path}' is empty or does not exist", "property", done=False),
    _tested("file_not_empty", "s", "File '{path}' has content", "property"),
    _rule(
        "error_in_output",
        [{"obs.stdout": {"matches": "(?i)(error|failed|failure|exception|traceback)"}}],
        _truth("Output contains error indication", "property"),
        sound=False,
    ),
    _rule(
        "permission_denied",
        [{"obs.stderr": {"contains": "Permission denied"}}],
        _truth("Permission denied error occurred", "property"),
    ),
    _rule(
        "command_not_found",
        [{"obs.stderr": {"matches": "(command not found|not found)"}}],
        _truth("Command not found", "property"),
    ),
]


def bash_rules() -> RuleLibrary:
    """A library with these rules alone."""
    return RuleLibrary(
        read_rules({"meta": {"domain": "bash"}, "rules": _RULES}, "the rules about shell commands")
    )
