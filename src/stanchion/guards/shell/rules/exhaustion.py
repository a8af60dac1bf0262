"""Exhaustion: what would use a machine up, or end what runs on it."""

from __future__ import annotations

import itertools
from typing import Final

from stanchion.guards.shell.places import Roots
from stanchion.guards.shell.rule import Family, Rule
from stanchion.readings.shell.command import Command

SERVERS: Final = (
    "nginx* haproxy* traefik* apache2* httpd* caddy* envoy* postgres* mysql* mariadb* mongod* redis* rabbitmq* kafka* "
    "elasticsearch* docker* containerd* kubelet* ssh* sshd* networking* network* networkmanager* kong* "
    "vault* consul* etcd* "
    "prometheus* grafana* memcached* nats* firewalld* ufw* cron* crond*"
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


def _holds_lock(command: Command, _roots: Roots) -> bool:
    words = " ".join(command.argv[1:]).split()
    return any(
        word == "sleep" and after[:-1].isdigit() and (int(after.rstrip("smhd")) >= 600 or after[-1] in "hd")
        for word, after in itertools.pairwise(words)
        if after.rstrip("smhd").isdigit()
    )


FAMILY: Final = Family(
    "exhaustion",
    (
        Rule("*", "starts itself again and again", marks="forks"),
        Rule("while", "starts endless loops in the background", marks="endless"),
        Rule("kill", "ends every process", check=_all_processes),
        Rule("pkill killall killall5", "ends every process that has nearly any name", check=_broad),
        Rule("killall5", "ends every process"),
        Rule("pkill killall", "stops a server", words=SERVERS, level="doubt"),
        Rule("shutdown halt poweroff reboot telinit", "stops the machine", lacks="-c"),
        Rule(">", "stops the machine", check=lambda c, _: "/proc/sysrq-trigger" in c.writes),
        Rule("tee", "stops the machine", check=lambda c, _: "/proc/sysrq-trigger" in c.operands),
        Rule("init", "stops the machine", words="0|6"),
        Rule("systemctl", "stops the machine", words="halt|emergency|rescue"),
        Rule("systemctl", "stops the machine", words="poweroff|reboot|kexec", check=lambda c, _: c.privileged),
        Rule("systemctl", "stops the machine", words="poweroff|reboot|kexec", strict=True),
        Rule("systemctl", "stops a server", words=f"stop|disable|mask|kill {SERVERS}", level="doubt"),
        Rule("service rc-service", "stops a server", words=f"{SERVERS} stop", level="doubt"),
        Rule("initctl stop", "stops a server", words=f"{SERVERS}", level="doubt"),
        Rule(
            "nginx", "stops a server", check=lambda c, _: c.argv[1:3] in (("-s", "stop"), ("-s", "quit")), level="doubt"
        ),
        Rule("haproxy", "stops a server", flags="-st|-sf", level="doubt"),
        Rule("apachectl apache2ctl pg_ctl", "stops a server", words="stop|graceful-stop", level="doubt"),
        Rule("apachectl apache2ctl", "stops a server", check=lambda c, _: c.argv[1:3] == ("-k", "stop"), level="doubt"),
        Rule("caddy traefik consul nomad", "stops a server", words="stop|leave", level="doubt"),
        Rule(
            "socat nc",
            "stops a server through its socket",
            check=lambda c, _: (
                c.given is not None
                and any(
                    w in c.given
                    for w in ("shutdown ", "disable server", "disable frontend", "del server", "clear table")
                )
            ),
            level="doubt",
        ),
        Rule("stress stress-ng", "uses up the machine", check=_without_end, level="doubt"),
        Rule("flock", "keeps others waiting for a lock", check=_holds_lock, level="doubt"),
        Rule("iptables ip6tables", "takes the firewall down", flags="-F|--flush|-X"),
        Rule(
            "iptables ip6tables", "takes the firewall down", flags="-P|--policy", check=lambda c, _: "ACCEPT" in c.argv
        ),
        Rule("ufw", "takes the firewall down", words="disable|reset"),
        Rule("nft", "takes the firewall down", words="flush ruleset"),
        Rule(
            "netsh",
            "takes the firewall down",
            check=lambda c, _: "off" in c.operands and "firewall" in " ".join(c.operands),
        ),
        Rule("pfctl", "takes the firewall down", flags="-d"),
        Rule("ifconfig", "cuts the network", words="* down", level="doubt"),
        Rule("ip", "cuts the network", words="link set * down", level="doubt"),
        Rule("swapoff", "uses up the machine", flags="-a|--all", level="doubt"),
        Rule("insmod", "changes the running kernel", level="doubt"),
        Rule("rmmod modprobe kexec", "changes the running kernel", strict=True, level="doubt"),
        Rule("sysctl", "changes the running kernel", flags="-w|--write", level="doubt"),
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
            level="doubt",
        ),
    ),
)

HITS: Final = (
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
