"""Privilege: rights that a run would give itself or the whole world."""

from __future__ import annotations

from typing import Final

from stanchion.guards.shell.places import Roots, place_of
from stanchion.guards.shell.rule import Family, Rule
from stanchion.kernel.regex import regex
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


AS_HOST: Final = (
    '"privileged":true', '"hostpid":true', '"hostnetwork":true', '"hostpath":{"path":"/"', "src=/,",
    "source=/,", "security.privileged=true",
)  # fmt: skip
"""How a container is asked for that has the rights of its host."""
KERNEL_RUNS: Final = (
    "/kernel/core_pattern", "/release_agent", "/kernel/modprobe", "/uevent_helper",
    "/kernel/hotplug", "/binfmt_misc/register", "/notify_on_release",
)  # fmt: skip
"""Files in which the kernel is told what to run."""
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
        place_of(path, command.cwd, roots) in ("root", "home", "system", "core")
        for path in command.operands[1:]
    )


def _of_root(command: Command, roots: Roots) -> bool:
    return any(place_of(path, command.cwd, roots) == "root" for path in command.operands[1:])


def _is_root(command: Command, _roots: Roots) -> bool:
    return any(flag in ("-u", "--uid") and value == "0" for flag, value in command.sorted.values)


def _mounts_root(command: Command, _roots: Roots) -> bool:
    given = [v for f, v in command.sorted.values if f in ("-v", "--volume", "--mount")] + list(
        command.argv
    )
    return any(
        value.startswith(
            (
                "/:",
                "-v/:",
                "/etc:",
                "/root:",
                "/var/run/docker.sock:",
                "/run/docker.sock:",
                "/proc:",
            )
        )
        or "source=/," in value
        or "src=/," in value
        for value in given
    )


def _root_shell(command: Command, _roots: Roots) -> bool:
    args = [word for word in command.argv[1:] if word not in ("-", "root", "-u", "-E", "-H", "-n")]
    if command.name == "su":
        return (
            not args
            and command.argv[1:] in ((), ("-",), ("root",), ("-", "root"), ("-l",))
            and command.given is None
        )
    return bool(args) and (
        (args[0] in ("-i", "-s", "--login", "--shell", "su", "-is") and len(args) == 1)
        or (len(args) == 1 and args[0] in ("bash", "sh", "zsh", "/bin/bash", "/bin/sh"))
    )


def _gives_admin(command: Command, _roots: Roots) -> bool:
    words = ",".join(command.argv[1:]).lower().split(",")
    return bool(
        {"sudo", "wheel", "root", "admin", "docker", "adm", "administrators"}.intersection(words)
    )


def _kernel_runs(command: Command, _roots: Roots) -> bool:
    """Whether a file is written that tells the kernel which program to run."""
    targets = (*command.writes, *[path for op, path in command.opens if ">" in op])
    return any(path.endswith(KERNEL_RUNS) for path in targets)


def _as_host(command: Command, _roots: Roots) -> bool:
    text = "".join(command.line.lower().split())
    return any(mark in text for mark in AS_HOST) or any(
        word in ("src=/", "source=/") for word in command.argv
    )


def _mounts_kernel(command: Command, _roots: Roots) -> bool:
    return "cgroup" in command.argv or (
        "--bind" in command.flags and command.operands[:1] == ("/",)
    )


def _leaves(command: Command, _roots: Roots) -> bool:
    return any("/proc/1/root" in word for word in command.argv)


def _past_rights(command: Command, _roots: Roots) -> bool:
    return "/dev/" in command.line and (
        command.given is not None or bool(command.flags & {"-R", "-f"})
    )


def _over_socket(command: Command, _roots: Roots) -> bool:
    given = dict(command.sorted.values)
    sends = (
        bool(command.flags & {"-d", "--data", "--json", "-T", "--data-binary"})
        or given.get("-X") == "POST"
    )
    return sends and given.get("--unix-socket", "").endswith(
        ("docker.sock", "podman.sock", "containerd.sock")
    )


def _unprotects(command: Command, _roots: Roots) -> bool:
    verb, _, noun = command.name.partition("-")
    words = [word.lower() for word in command.argv[1:]]
    if noun == "mppreference":
        return any(word.startswith(("-disable", "-exclusion", "-controlled")) for word in words)
    guards = ("windefend", "mpssvc", "sense", "eventlog", "wscsvc")
    if noun == "service":
        return verb in ("stop", "set", "remove", "suspend") and any(
            word in guards for word in words
        )
    return noun.startswith("netfirewall") and (
        verb in ("disable", "remove") or "false" in " ".join(words)
    )


def _open_server(command: Command, _roots: Roots) -> bool:
    """Whether a server listens to everybody and asks for no password, whatever its options are
    called."""
    everywhere = any(_EVERYWHERE.search(word) for word in command.argv[1:])
    return everywhere and _NO_PASSWORD.search(" ".join([*command.argv[1:], ""])) is not None


def _lets_everybody(command: Command, _roots: Roots) -> bool:
    """Whether a line is written by which a database trusts every host."""
    texts = (*command.argv[1:], command.given if command.given is not None else "")
    writes = command.name in ("tee", "sed") or any(">" in op for op, _ in command.opens)
    return writes and any(_TRUSTS.search(text) for text in texts)


def _sudoers(command: Command, _roots: Roots) -> bool:
    targets = (*command.writes, *[path for op, path in command.opens if ">" in op])
    return any(
        "sudoers" in path
        or path in ("/etc/passwd", "/etc/shadow", "/etc/group", "/etc/ssh/sshd_config")
        or path.startswith(
            ("/etc/pam.d/", "/etc/security/", "/etc/polkit-1/", "/etc/ssh/sshd_config.d/")
        )
        or path.endswith(("/pg_hba.conf", "/doas.conf"))
        for path in targets
    )


_EVERYWHERE: Final = regex(r"(?:^|[=:/@\s])(?:0\.0\.0\.0|\[::\]|\*)(?::\d+)?$|bind_ip_all$")
_NO_PASSWORD: Final = regex(
    r"(?i)--?[\w.-]*(?:token|password|passwd|auth|credential)[\w.-]*(?:=(?:none|off|false|no|"
    r"disabled|''|\"\")?\s|\s(?:none|off|no)\s)"
    r"|--?no-?auth\w*\s|--(?:without|disable|skip)-(?:auth|password|grant)[\w-]*\s|"
    r"--protected-mode\s+no\s"
)
"""Options by which a server asks nobody who he is: those of passwords with nothing, and those that
say so."""
_TRUSTS: Final = regex(r"\bhost\w*\s+\S+\s+\S+\s+(?:0\.0\.0\.0/0|::0?/0)\s+trust\b")

FAMILY: Final = Family(
    "privilege",
    "control",
    (
        Rule("chmod", "lets everybody change it", check=_wide, loss="changed"),
        Rule(
            "chmod chown chgrp",
            "changes the rights of a whole system or home",
            check=_wide_recursive,
        ),
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
            check=lambda c, _: (
                c.name == "chown" and any(p.endswith(("sh", "bash")) for p in c.operands[1:])
            ),
            loss="changed",
        ),
        Rule(
            "sudo doas su pkexec",
            "opens a shell of the administrator",
            check=_root_shell,
            loss="changed",
        ),
        Rule("chmod chown", "changes the rights of the whole system", check=_of_root),
        Rule("chattr", "changes the rights of the whole system", flags="-R", check=_wide_recursive),
        Rule("useradd usermod", "makes a user an administrator", flags="-u|--uid", check=_is_root),
        Rule("passwd", "takes a password away", flags="-d|--delete", loss="changed"),
        Rule("visudo", "changes who may do what", lacks="-c|--check"),
        Rule(
            "usermod gpasswd adduser addgroup useradd net",
            "makes a user an administrator",
            check=_gives_admin,
        ),
        Rule(
            "%",
            "lets everybody use a server without a password",
            check=_open_server,
            hint="0.0.0.0",
            loss="unknown",
        ),
        Rule(
            "%",
            "lets everybody use a server without a password",
            check=_open_server,
            hint="_all",
            loss="unknown",
        ),
        Rule(
            "tee sed echo printf cat",
            "lets everybody in without a password",
            check=_lets_everybody,
            hint="0/0",
        ),
        Rule(
            "tee cp mv sed install dd ln truncate",
            "changes who may do what",
            check=_sudoers,
            hint="/etc",
        ),
        Rule(">", "changes who may do what", check=_sudoers, hint="/etc"),
        Rule("tee cp dd", "lets the kernel run a program", check=_kernel_runs, hint="/"),
        Rule(">", "lets the kernel run a program", check=_kernel_runs, hint="/"),
        Rule("debugfs", "writes on a disk past all rights", flags="-w", check=_past_rights),
        Rule("curl", "gives a container the whole host", flags="--unix-socket", check=_over_socket),
        Rule(
            "docker podman nerdctl",
            "starts a container with the rights of the host",
            words="run|create|exec",
            flags="--privileged",
        ),
        Rule(
            "docker podman nerdctl",
            "gives a container the whole host",
            words="run|create",
            check=_mounts_root,
        ),
        Rule(
            "kubectl oc ctr nerdctl lxc incus crictl docker podman",
            "gives a container the rights of the host",
            check=_as_host,
        ),
        Rule(
            "kubectl oc",
            "enters a machine of the cluster",
            words="debug node/*",
            loss="unknown",
            strict=True,
        ),
        Rule("mount", "takes hold of the kernel's own files", check=_mounts_kernel, loss="unknown"),
        Rule(
            "cat ls cp mv chroot find head tail tee ln",
            "leaves its container",
            check=_leaves,
            hint="/proc/1/root",
        ),
        Rule(
            "gdb strace", "takes over the first process", check=lambda c, _: "-p 1 " in f"{c.line} "
        ),
        Rule(
            "docker podman nerdctl",
            "gives a container the rights of the host",
            words="run|create",
            check=lambda c, _: any(
                w in ("--pid=host", "--cap-add=ALL", "--cap-add=SYS_ADMIN", "--userns=host")
                for w in c.argv
            ),
        ),
        Rule(
            "nsenter",
            "enters the host's first process",
            check=lambda c, _: "1" in c.argv and bool(c.flags & {"-t", "--target"}),
        ),
        Rule("setenforce", "turns the system's protection off", words="0|permissive"),
        Rule("*", "turns the system's protection off", marks="cmdlet", check=_unprotects),
        Rule(
            "set-executionpolicy",
            "turns the system's protection off",
            check=lambda c, _: (
                any(w.lower() in ("unrestricted", "bypass") for w in c.operands)
                and not any(w.lower() == "process" for w in c.operands)
            ),
            loss="changed",
        ),
        Rule(
            "bcdedit",
            "changes how the machine starts",
            flags="/set|/delete|/deletevalue|/import",
            loss="changed",
        ),
        Rule("csrutil spctl", "turns the system's protection off", words="disable"),
        Rule(
            "spctl", "turns the system's protection off", flags="--master-disable|--global-disable"
        ),
        Rule("aa-disable aa-teardown", "turns the system's protection off"),
        Rule(
            "setfacl",
            "lets everybody change it",
            check=lambda c, _: any(w.startswith(("o::rw", "o:rw", "other:rw")) for w in c.argv),
            loss="changed",
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
    'kubectl run x --image=a --overrides=\'{"spec": {"hostPID": true}}\'',
    "ctr run --mount type=bind,src=/,dst=/h a b",
    "lxc config device add c h disk source=/ path=/h",
    "cat /proc/1/root/etc/hostname",
    "mount -t cgroup -o rdma c /tmp/c",
    "echo '|/tmp/x %p' > /proc/sys/kernel/core_pattern",
    "echo /tmp/x | tee /sys/fs/cgroup/rdma/release_agent",
    "debugfs -w /dev/sda1 -R 'rm /etc/shadow'",
    "curl --unix-socket /var/run/docker.sock -d '{}' http://d/containers/create",
    "sed -i 's/md5/trust/' /etc/postgresql/16/main/pg_hba.conf",
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
    "jupyter lab --ip=0.0.0.0 --ServerApp.token='' --allow-root",
    "code-server --auth none --bind-addr 0.0.0.0:8080",
    "mongod --noauth --bind_ip_all",
    "redis-server --protected-mode no --bind 0.0.0.0",
    "mysqld --skip-grant-tables --bind-address=0.0.0.0",
    "sed -i '1i host all all 0.0.0.0/0 trust' \"$H\"",
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
    "uvicorn app:app --host 0.0.0.0 --port 8000",
    "jupyter lab --ip=127.0.0.1 --ServerApp.token=''",
    "docker run -p 0.0.0.0:8080:80 nginx",
    "docker run --mount type=bind,src=/workspace/a,dst=/a img",
    "kubectl run x --image=a",
    "cat /proc/1/status",
    "cat /proc/sys/kernel/core_pattern",
    "debugfs -w /dev/sda1",
    "curl --unix-socket /var/run/docker.sock http://d/containers/json",
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
