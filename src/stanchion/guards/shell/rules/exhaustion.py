"""Exhaustion: what would use a machine up, or end what runs on it."""

from __future__ import annotations

import itertools
from typing import Final

from stanchion.guards.shell.places import Roots
from stanchion.guards.shell.rule import Family, Rule
from stanchion.readings.shell.command import Command

SERVERS: Final = (
    "nginx* haproxy* traefik* apache2* httpd* caddy* envoy* postgres* mysql* mariadb* mongod* "
    "redis* rabbitmq* kafka* elasticsearch* docker* containerd* kubelet* ssh* sshd* networking* "
    "network* networkmanager* kong* vault* consul* etcd* prometheus* grafana* memcached* nats* "
    "firewalld* ufw* cron* crond*"
).replace(" ", "|")


def _all_processes(command: Command, _roots: Roots) -> bool:
    return any(word in ("-1", "1", "0") for word in command.operands) or (
        command.argv[-1:] == ("-1",) and len(command.argv) > 2
    )


def _broad(command: Command, _roots: Roots) -> bool:
    return any(len(word) < 3 or word in (".", ".*", "*") for word in command.operands) or (
        bool(command.flags & {"-u", "-U"}) and not command.operands
    )


def _without_end(command: Command, _roots: Roots) -> bool:
    return not command.known or not command.flags & {"-t", "--timeout"}


def _fills(command: Command, _roots: Roots) -> bool:
    """Whether a file is made of something without end, and nothing says how much of it."""
    words = command.argv[1:]
    endless = any(word in ("if=/dev/zero", "if=/dev/urandom", "if=/dev/random") for word in words)
    bounded = any(word.startswith(("count=", "of=/dev/")) for word in words)
    return endless and not bounded and any(word.startswith("of=") for word in words)


def _holds_lock(command: Command, _roots: Roots) -> bool:
    words = " ".join(command.argv[1:]).split()
    return any(
        word == "sleep"
        and after[:-1].isdigit()
        and (int(after.rstrip("smhd")) >= 600 or after[-1] in "hd")
        for word, after in itertools.pairwise(words)
        if after.rstrip("smhd").isdigit()
    )


FAMILY: Final = Family(
    "exhaustion",
    "others",
    (
        Rule("*", "starts itself again and again", marks="forks"),
        Rule("while", "starts endless loops in the background", marks="endless"),
        Rule("kill", "ends every process", check=_all_processes),
        Rule("pkill killall killall5", "ends every process that has nearly any name", check=_broad),
        Rule("killall5", "ends every process"),
        Rule("pkill killall", "stops a server", words=SERVERS, loss="changed"),
        Rule(
            "shutdown halt poweroff reboot",
            "stops the machine",
            lacks="-c|-w|--wtmp-only|-k",
            check=lambda c, _: "/a" not in c.argv,
        ),
        Rule("telinit", "stops the machine", words="0|6"),
        Rule(">", "stops the machine", check=lambda c, _: "/proc/sysrq-trigger" in c.writes),
        Rule("tee", "stops the machine", check=lambda c, _: "/proc/sysrq-trigger" in c.operands),
        Rule("stop-computer restart-computer", "stops the machine"),
        Rule("stop-process", "ends every process", check=lambda c, _: "every-process" in c.origin),
        Rule("init", "stops the machine", words="0|6"),
        Rule("systemctl", "stops the machine", words="halt|emergency|rescue"),
        Rule(
            "systemctl",
            "stops the machine",
            words="poweroff|reboot|kexec",
            check=lambda c, _: c.privileged,
        ),
        Rule("systemctl", "stops the machine", words="poweroff|reboot|kexec", strict=True),
        Rule(
            "systemctl", "stops a server", words=f"stop|disable|mask|kill {SERVERS}", loss="changed"
        ),
        Rule("service rc-service", "stops a server", words=f"{SERVERS} stop", loss="changed"),
        Rule("initctl stop", "stops a server", words=f"{SERVERS}", loss="changed"),
        Rule(
            "nginx",
            "stops a server",
            check=lambda c, _: c.argv[1:3] in (("-s", "stop"), ("-s", "quit")),
            loss="changed",
        ),
        Rule("haproxy", "stops a server", flags="-st|-sf", loss="changed"),
        Rule(
            "apachectl apache2ctl pg_ctl",
            "stops a server",
            words="stop|graceful-stop",
            loss="changed",
        ),
        Rule(
            "apachectl apache2ctl",
            "stops a server",
            check=lambda c, _: c.argv[1:3] == ("-k", "stop"),
            loss="changed",
        ),
        Rule("caddy traefik consul nomad", "stops a server", words="stop|leave", loss="changed"),
        Rule(
            "socat nc",
            "stops a server through its socket",
            check=lambda c, _: (
                c.given is not None
                and any(
                    w in c.given
                    for w in (
                        "shutdown ",
                        "disable server",
                        "disable frontend",
                        "del server",
                        "clear table",
                    )
                )
            ),
            loss="changed",
        ),
        Rule("stress stress-ng", "uses up the machine", check=_without_end, loss="changed"),
        Rule("flock", "keeps others waiting for a lock", check=_holds_lock, loss="changed"),
        Rule("iptables ip6tables", "takes the firewall down", flags="-F|--flush|-X"),
        Rule(
            "iptables ip6tables",
            "takes the firewall down",
            flags="-P|--policy",
            check=lambda c, _: "ACCEPT" in c.argv,
        ),
        Rule("ufw", "takes the firewall down", words="disable|reset"),
        Rule("nft", "takes the firewall down", words="flush ruleset"),
        Rule(
            "netsh",
            "takes the firewall down",
            check=lambda c, _: "off" in c.operands and "firewall" in " ".join(c.operands),
        ),
        Rule("pfctl", "takes the firewall down", flags="-d"),
        Rule("nmcli", "cuts the network", words="networking|n off", loss="changed"),
        Rule("ifdown", "cuts the network", flags="-a|--all", loss="changed"),
        Rule("rfkill", "cuts the network", words="block all", loss="changed"),
        Rule("route", "cuts the network", words="del|delete default", loss="changed"),
        Rule(
            "ip",
            "cuts the network",
            words="route del|delete|flush default|table|all",
            loss="changed",
        ),
        Rule("dd", "fills a disk", check=_fills, loss="unknown"),
        Rule("ifconfig", "cuts the network", words="* down", loss="changed"),
        Rule("ip", "cuts the network", words="link set * down", loss="changed"),
        Rule("swapoff", "uses up the machine", flags="-a|--all", loss="changed"),
        Rule("insmod", "changes the running kernel", loss="changed"),
        Rule("rmmod modprobe kexec", "changes the running kernel", strict=True, loss="changed"),
        Rule("sysctl", "changes the running kernel", flags="-w|--write", loss="changed"),
        Rule(
            "apt apt-get yum dnf zypper pacman",
            "removes parts of the system",
            words="remove|purge|autoremove|erase",
            check=lambda c, _: any(
                w.startswith(
                    (
                        "libc",
                        "linux-",
                        "systemd",
                        "bash",
                        "coreutils",
                        "sudo",
                        "openssh",
                        "python3",
                        "glibc",
                        "kernel",
                        "init",
                        "apt",
                        "dpkg",
                        "*",
                    )
                )
                for w in c.operands[1:]
            ),
        ),
        Rule(
            "dpkg rpm",
            "removes parts of the system",
            flags="--force-all|--force-remove-essential|--nodeps",
            loss="changed",
        ),
    ),
)

HITS: Final = (
    "nmcli networking off",
    "ifdown -a",
    "route del default",
    "dd if=/dev/zero of=/fill bs=1G",
    "while :; do sleep 9 & done",
    ":(){ :|:& };:",
    "f() { f | f & }; f",
    "kill -9 -1",
    "pkill -9 .",
    "shutdown -h now",
    "sudo reboot",
    "init 0",
    "echo c > /proc/sysrq-trigger",
    "systemctl stop nginx",
    "service postgresql stop",
    "iptables -F",
    "ufw disable",
    "nginx -s stop",
    "for i in 1 2 3; do (while true; do :; done) & done",
    "sudo systemctl poweroff",
    "apt-get purge libc6",
    "stress --cpu 9",
)
MISSES: Final = (
    "dd if=/dev/zero of=x.img bs=1M count=64",
    "nmcli networking on",
    "while :; do date; sleep 9; done",
    "shutdown /a",
    "reboot --wtmp-only",
    "telinit q",
    "shutdown -c",
    "kill 4242",
    "kill -9 4242",
    "pkill -f my_server.py",
    "grep shutdown log",
    "f() { echo f; }; f",
    "systemctl status nginx",
    "systemctl restart app",
    "iptables -L",
    "nginx -t",
    "echo reboot",
    "while true; do sleep 1; done",
    "ufw status",
    "apt-get remove cowsay",
    "man shutdown",
    "last reboot",
)
