"""Privilege: rights that a run would give itself or the whole world."""

from __future__ import annotations

from typing import Final

from stanchion.guards.shell.places import Roots, place_of
from stanchion.guards.shell.rule import Family, Rule
from stanchion.readings.shell.command import Command

WIDE: Final = frozenset(
    {
        "777",
        "0777",
        "1777",
        "a+rwx",
        "a=rwx",
        "ugo+rwx",
        "ugo=rwx",
        "666",
        "0666",
        "+rwx",
        "o+w",
        "a+w",
        "o+rwx",
        "a+rw",
        "o=rwx",
    }
)


CAPABILITIES: Final = (
    "cap_setuid",
    "cap_setgid",
    "cap_sys_admin",
    "cap_dac_override",
    "cap_sys_ptrace",
    "cap_sys_module",
    "cap_setfcap",
    "all=",
)


def _wide(command: Command, _roots: Roots) -> bool:
    return bool(WIDE.intersection(command.operands[:1]))


def _setuid(command: Command, _roots: Roots) -> bool:
    mode = command.operands[0] if command.operands else ""
    if mode.isdigit():
        return len(mode) == 4 and mode[0] in "4267" and mode != "1777"
    return "+s" in mode or "=s" in mode or "u+xs" in mode


def _wide_recursive(command: Command, roots: Roots) -> bool:
    if not command.flags & {"-R", "--recursive"} and command.via[-1:] != ("find -exec",):
        return False
    return any(
        place_of(path, command.cwd, roots) in ("root", "home", "system", "core") for path in command.operands[1:]
    )


def _of_root(command: Command, roots: Roots) -> bool:
    return any(place_of(path, command.cwd, roots) == "root" for path in command.operands[1:])


def _is_root(command: Command, _roots: Roots) -> bool:
    return any(flag in ("-u", "--uid") and value == "0" for flag, value in command.sorted.values)


def _mounts_root(command: Command, _roots: Roots) -> bool:
    given = [v for f, v in command.sorted.values if f in ("-v", "--volume", "--mount")] + list(command.argv)
    return any(
        value.startswith(("/:", "-v/:", "/etc:", "/root:", "/var/run/docker.sock:", "/run/docker.sock:", "/proc:"))
        or "source=/," in value
        or "src=/," in value
        for value in given
    )


def _root_shell(command: Command, _roots: Roots) -> bool:
    args = [word for word in command.argv[1:] if word not in ("-", "root", "-u", "-E", "-H", "-n")]
    if command.name == "su":
        return (
            not args and command.argv[1:] in ((), ("-",), ("root",), ("-", "root"), ("-l",)) and command.given is None
        )
    return bool(args) and (
        (args[0] in ("-i", "-s", "--login", "--shell", "su", "-is") and len(args) == 1)
        or (len(args) == 1 and args[0] in ("bash", "sh", "zsh", "/bin/bash", "/bin/sh"))
    )


def _gives_admin(command: Command, _roots: Roots) -> bool:
    words = ",".join(command.argv[1:]).lower().split(",")
    return bool({"sudo", "wheel", "root", "admin", "docker", "adm", "administrators"}.intersection(words))


def _sudoers(command: Command, _roots: Roots) -> bool:
    targets = (*command.writes, *[path for op, path in command.opens if ">" in op])
    return any(
        "sudoers" in path
        or path in ("/etc/passwd", "/etc/shadow", "/etc/group", "/etc/ssh/sshd_config")
        or path.startswith("/etc/pam.d/")
        for path in targets
    )


FAMILY: Final = Family(
    "privilege",
    (
        Rule("chmod", "lets everybody change it", check=_wide, level="doubt"),
        Rule("chmod chown chgrp", "changes the rights of a whole system or home", check=_wide_recursive),
        Rule("chmod", "makes a program run with its owner's rights", check=_setuid),
        Rule(
            "setcap",
            "gives a program rights of the system's administrator",
            lacks="-r",
            check=lambda c, _: any(cap in w for w in c.operands for cap in CAPABILITIES),
        ),
        Rule(
            "chown",
            "gives a program to the administrator",
            words="root|root:root|0|0:0",
            check=lambda c, _: c.name == "chown" and any(p.endswith(("sh", "bash")) for p in c.operands[1:]),
            level="doubt",
        ),
        Rule("sudo doas su pkexec", "opens a shell of the administrator", check=_root_shell, level="doubt"),
        Rule("chmod chown", "changes the rights of the whole system", check=_of_root),
        Rule("chattr", "changes the rights of the whole system", flags="-R", check=_wide_recursive),
        Rule("useradd usermod", "makes a user an administrator", flags="-u|--uid", check=_is_root),
        Rule("passwd", "takes a password away", flags="-d|--delete", level="doubt"),
        Rule("visudo", "changes who may do what", lacks="-c|--check", level="danger"),
        Rule("usermod gpasswd adduser addgroup useradd net", "makes a user an administrator", check=_gives_admin),
        Rule("tee cp mv sed install dd ln truncate", "changes who may do what", check=_sudoers, hint="/etc"),
        Rule(">", "changes who may do what", check=_sudoers, hint="/etc"),
        Rule(
            "docker podman nerdctl",
            "starts a container with the rights of the host",
            words="run|create|exec",
            flags="--privileged",
        ),
        Rule("docker podman nerdctl", "gives a container the whole host", words="run|create", check=_mounts_root),
        Rule(
            "docker podman nerdctl",
            "gives a container the rights of the host",
            words="run|create",
            check=lambda c, _: any(
                w in ("--pid=host", "--cap-add=ALL", "--cap-add=SYS_ADMIN", "--userns=host") for w in c.argv
            ),
        ),
        Rule(
            "nsenter",
            "enters the host's first process",
            check=lambda c, _: "1" in c.argv and bool(c.flags & {"-t", "--target"}),
        ),
        Rule("setenforce", "turns the system's protection off", words="0|permissive"),
        Rule("csrutil spctl", "turns the system's protection off", words="disable"),
        Rule("spctl", "turns the system's protection off", flags="--master-disable|--global-disable"),
        Rule("aa-disable aa-teardown", "turns the system's protection off"),
        Rule(
            "setfacl",
            "lets everybody change it",
            check=lambda c, _: any(w.startswith(("o::rw", "o:rw", "other:rw")) for w in c.argv),
            level="doubt",
        ),
        Rule(
            "kubectl oc",
            "gives away the administrator's rights",
            words="create clusterrolebinding",
            check=lambda c, _: any("cluster-admin" in w for w in c.argv),
        ),
    ),
)

HITS: Final = (
    "chmod 777 app.sh",
    "chmod -R 777 /",
    "chmod u+s /bin/bash",
    "chmod 4755 tool",
    "chown -R nobody /etc",
    "sudo -i",
    "sudo su",
    "sudo bash",
    "usermod -aG sudo ada",
    "setcap cap_setuid+ep ./x",
    "docker run --privileged img",
    "docker run -v /:/host img sh",
    "echo 'ada ALL=(ALL) NOPASSWD:ALL' >> /etc/sudoers",
    "echo x | sudo tee -a /etc/sudoers.d/ada",
    "visudo",
    "setenforce 0",
    "find / -type f -exec chmod 666 {} +",
    "chmod a+rwx x",
    "chmod 000 /",
    "useradd -o -u 0 eve",
    "sed -i s/no/yes/ /etc/ssh/sshd_config",
)
MISSES: Final = (
    "chmod +x run.sh",
    "chmod 644 app.conf",
    "chmod 755 bin/tool",
    "sudo apt-get update",
    "chown ada app.log",
    "sudo ls",
    "docker run -v ./data:/data img",
    "chmod -R u+rw src",
    "setfacl -m u:ada:r file",
    "visudo -c",
    "su ada -c 'ls'",
    "grep sudo /etc/group",
    "sudo -l",
)
