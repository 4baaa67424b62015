"""System calls that a confined server is refused: those that lead out of the process without opening a file.

Landlock checks which files are opened and which TCP ports are used. The calls below reach something else: other
processes and their memory, the terminal, shared memory and queues, keys of the user, sockets, properties of files that
are not their content, the machine itself. A server makes none of them after its start. The list names what is refused
and not what is allowed, so that another version of Python or of a library still runs.

The numbers are those of `asm/unistd_64.h` and `asm-generic/unistd.h`; they never change.
"""

from typing import NamedTuple


class Condition(NamedTuple):
    """A call is allowed only if the argument has one of these values."""

    argument: int
    """Counted from 0."""
    values: tuple[int, ...]
    bits: int = 0xFFFFFFFF
    """The bits of its lower half that are compared."""


# The numbers on x86-64, and on ARM64 and RISC-V, which share one table.
REFUSED = {
    # Sockets.
    "socket": (41, 198),
    "connect": (42, 203),
    # Mode, owner, times and attributes of files, inside the root as well as outside.
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "file_setattr": (469, 469),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "getxattr": (191, 8),
    "lgetxattr": (192, 9),
    "fgetxattr": (193, 10),
    "getxattrat": (464, 464),
    "listxattr": (194, 11),
    "llistxattr": (195, 12),
    "flistxattr": (196, 13),
    "listxattrat": (465, 465),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    # Files by other ways than their paths.
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    # Calls that no filter sees, and programs that run in the kernel.
    "io_uring_setup": (425, 425),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    # Memory and queues that processes share by a key or a name.
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    # Keys that the kernel holds for the user.
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # Other processes: their memory, descriptors, place and turn on the processors.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "ioprio_set": (251, 30),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # The machine, for a server that is run with privileges.
    "acct": (163, 89),
    "adjtimex": (159, 171),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "delete_module": (176, 106),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "pivot_root": (155, 41),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "vhangup": (153, 58),
}

DECIDED_BY_ARGUMENTS = {"ioctl": (16, 29), "prlimit64": (302, 261), "setpriority": (141, 140)} | {
    "socketpair": (53, 199),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
}
_STREAM, _FAST_OPEN = 1, 0x20000000
# Questions about a descriptor, and whether it blocks and is inherited. All others are refused, such as TIOCSTI, which
# types into the terminal, and FS_IOC_SETFLAGS, which changes flags of a file that is open for reading.
_IOCTLS = {
    "TCGETS": 0x5401,
    "TCGETS2": 0x802C542A,
    "TIOCOUTQ": 0x5411,
    "TIOCGWINSZ": 0x5413,
    "FIONREAD": 0x541B,
    "FIONBIO": 0x5421,
    "FIONCLEX": 0x5450,
    "FIOCLEX": 0x5451,
}
# A call is allowed where all its conditions hold. A server still has sockets: the one that it listens on, and the pair
# of stream sockets by which an event loop wakes itself. Shut down, the first can connect anew by TCP Fast Open, without
# `connect`. A pair of datagram sockets, unlike one of stream sockets, can send to every Unix socket. Limits and
# priority may be set of the calling process, which both calls name 0.
CONDITIONS = {
    "ioctl": (Condition(1, tuple(_IOCTLS.values())),),
    "prlimit64": (Condition(0, (0,)),),
    "setpriority": (Condition(0, (0,)), Condition(1, (0,))),
    "socketpair": (Condition(1, (_STREAM,), bits=0xF),),
    "sendto": (Condition(3, (0,), bits=_FAST_OPEN),),
    "sendmsg": (Condition(2, (0,), bits=_FAST_OPEN),),
    "sendmmsg": (Condition(3, (0,), bits=_FAST_OPEN),),
}
