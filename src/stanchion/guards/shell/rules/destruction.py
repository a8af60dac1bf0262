"""Destruction: files, disks and whole systems that would be lost."""

from __future__ import annotations

from typing import Final

from stanchion.guards.shell.places import DISKS, Roots, place_of
from stanchion.guards.shell.rule import Family, Rule
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.effects import find_roots
from stanchion.readings.shell.opening import origin_of

LOST: Final = frozenset({"root", "home", "system", "core", "disk"})
RECURSIVE: Final = frozenset({"-r", "-R", "--recursive", "-rf", "-Rf", "/s", "-recurse", "-Recurse"})


def _places(command: Command, roots: Roots, paths: tuple[str, ...] | list[str]) -> set[str]:
    return {place_of(path, command.cwd, roots) for path in paths}


def _deletes_lost(command: Command, roots: Roots) -> bool:
    places = _places(command, roots, command.operands)
    if command.flags & RECURSIVE:
        return bool(places & LOST)
    return bool(places & {"root", "core", "disk"})


def _deletes_outside(command: Command, roots: Roots) -> bool:
    return bool(command.flags & RECURSIVE) and bool(_places(command, roots, command.operands) & {"outside", "open"})


def _deletes_all(command: Command, roots: Roots) -> bool:
    return bool(command.flags & RECURSIVE) and "all" in _places(command, roots, command.operands)


def _deletes_listed(command: Command, _roots: Roots) -> bool:
    return bool(command.flags & RECURSIVE) and (not command.operands or "$(…)" in command.operands)


def _deletes_found(command: Command, roots: Roots) -> bool:
    """Whether what is deleted was listed in a folder of the system or a home."""
    listed = [each[1:] for word in command.operands for each in origin_of(word) if each.startswith("<")]
    return bool(_places(command, roots, listed) & {"root", "home", "core", "system"})


def _found_recursively(command: Command, _roots: Roots) -> bool:
    return bool(command.flags & RECURSIVE) and "find -exec" in command.via


def _deletes_git(command: Command, _roots: Roots) -> bool:
    return any(path.rstrip("/").rpartition("/")[2] == ".git" for path in command.operands)


def _moves_lost(command: Command, roots: Roots) -> bool:
    sources = command.deletes
    return bool(_places(command, roots, sources) & {"root", "home", "core", "disk"}) or "/dev/null" in command.writes


def _find_lost(command: Command, roots: Roots) -> bool:
    return "-delete" in command.argv and bool(_places(command, roots, find_roots(command.argv)) & LOST)


def _find_here(command: Command, roots: Roots) -> bool:
    unfiltered = not any(
        word in ("-name", "-iname", "-path", "-regex", "-empty", "-newer", "-mtime", "-mmin", "-size", "-user")
        for word in command.argv
    )
    places = _places(command, roots, find_roots(command.argv))
    return "-delete" in command.argv and (bool(places & {"outside", "open"}) or ("all" in places and unfiltered))


def _onto_disk(command: Command, _roots: Roots) -> bool:
    named = command.operands if command.name in ("shred", "tee") else ()
    return any(path.startswith(DISKS) for path in (*command.writes, *named))


def _opens_disk(command: Command, roots: Roots) -> bool:
    return any(place_of(path, command.cwd, roots) == "disk" for op, path in command.opens if ">" in op)


def _opens_core(command: Command, roots: Roots) -> bool:
    targets = [path for op, path in command.opens if op in (">", ">|", "&>") and not path.startswith("/dev/")]
    return any(
        place_of(path, command.cwd, roots) == "core"
        and path.startswith(
            (
                "/etc/passwd",
                "/etc/shadow",
                "/etc/hosts",
                "/etc/fstab",
                "/etc/sudoers",
                "/boot",
                "/bin",
                "/sbin",
                "/usr/bin",
                "/lib",
            )
        )
        for path in targets
    )


def _empties_lost(command: Command, roots: Roots) -> bool:
    return bool(_places(command, roots, command.operands) & {"core", "disk", "home", "root"})


def _mirrors_over(command: Command, roots: Roots) -> bool:
    last = command.operands[-1:]
    deletes = any(flag.startswith(("--delete", "--remove-source")) for flag in command.flags)
    return deletes and bool(_places(command, roots, last) & LOST)


def _mirrors(command: Command, _roots: Roots) -> bool:
    deletes = any(flag.startswith(("--del", "--remove-source")) for flag in command.flags)
    return deletes and len(command.operands) > 1 and not command.flags & {"-n", "--dry-run", "--list-only"}


def _is_image(command: Command, _roots: Roots) -> bool:
    return any(word.startswith(("/dev/", "\\\\.\\")) for word in command.operands)


MAKES_FILE_SYSTEMS: Final = (
    "mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mkfs.f2fs "
    "mkfs.exfat mke2fs mkswap "
    "mkfs.jfs mkfs.reiserfs mkfs.minix newfs"
)
FAMILY: Final = Family(
    "destructive",
    (
        Rule(
            "rm rmdir unlink shred srm trash del erase rd ri remove-item",
            "deletes a folder of the system or a home",
            check=_deletes_lost,
        ),
        Rule("rm", "takes the guard off the root of the file system", flags="--no-preserve-root"),
        Rule("rm rd del remove-item", "deletes everything in the working directory", check=_deletes_all, level="doubt"),
        Rule(
            "rm rd del remove-item",
            "deletes whole folders outside the working directory",
            check=_deletes_outside,
            level="doubt",
        ),
        Rule("rm", "deletes whole folders that another command lists", check=_deletes_listed, level="doubt"),
        Rule("rm unlink shred", "deletes what is found in a folder of the system or a home", check=_deletes_found),
        Rule("rm", "deletes a repository with its history", flags="-r|-R", check=_deletes_git, level="doubt"),
        Rule("rm", "deletes every folder that a search finds", check=_found_recursively, level="doubt"),
        Rule("mv", "moves away a folder of the system or a home", check=_moves_lost),
        Rule("find bfs fd", "deletes what it finds in a folder of the system or a home", check=_find_lost),
        Rule("find bfs fd", "deletes everything it finds", check=_find_here, level="doubt"),
        Rule(MAKES_FILE_SYSTEMS, "makes a new file system over what is on a disk", check=_is_image),
        Rule(
            "dd shred cp tee badblocks pv cat",
            "writes over a disk",
            check=_onto_disk,
            hint="/dev/",
        ),
        Rule(">", "writes over a disk", check=_opens_disk),
        Rule(">", "writes over a file of the system", check=_opens_core),
        Rule("wipefs sgdisk", "wipes a disk's tables", flags="-a|--all|-z|--zap-all|-Z|--zap|-o"),
        Rule("blkdiscard nwipe scrub", "wipes a disk", check=_is_image),
        Rule("hdparm", "erases a disk", flags="--security-erase|--security-erase-enhanced"),
        Rule("nvme", "erases a disk", words="format|sanitize"),
        Rule("cryptsetup", "makes a disk's content unreadable", words="luksformat|erase|lukserase"),
        Rule(
            "fdisk parted sfdisk cfdisk gdisk",
            "changes a disk's partitions",
            lacks="-l|--list|-d|--dump|-p|--print|-s|-v",
            check=lambda c, _: any(w.startswith(DISKS) for w in c.operands) and "print" not in c.operands,
            level="doubt",
        ),
        Rule("lvremove vgremove pvremove", "removes logical volumes", level="danger"),
        Rule("dmsetup", "removes logical volumes", words="remove|remove_all|wipe_table"),
        Rule("rsync", "deletes at the target what is not at the source", check=_mirrors, level="note"),
        Rule("zpool zfs", "destroys a pool or a data set", words="destroy|labelclear"),
        Rule("btrfs", "deletes a subvolume", words="subvolume delete"),
        Rule("mdadm", "stops or wipes an array", flags="--zero-superblock|--stop"),
        Rule("diskutil", "erases a disk", words="erase*|partitiondisk|secureerase|zerodisk|apfs"),
        Rule("format", "formats a drive", check=lambda c, _: any(w[1:2] == ":" for w in c.operands)),
        Rule("truncate", "empties a file of the system", check=_empties_lost),
        Rule("rsync", "deletes on the far side what is not on this one", check=_mirrors_over),
        Rule("vssadmin wbadmin", "deletes backups", words="delete"),
        Rule("tmutil", "deletes backups", words="delete|deletelocalsnapshots"),
    ),
)

HITS: Final = (
    "rm -rf /",
    "rm -fr ~/",
    "rm -r --force /etc/nginx",
    'rm -rf "$HOME"',
    "sudo rm -rf /var/lib/*",
    "rm -rf .",
    "rm -rf *",
    "rm -rf ../..",
    "rm -rf /srv/data",
    "rm /etc/fstab",
    "cd / && rm -rf *",
    "find / -name core -delete",
    "find /home -type f -delete",
    "dd if=/dev/zero of=/dev/sda bs=1M",
    "cat zeros > /dev/sdb",
    "mkfs.ext4 /dev/sda1",
    "shred -u /dev/nvme0n1",
    "mv /etc /tmp/x",
    "wipefs -a /dev/sdc",
    "ls | xargs rm -rf",
    "rm -rf --no-preserve-root /x",
    "rsync -a --delete empty/ /home/",
    "X=/; rm -rf $X",
    "for d in /bin /sbin; do rm -r $d; done",
    "zpool destroy tank",
    "rsync -a --delete src/ backup/",
    "find . -type d -exec rm -r {} +",
    "rm -rf ${UNSET}/",
    "rm -rf ~ada",
    "find /etc -type f | xargs rm",
    "rm -rf app/.git",
    ": > /etc/passwd",
)
MISSES: Final = (
    "rm -rf ./build",
    "rm -rf node_modules dist",
    "rm notes.txt",
    "rm -rf /tmp/work",
    "rm -f *.o",
    'echo "rm -rf /"',
    "man rm",
    "grep 'rm -rf /' history.txt",
    "git commit -m 'stop rm -rf /'",
    "rm -rf /workspace/app/build",
    "rm --help",
    "find . -name '*.pyc' -delete",
    "dd if=disk.img of=copy.img",
    "cat > notes <<EOF\nrm -rf /\nEOF",
    "# rm -rf /",
    "rsync -a src/ backup/",
    "mv a b",
    "mkfs.ext4 disk.img",
    "parted /dev/sda print",
    "rm -rf $TMPDIR/x",
    "rm .gitignore",
    "find src -name x | xargs rm",
    "echo done > /dev/null",
    "which mkfs",
)
