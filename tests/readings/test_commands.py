"""Whatever a call is named and whatever shape its arguments have, a command in it is judged as
one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stanchion import Shield
from stanchion.kernel.names import names
from stanchion.readings.commands import USUAL, Held, Naming, held
from tests.readings.calls import COMMANDS, HONEST, NAMED, SHAPES, drawn

DRAWN = 1_500


def test_drawn_calls_that_destroy_are_refused() -> None:
    shield = Shield.load("default")
    calls = [drawn(seed, COMMANDS) for seed in range(DRAWN)]
    assert [call for call in calls if shield.run("ann").check(*call).proceeds] == []


def test_drawn_calls_of_everyday_work_go_ahead() -> None:
    shield = Shield.load("default")
    calls = [drawn(seed, HONEST) for seed in range(DRAWN)]
    assert [call for call in calls if not shield.run("ann").check(*call).proceeds] == []


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_seen_under_a_name_that_says_nothing(shape: str) -> None:
    run = Shield.load("default").run("ann")
    assert not run.check("helper", SHAPES[shape](NAMED[0], "rm -rf /")).proceeds


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("editor", {"command": "view", "path": "a.py"}),
        ("music", {"command": "play"}),
        ("power", {"command": "reboot"}),
        ("write_file", {"path": "a.json", "content": json.dumps({"command": "rm -rf /"})}),
        ("send_email", {"to": "bob", "body": "rm -rf /"}),
        ("search_commands", {"query": "rm -rf /"}),
        ("explain_code", {"code": "rm -rf /"}),
        ("verify_code", {"code": "123456"}),
        ("execute_sql_query", {"text": "shutdown"}),
        ("set_rules", {"denied_commands": ["rm -rf /"]}),
        ("create_node", {"name": "rm -rf /"}),
        ("python_docs_search", {"query": "shutil.rmtree('/')"}),
    ],
)
def test_what_runs_nothing_holds_nothing(tool: str, args: dict[str, Any]) -> None:
    assert held(tool, args, USUAL) == ()


@pytest.mark.parametrize(
    ("tool", "args", "text"),
    [
        (
            "python",
            {"code": "import os\nos.listdir()"},
            ("python3", "-c", "import os\nos.listdir()"),
        ),
        ("python_exec", {"code": "rm -rf build"}, "rm -rf build"),
        ("run_code", {"language": "javascript", "code": "1 + 1"}, ("node", "-e", "1 + 1")),
        ("run_code", {"language": "bash", "code": "ls"}, "ls"),
        ("jupyter", {"cell": "%%bash\nls -l"}, "ls -l"),
    ],
)
def test_code_is_read_as_what_it_is(
    tool: str, args: dict[str, Any], text: str | tuple[str, ...]
) -> None:
    assert [one.text for one in held(tool, args, USUAL)] == [text]


@pytest.mark.parametrize(
    ("tool", "args", "text"),
    [
        ("redis_eval", {"lua": "redis.call('FLUSHALL')"}, ("lua", "-e", "redis.call('FLUSHALL')")),
        ("helper", {"main_go": "os.RemoveAll(d)"}, ("yaegi", "-e", "os.RemoveAll(d)")),
        ("run_task", {"body": "<?php unlink($f);"}, ("php", "-r", "<?php unlink($f);")),
        ("start_job", {"step": "purge!(all);"}, ("kotlin", "-e", "purge!(all);")),
        ("remote_iex", {"expression": "A.drop(b)"}, ("elixir", "-e", "A.drop(b)")),
        ("jshell_run", {"lines": ["var a = b;", "a.c();"]}, ("jbang", "-c", "var a = b;\na.c();")),
    ],
)
def test_what_plainly_is_code_is_read(
    tool: str, args: dict[str, Any], text: tuple[str, ...]
) -> None:
    assert text in [one.text for one in held(tool, args, USUAL)]


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("create_task", {"body": "call purge(all)"}),
        ("run_report", {"note": "see the annex (page 3)"}),
        ("start_session", {"comment": "ask(me)"}),
        ("write_lua", {"path": "a.lua", "content": "os.execute('x')"}),
        ("start_agent", {"prompt": "mend shutil.rmtree('/') in a.py"}),
        ("Task", {"description": "find os.system('rm -rf /')"}),
        ("format_code", {"python": "os.system('rm -rf /')"}),
    ],
)
def test_code_that_is_kept_is_not_read(tool: str, args: dict[str, Any]) -> None:
    assert held(tool, args, USUAL) == ()


def test_lines_of_a_notebook_that_a_shell_runs_are_commands() -> None:
    found = held("ipython", {"code": "import os\n!rm -rf build\nos.listdir()"}, USUAL)
    assert [one.text for one in found] == [
        "rm -rf build",
        ("python3", "-c", "import os\npass\nos.listdir()"),
    ]


def test_a_command_says_where_it_stands() -> None:
    args = {"name": "a", "steps": [{"run": "ls -l"}, {"with": {"cmd": ["ls", "-l"]}}]}
    assert held("ci", args, USUAL) == (
        Held("ls -l", ("steps", 0, "run"), sure=False),
        Held(("ls", "-l"), ("steps", 1, "with", "cmd"), sure=False),
    )


def test_a_policy_that_names_tools_and_arguments_has_no_others_read() -> None:
    naming = Naming(names(["ops"]), ("line",))
    assert held("bash", {"command": "ls"}, naming) == ()
    assert held("ops", {"line": "ls", "command": "id"}, naming) == (Held("ls", ("line",)),)
    assert held("ops", {"said": "ls"}, naming) == (Held("ls", ("said",)),)


def test_arguments_that_never_end_are_followed_only_so_deep() -> None:
    args: dict[str, Any] = {"command": "ls -l"}
    for _ in range(10_000):
        args = {"params": args}
    assert held("helper", args, USUAL) == ()


def test_a_long_text_that_is_nearly_json_holds_nothing() -> None:
    text = '{"' + "cmd" * 20_000
    assert held("helper", {"note": text}, USUAL) == ()


def test_what_is_empty_is_no_command() -> None:
    assert held("bash", {"command": "", "note": None}, USUAL) == ()


def test_a_command_further_down_hides_no_text_above_it() -> None:
    found = held("bash", {"item": "rm -rf /etc", "more": {"code": "ls"}}, USUAL)
    assert [one.text for one in found] == ["rm -rf /etc", "ls"]


@pytest.mark.parametrize(
    ("tool", "args", "text"),
    [
        ("git", {"command": "status"}, "git status"),
        ("mcp__k8s__kubectl", {"args": "delete ns prod"}, "kubectl delete ns prod"),
        ("kubectlDelete", {"kind": "ns", "why": "rm -rf /"}, "kubectl delete ns --why"),
        ("run_helm_command", {"args": ["list", "-A"]}, "helm list -A"),
        ("terraform", {"action": "apply", "auto_approve": True}, "terraform apply --auto-approve"),
        ("aws", {"service": "s3api", "operation": "ls", "params": {"a": 1}}, "aws s3api ls --a=1"),
        ("kubectl_logs", {"follow": False, "tail": 5, "in": None}, "kubectl logs --tail=5"),
        ("launch", {"command": "rm", "argv": "-rf /"}, "rm -rf /"),
    ],
)
def test_a_call_of_words_and_options_is_one_command(
    tool: str, args: dict[str, Any], text: str
) -> None:
    assert text in [one.text for one in held(tool, args, USUAL)]


def test_the_server_of_a_tool_is_no_program() -> None:
    assert held("mcp__docker__search", {"query": "volume rm"}, USUAL) == ()


@pytest.mark.parametrize(
    ("text", "encoding"), [("cm0gLXJmIC8=", "base64"), ("726d202d7266202f", "hex")]
)
def test_an_encoded_script_is_read_as_what_it_is(text: str, encoding: str) -> None:
    run = Shield.load("default").run("ann")
    assert not run.check("job", {"script": text, "encoding": encoding}).proceeds
    assert run.check("job", {"script": "6c73", "encoding": "hex"}).proceeds
