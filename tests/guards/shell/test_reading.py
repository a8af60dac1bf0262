"""A text becomes the commands that a shell would run, word by word."""

from __future__ import annotations

import pytest

from stanchion.readings.shell import analyse
from stanchion.readings.shell.analysis import analysed

CASES: list[tuple[str, list[str]]] = [
    ("ls -la src", ["ls|-la|src"]),
    ("", []),
    ("   # only a comment", []),
    ("ls # and a comment", ["ls"]),
    ("echo a#b", ["echo|a#b"]),
    ("a; b && c || d & e", ["a", "b", "c", "d", "e"]),
    ("a | b |& c", ["a", "b", "c"]),
    ("a\nb\\\nc", ["a", "bc"]),
    ("echo 'a b' \"c d\" e\\ f", ["echo|a b|c d|e f"]),
    ("echo \"a'b\" 'c\"d'", ["echo|a'b|c\"d"]),
    ("r\\m -r''f \"/\"", ["rm|-rf|/"]),
    ("$'\\x72m' $'\\055rf' $'a\\tb'", ["rm|-rf|a\tb"]),
    ("rm${IFS}-rf${IFS}/", ["rm|-rf|/"]),
    ("A=rm; $A -rf /", ["rm|-rf|/"]),
    ("A='rm -rf'; $A /", ["rm|-rf|/"]),
    ("A='rm -rf'; \"$A\" /", ["rm -rf|/"]),
    ("A=r B=m; ${A}${B} x", ["rm|x"]),
    ("A=b; A+=c; echo $A", ["echo|bc"]),
    ("a=(x y z); echo ${a[1]} ${a[@]} ${#a[@]}", ["echo|y|x|y|z|3"]),
    ("echo $HOME ${UNSET:-d} ${UNSET}", ["echo|$HOME|d|$UNSET"]),
    (
        "a=abc; echo ${a^^} ${a:1} ${a:1:1} ${a#a} ${a%c} ${a/b/x} ${#a}",
        ["echo|ABC|bc|b|bc|ab|axc|3"],
    ),
    ("a=b; b=c; echo ${!a}", ["echo|c"]),
    ("echo $((2+3*4)) $((16#ff)) $[1<<4] $((2**10%7))", ["echo|14|255|16|2"]),
    ("echo {a,b}{1..2} x{,y}", ["echo|a1|a2|b1|b2|x|xy"]),
    ("echo {a} a{b", ["echo|{a}|a{b"]),
    ("echo *.py ?x [ab]", ["echo|*.py|?x|[ab]"]),
    ("(a; b) ; { c; }", ["a", "b", "c"]),
    ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
    ("for i in 1 2; do echo $i; done", ["echo|1", "echo|2"]),
    ("for ((i=0;i<2;i++)); do echo $i; done", ["echo|0", "echo|1"]),
    ("while a; do b; done", ["a", "b"]),
    ("case $1 in x) a;; *) b;; esac", ["b"]),
    ("case $X in x) a;; *) b;; esac", ["a", "b"]),
    ('f() { echo "$1"; }; f x', ["echo|x"]),
    ("function f { a; }", ["a"]),
    ("echo $(echo a b) `echo c`", ["echo|a|b", "echo|c", "echo|a|b|c"]),
    ('echo "$(echo a b)"', ["echo|a|b", "echo|a b"]),
    ("cat <<EOF\nrm -rf /\nEOF\nls", ["cat", "ls"]),
    ("cat <<-'E' | sh\n\tls $X\n\tE", ["cat", "sh", "ls|$X"]),
    ("cat <<< ls", ["cat"]),
    ("[[ a == b ]] && c; [[ a == a ]] && d", ["d"]),
    ("(( 1 > 2 )) && c", []),
    ("A=rm; [ -e x ] && A=ls; $A f", ["[|-e|x|]", "ls|f", "rm|f"]),
    ("time ls; ! ls", ["time|ls", "ls", "ls"]),
    ("echo 'clean -xf' | xargs git", ["echo|clean -xf", "xargs|git", "git|clean|-xf"]),
    ("/???/r? -rf /x", ["/bin/rm|-rf|/x"]),
    ("user@host$ ls", ["ls"]),
    ("2>&1 ls >out 3<>f", ["ls"]),
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[text for text, _ in CASES])
def test_commands_of_a_text(text: str, expected: list[str]) -> None:
    found = analysed(text)
    assert ["|".join(command.argv) for command in found.commands if command.argv] == expected
    assert not found.unclear


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("echo 'open", ["echo"]),
        ("ls | ", ["ls"]),
        ("ls )", ["ls"]),
        ("if a; then b", ["a", "b"]),
        ("<Tab>", []),
        ("rm x (y)", ["rm", "y"]),
        ("; ls", ["ls"]),
        ("echo $(ls", ["ls", "echo"]),
    ],
)
def test_a_broken_text_says_so_and_is_read_all_the_same(text: str, commands: list[str]) -> None:
    found = analysed(text)
    assert found.broken
    assert [command.argv[0] for command in found.commands if command.argv] == commands


def test_what_is_not_known_is_marked() -> None:
    (command,) = analyse("rm $X/y")
    assert command.argv == ("rm", "$X/y")
    assert not command.known
    (command,) = analyse("rm '$X/y'")
    assert command.known


@pytest.mark.parametrize(
    ("text", "reads", "writes", "deletes", "sends"),
    [
        ("cat a b", ["a", "b"], [], [], []),
        ("grep x a", ["a"], [], [], []),
        ("sort < a > b", ["a"], ["b"], [], []),
        ("cp a b c", ["a", "b"], ["c"], [], []),
        ("mv a b", ["a"], ["b"], ["a"], []),
        ("rm -rf a b", [], [], ["a", "b"], []),
        ("tee -a a", [], ["a"], [], []),
        ("sed -i s/x/y/ a", [], ["a"], [], []),
        ("dd if=a of=b", ["a"], ["b"], [], []),
        ("curl -d @a -o b h", ["a"], ["b"], [], ["h"]),
        ("wget -O b h", [], ["b"], [], ["h"]),
        ("scp a host:b", ["a"], [], [], ["host:b"]),
        ("find a -delete", ["a"], [], ["a"], []),
        ("tar czf a.tgz b", ["b"], ["a.tgz"], [], []),
        ("touch a; ls", [], ["a"], [], []),
    ],
)
def test_what_a_command_does_with_files_and_hosts(
    text: str, reads: list[str], writes: list[str], deletes: list[str], sends: list[str]
) -> None:
    command = analyse(text)[0]
    found = [list(each) for each in (command.reads, command.writes, command.deletes, command.sends)]
    assert found == [reads, writes, deletes, sends]


def test_the_same_text_is_analysed_once() -> None:
    assert analysed("ls -la | wc -l") is analysed("ls -la | wc -l")
