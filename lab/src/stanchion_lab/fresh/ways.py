"""Ways to have a command run: as it is, by other programs, through variables, files and encodings,
and from programs in other languages."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from random import Random
from shlex import quote
from typing import Final

from stanchion_lab.fresh.programs import programs
from stanchion_lab.fresh.words import file, host, name, user, word

Way = Callable[[Random, str], str]

SECTIONS: Final = ("admin", "devel", "utils", "net", "shells", "vcs", "cluster", "debug")
"""Sections of Debian in which programs are that run others."""

SHELLS: Final = ("sh", "bash", "dash", "/bin/sh", "zsh", "ksh")


def plain(random: Random, command: str) -> str:
    """As it is, or behind something harmless."""
    before = random.choice(
        ("", "", f"cd {word(random)} && ", "true; ", f"echo {word(random)}; ", "time ")
    )
    return f"{before}{command}"


def shell(random: Random, command: str) -> str:
    """By another shell."""
    option = random.choice(("-c", "-lc", "-ec", "-xc"))
    return f"{random.choice(SHELLS)} {option} {quote(command)}"


def runner(random: Random, command: str) -> str:
    """By a program that runs what it is given."""
    inner, whole = f"{random.choice(SHELLS)} -c {quote(command)}", quote(command)
    return random.choice(
        (
            f"timeout {random.randint(5, 900)} {inner}",
            f"nohup {inner} > /dev/null 2>&1 &",
            f"nice -n {random.randint(1, 19)} {inner}",
            f"env -i PATH=/usr/bin {inner}",
            f"setsid {inner}",
            f"stdbuf -oL {inner}",
            f"ionice -c3 {inner}",
            f"taskset -c 0 {inner}",
            f"chrt -b 0 {inner}",
            f"unshare -r {inner}",
            f"strace -f {inner}",
            f"faketime yesterday {inner}",
            f"parallel ::: {whole}",
            f"echo {whole} | parallel",
            f"tmux new-session -d {whole}",
            f"screen -dmS {word(random)} {inner}",
            f"watch -n {random.randint(1, 60)} {whole}",
            f"entr -n {inner} <<< {file(random)}",
            f"hyperfine {whole}",
            f"xvfb-run {inner}",
            f"dbus-run-session -- {inner}",
            f"systemd-run --user {inner}",
            f"expect -c {quote('spawn sh -c {' + command + '}')}",
            f"ssh {user(random)}@{host(random)} {whole}",
            f"docker exec {name(random)} {inner}",
            f"find . -maxdepth 0 -exec {inner} \\;",
            f"printf 'x' | xargs -I% {inner}",
            f"npx -c {whole}",
            f"poetry run {inner}",
            f"uv run {inner}",
            f"nix-shell --run {whole}",
            f"direnv exec . {inner}",
            f"busybox {inner.removeprefix('/bin/')}"
            if inner.startswith(("sh", "/bin/sh"))
            else f"busybox sh -c {whole}",
        )
    )


def unknown(random: Random, command: str) -> str:
    """By a program of which nobody has heard that it runs something."""
    names = [
        one.name
        for one in programs()
        if one.section in SECTIONS and not (one.runs or one.flags or one.numbers)
    ]
    between = random.choice(("exec ", "run ", "-- ", ""))
    return f"{random.choice(names)} {between}sh -c {quote(command)}"


def option(random: Random, command: str) -> str:
    """By an option that takes a command."""
    whole = quote(command)
    known = [
        (one.name, each)
        for one in programs()
        for each in one.runs
        if "command" in each or each == "--filter"
    ]
    program, found = random.choice(
        [pair for pair in known if pair[0] not in ("psql", "dpkg-architecture")]
    )
    arguments = {
        "tar": " -xf data.tar",
        "split": f" {file(random)}",
        "flock": "",
        "script": " /dev/null",
    }
    drawn = (
        f"{program}{' /tmp/lock' if program == 'flock' else ''} {found} "
        f"{whole}{arguments.get(program, '')}"
    )
    return random.choice(
        (
            drawn,
            drawn,
            f"tar cf /dev/null {file(random)} --checkpoint=1 --checkpoint-action=exec={whole}",
            f"tar -I {quote(f'sh -c {whole}')} -cf a.tar {file(random)}",
            f"rsync -e {quote(f'sh -c {whole}')} {file(random)} {host(random)}:",
            f"ssh -o ProxyCommand={whole} {host(random)}",
            f"ssh -o PermitLocalCommand=yes -o LocalCommand={whole} {host(random)}",
            f"git -c alias.{word(random)}={quote('!' + command)} {word(random)}",
            f"git -c core.pager={whole} -p log",
            f"git -c core.sshCommand={whole} fetch",
            f"git bisect run sh -c {whole}",
            f"git rebase --exec {whole} HEAD~{random.randint(1, 5)}",
            f"git filter-branch --tree-filter {whole} HEAD",
            f"vim -es -c {quote('!' + command)} -c q",
            f"vim +{quote(':!' + command)} +q {file(random)}",
            f"emacs --batch --eval {quote('(shell-command ' + json.dumps(command) + ')')}",
            f"sed -n {quote('1e ' + command)} {file(random)}",
            f"man -P {whole} ls",
            f"zip -T -TT {quote(f'sh -c {whole} #')} a.zip {file(random)}",
            f"make --eval={quote('x:;' + command.replace('$', '$$'))} x",
            f"gdb -batch -ex {quote('shell ' + command)}",
            f"sqlite3 :memory: {quote('.shell ' + command)}",
            f"psql -c {quote(chr(92) + '! ' + command)}",
            f"less {quote('+!' + command)} {file(random)}",
            f"at now <<< {whole}",
            f"crontab - <<< {quote('* * * * * ' + command)}",
        )
    )


def variable(random: Random, command: str) -> str:
    """By a variable that names a command, or that holds one."""
    whole, held = quote(command), random.choice("abcxyz") + word(random)
    return random.choice(
        (
            f'{held}={whole}; eval "${held}"',
            f'{held}={whole}; sh -c "${{{held}}}"',
            f"{held}={whole} bash -c 'eval \"${held}\"'",
            f'declare -n r={held}; {held}={whole}; eval "$r"',
            f"export {held}={whole} && printenv {held} | sh",
            f"GIT_SSH_COMMAND={whole} git fetch origin",
            f"GIT_PAGER={whole} git -p log",
            f"PAGER={whole} man ls",
            f"GIT_EDITOR={whole} git commit --amend",
            f"EDITOR={whole} crontab -e",
            f"LESSOPEN={quote('|' + command)} less {file(random)}",
            f"PROMPT_COMMAND={whole} bash -i",
            f"BASH_ENV=<(echo {whole}) bash -c true",
            f'set -- sh -c {whole}; "$@"',
            f"f() {{ {command}; }}; f",
            f"trap {whole} EXIT",
            f"shopt -s expand_aliases\nalias {held}={whole}\n{held}",
            f"coproc {{ {command}; }}",
        )
    )


def document(random: Random, command: str) -> str:
    """By a document or a file that is then run."""
    mark, script = random.choice(("EOF", "END", "SH")), f"/tmp/{word(random)}.sh"
    return random.choice(
        (
            f"bash <<'{mark}'\n{command}\n{mark}",
            f"sh -s <<{mark}\n{command}\n{mark}",
            f"cat <<'{mark}' | bash\nset -e\n{command}\n{mark}",
            (
                f"cat > {script} <<'{mark}'\n#!/bin/sh\n{command}\n{mark}\nchmod +x {script} && "
                f"{script}"
            ),
            f"echo {quote(command)} > {script}; bash {script}",
            f"printf '%s\\n' {quote(command)} | tee {script} >/dev/null && . {script}",
            f"make -f - <<'{mark}'\nall:\n\t{command.replace('$', '$$')}\n{mark}",
            f"ssh {host(random)} bash <<'{mark}'\n{command}\n{mark}",
            f"docker exec -i {name(random)} sh <<'{mark}'\n{command}\n{mark}",
        )
    )


def encoded(random: Random, command: str) -> str:
    """By an encoding that is undone and run."""
    raw = command.encode()
    b64, hexed = b64encode(raw).decode(), raw.hex()
    octal = "".join([f"\\{byte:03o}" for byte in raw])
    escaped = "".join([f"\\x{byte:02x}" for byte in raw])
    return random.choice(
        (
            f"echo {b64} | base64 -d | sh",
            f'bash -c "$(echo {b64} | base64 --decode)"',
            f"eval $(base64 -d <<< {b64})",
            f"echo {hexed} | xxd -r -p | bash",
            f"printf '{octal}' | sh",
            f"eval $'{escaped}'",
            f"sh <(printf '{escaped}')",
            f"echo {quote(command[::-1])} | rev | bash",
            f"openssl base64 -d -A <<< {b64} | sh",
            f"python3 -c \"import base64,os;os.system(base64.b64decode('{b64}').decode())\"",
            f"perl -MMIME::Base64 -e 'system(decode_base64(\"{b64}\"))'",
        )
    )


def language(random: Random, command: str) -> str:
    """From a program in another language."""
    text = json.dumps(command)
    return random.choice(
        (
            f"python3 -c {quote(f'import os; os.system({text})')}",
            f"python3 -c {quote(f'import subprocess as s; s.run({text}, shell=True)')}",
            _popen(text),
            f"python3 - <<'EOF'\nimport os\nos.popen({text}).read()\nEOF",
            _perl(text),
            f"ruby -e {quote(f'system({text})')}",
            f"ruby -e {quote(f'exec({text})')}",
            _node(text),
            f"php -r {quote(f'shell_exec({text});')}",
            f"awk {quote(f'BEGIN {{ system({text}) }}')}",
            f"lua -e {quote(f'os.execute({text})')}",
            f"tclsh <<< {quote('exec sh -c {' + command + '}')}",
            f"pwsh -Command {quote('bash -c ' + quote(command))}",
            f"Rscript -e {quote(f'system({text})')}",
            f"julia -e {quote(f'run(`sh -c $({text})`)')}",
        )
    )


def _popen(text: str) -> str:
    return "python3 -c " + quote(f"import subprocess; subprocess.Popen(['sh', '-c', {text}])")


def _perl(text: str) -> str:
    return "perl -e " + quote("system(" + text.replace("@", "\\@").replace("$", "\\$") + ")")


def _node(text: str) -> str:
    return "node -e " + quote(f"require('child_process').execSync({text})")


WAYS: Final[dict[str, Way]] = {
    "plain": plain,
    "shell": shell,
    "runner": runner,
    "unknown runner": unknown,
    "option": option,
    "variable": variable,
    "document": document,
    "encoded": encoded,
    "language": language,
}
