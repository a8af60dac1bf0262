"""Mistakes are found at load, with the place and the nearest valid word."""

import pytest

from stanchion.policy.conditions import ConditionError, compile_condition
from stanchion.policy.conditions.view import STANDARD


@pytest.mark.parametrize(
    ("text", "at_fault", "says"),
    [
        ("agent.rol == 'x'", "agent.rol", "did you mean `agent.role`?"),
        ("agnt.role == 'x'", "agnt.role", "did you mean `agent.role`?"),
        ("target_file == 'x'", "target_file", "did you mean `action.target_file`?"),
        ("agent == 'x'", "agent", "is a group of names: say which one, as in `agent.id`"),
        ("event.tool.name == 'x'", "event.tool.name", "the value before the dot is a string"),
        ("args.to == 'x'", "args.to", "did you mean `event.args.to`?"),
        ("tool.name == 'x'", "tool.name", "did you mean `event.tool`?"),
        ("event.arg.path == 'x'", "event.arg", "did you mean `event.args`?"),
        ("agent.role == 5", "agent.role == 5", "`==` cannot join a string and an int"),
        ("agent.role in [1, 2]", "agent.role in [1, 2]", "`in` cannot join a string and an int"),
        ("agent.role in 'abc'", "'abc'", "write a list"),
        (
            "agent.allowed_tools == 'x'",
            "agent.allowed_tools == 'x'",
            "write `x in agent.allowed_tools`",
        ),
        (
            "agent.allowed_tools.exists(t, t == 'x')",
            "agent.allowed_tools",
            "this is a set of names",
        ),
        ("action.type == 'file_writ'", "action.type == 'file_writ'", "did you mean `file_write`?"),
        (
            "action.type in ['file_write', 'delete']",
            "action.type in ['file_write', 'delete']",
            "never `delete`",
        ),
        ("event.stage != 'tool-call'", "event.stage != 'tool-call'", "did you mean `tool_call`?"),
        ("agent.role", "agent.role", "a condition is true or false, and this is a string"),
        ("agent.role and true", "agent.role", "a truth value is needed"),
        ("not agent.role", "agent.role", "a truth value is needed"),
        ("agent.role ? true : false", "agent.role", "a truth value is needed"),
        ("agent.role.startswith('x')", "agent.role.startswith('x')", "did you mean `startsWith`?"),
        (
            "startsWith(agent.role, 'x')",
            "startsWith(agent.role, 'x')",
            "write `text.startsWith(prefix)`",
        ),
        ("agent.role.glob('x')", "agent.role.glob('x')", "write `glob(text, pattern)`"),
        ("agent.role.startsWith(1)", "1", "takes string, and this is an int"),
        ("agent.role.startsWith()", "agent.role.startsWith()", "takes another number of arguments"),
        ("globs(agent.role, 'x')", "globs(agent.role, 'x')", "did you mean `glob`?"),
        ("glob(agent.role, 'src/**.py')", "'src/**.py'", "write `**/*.py`"),
        ("under(agent.role, '')", "''", "write `.`"),
        ("agent.role.matches('(')", "'('", "the pattern is not RE2: missing )"),
        ("agent.role.matches(agent.id)", "agent.id", "has to be a literal"),
        (
            "exists(event.args, x, true)",
            "exists(event.args, x, true)",
            "write `list.exists(x, test)`",
        ),
        ("event.args.exists('x', true)", "'x'", "a plain name is needed"),
        ("event.args.exists(x)", "event.args.exists(x)", "takes a name and an expression"),
        ("has(agent)", "has(agent)", "write `has(event.args.path)`"),
        ("agent.role + 1 == 'x'", "agent.role + 1", "`+` cannot join a string and an int"),
        ("1 + 1.0 == 2.0", "1 + 1.0", "`+` cannot join an int and a double"),
        ("-agent.role == 'x'", "-agent.role", "`-` cannot be used before a string"),
        ("agent.role[0] == 'x'", "agent.role[0]", "has no elements"),
        ("action.target_files['x'] == 'x'", "'x'", "write a whole number"),
        ("{1: 1, 1u: 2}[1] == 1", "1u", "the key is there twice"),
        ("{true: 1, 1: 2}[1] == 1", "1", "the key is there twice"),
        ("{1.5: 1}[1] == 1", "1.5", "a key cannot be a double"),
        ("agent.role = 'x'", "=", "compare with `==`"),
        ("agent.role == 'x' & true", "&", "write `and`"),
        ("agent.role == 'x' nad true", "nad", "did you mean `and`?"),
        ("agent.role == 'x' true", "true", "join conditions with `and` or `or`"),
        ("agent.role == 'x", "'x", "close it with `'`"),
        (r"agent.role == '\d'", r"\d", "write a raw text as `r'…'`"),
        ("agent.role ==", "", "a value is missing before the end"),
        ("", "", "a value is missing before the end"),
        ("(agent.role == 'x'", "", "`)` is missing before the end"),
        ("agent.role == 'x')", ")", "cannot follow here"),
        ("agent. == 'x'", "==", "a field name is missing after the dot"),
        ("1 == not true", "not", "put it and what it negates in parentheses"),
        ("Foo{a: 1} == 1", "{", "messages are outside the language"),
        (".agent.role == 'x'", ".", "a name begins with a word"),
        ("if == 1", "if", "is reserved"),
        ("f(1,) == 1", ")", "an argument is missing"),
    ],
)
def test_mistakes(text: str, at_fault: str, says: str) -> None:
    with pytest.raises(ConditionError) as caught:
        compile_condition(text, STANDARD)
    error = caught.value
    assert says in error.message
    assert text[error.start : error.end] == at_fault


@pytest.mark.parametrize(
    "text",
    [
        "agent.role == 'implementer' AND action.type == 'file_write'",
        "not glob(action.target_file, '**/test_*') and not glob(action.target_file, '**/*_test.*')",
        "action.tool_name in agent.allowed_tools OR action.tool_name in task.additional_tools",
        "action.target_files.all(f, under(f, 'src') || under(f, 'docs'))",
        "event.headers.`content-type` == 'application/json'",
        "event.args.amount > 100 and !(event.args.currency in ['EUR', 'USD'])",
        "action.command.matches(r'\\brm\\s+-rf\\b')",
        "NOT has(event.args.path)",
        "event.status >= 500 // a server's fault",
        "agent.allowed_tools == null",
        "'write' in agent.capabilities",
        "action.estimated_tokens > 1000 or action.estimated_duration > 1.5",
        "action.estimated_duration > 1",
    ],
)
def test_good_conditions(text: str) -> None:
    compile_condition(text, STANDARD)


def test_not_binds_looser_than_a_comparison_and_the_mark_binds_tighter() -> None:
    names = STANDARD
    assert compile_condition("not 1 == 2", names).test(None)
    assert compile_condition("not not 1 == 1 and not 1 == 2", names).test(None)
    with pytest.raises(ConditionError):
        compile_condition("!1 == 2", names)
    assert compile_condition("true or true and false", names).test(None)
    assert not compile_condition("(true or true) and false", names).test(None)


def test_what_is_read_and_needed() -> None:
    condition = compile_condition(
        "agent.role == 'a' and (action.type == 'http' or action.type in ['command']) and "
        "event.args.mode == 'x'"
        " and event.result.deep.er == 1 and not has(event.args['list'].x) and task.id != 'y' and "
        "'b' == event.tool",
        STANDARD,
    )
    assert condition.reads == {
        "agent.role", "action.type", "event.args.mode", "event.result.deep.er", "event.args.list.x",
        "task.id", "event.tool",
    }  # fmt: skip
    assert condition.needs == {
        "agent.role": {"a"},
        "action.type": {"http", "command"},
        "event.args.mode": {"x"},
        "event.tool": {"b"},
    }


@pytest.mark.parametrize(
    "text",
    [
        "agent.role == 'a' or task.id == 'b'",
        "not (agent.role == 'a')",
        "agent.role != 'a'",
        "agent.role == 'a' ? true : false",
        "event.result.status == 'ok'",
        "agent.role == agent.id",
        "event.args.n == 9223372036854775807",
        "[agent.role].exists(r, r == 'a')",
    ],
)
def test_nothing_is_needed_where_nothing_is_certain(text: str) -> None:
    assert compile_condition(text, STANDARD).needs == {}


def test_contradictions_need_what_cannot_be() -> None:
    assert compile_condition("agent.role == 'a' and agent.role == 'b'", STANDARD).needs == {
        "agent.role": frozenset()
    }
