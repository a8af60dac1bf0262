"""Code is followed through names of modules, arguments by name, and texts that stand together."""

from __future__ import annotations

import pytest

from stanchion.readings.programs import program_effects
from stanchion.readings.programs.reader import read_code
from stanchion.readings.programs.tokens import JAVASCRIPT, TYPED, R, Syntax


def test_a_module_is_known_under_any_name() -> None:
    code = 'const f=require("node:fs"),p=require("path");f.readFileSync(p.join("/etc", "shadow"))'
    assert program_effects("node", code).reads == ("/etc/shadow",)


@pytest.mark.parametrize(
    ("code", "syntax", "named"),
    [
        ("c.put({Acl: 'x', Keep: false, n: {a: 1}})", JAVASCRIPT, {"Acl": "x", "Keep": "False"}),
        ("dbWriteTable(c, t, overwrite = TRUE)", R, {"overwrite": "True"}),
        ('db.Put(ctx, &In{Size: 0, Name: &t, Kind: "p"})', TYPED, {"Size": "0", "Kind": "p"}),
    ],
)
def test_arguments_are_known_by_their_names(
    code: str, syntax: Syntax, named: dict[str, str]
) -> None:
    found = dict(read_code(code, syntax).calls[-1].named)
    assert {**found, **named} == found


@pytest.mark.parametrize(
    ("program", "code", "text"),
    [
        ("awk", '{ system("git push origin --delete " $1) }', "git push origin --delete $"),
        ("osascript", 'do shell script "rm -rf /x" with administrator privileges', "rm -rf /x"),
        ("osascript", "app.doShellScript('rm -rf /x')", "rm -rf /x"),
    ],
)
def test_a_text_that_code_runs(program: str, code: str, text: str) -> None:
    assert text in program_effects(program, code).texts


def test_what_is_sent_is_made_of_what_was_put_into_a_list() -> None:
    code = "a = []\nfor x in y:\n    a.append(open('/etc/shadow').read())\nrequests.post(u, data=a)"
    assert program_effects("python3", code).sends[0].files == ("/etc/shadow",)


def test_a_file_behind_its_mode_is_read() -> None:
    code = "open my $f, '<', '/etc/shadow'; my @r = <$f>;"
    assert program_effects("perl", code).reads == ("/etc/shadow",)
