//! The wrappers, and how each is written: which words are its own, and where the command it runs begins.

/// How a wrapper's own words end and the inner command begins.
pub(super) struct Form {
    /// What they are called.
    pub(super) names: &'static [&'static str],
    /// Short options without a value.
    pub(super) flags: &'static str,
    /// Short options with a value.
    pub(super) takes: &'static str,
    /// Long options without a value.
    pub(super) longs: &'static [&'static str],
    /// Long options with a value.
    pub(super) long_takes: &'static [&'static str],
    /// Words before the inner command (a duration, a host, a lock file).
    pub(super) skip: usize,
}

const fn form(names: &'static [&'static str], flags: &'static str, takes: &'static str, skip: usize) -> Form {
    Form {
        names,
        flags,
        takes,
        longs: &[],
        long_takes: &[],
        skip,
    }
}

/// All of them, but those that need more than a row can say.
pub(super) const FORMS: &[Form] = &[
    Form {
        longs: &["ignore-environment", "null", "debug"],
        long_takes: &["unset", "chdir"],
        ..form(&["env"], "iv0", "uC", 0)
    },
    Form {
        longs: &[
            "askpass",
            "background",
            "preserve-env",
            "login",
            "stdin",
            "non-interactive",
            "shell",
            "set-home",
        ],
        long_takes: &[
            "close-from",
            "chdir",
            "group",
            "host",
            "prompt",
            "chroot",
            "command-timeout",
            "other-user",
            "user",
        ],
        ..form(&["sudo"], "AbEHiKknPSsv", "CDghpRrtTuU", 0)
    },
    form(&["doas"], "Lns", "aCu", 0),
    Form {
        longs: &["portability", "verbose", "append", "quiet"],
        long_takes: &["output", "format"],
        ..form(&["time"], "pvaq", "of", 0)
    },
    form(
        &[
            "nohup",
            "builtin",
            "coproc",
            "busybox",
            "toybox",
            "catchsegv",
            "unbuffer",
            "fakeroot",
            "tini",
            "dumb-init",
        ],
        "",
        "",
        0,
    ),
    form(&["command"], "p", "", 0),
    form(&["exec"], "cl", "a", 0),
    Form {
        longs: &["foreground", "preserve-status", "verbose"],
        long_takes: &["kill-after", "signal"],
        ..form(&["timeout"], "fpv", "ks", 1)
    },
    Form {
        long_takes: &["adjustment"],
        ..form(&["nice"], "0123456789", "n", 0)
    },
    Form {
        longs: &["ignore"],
        long_takes: &["class", "classdata"],
        ..form(&["ionice"], "t", "cn", 0)
    },
    Form {
        long_takes: &["input", "output", "error"],
        ..form(&["stdbuf"], "", "ioe", 0)
    },
    Form {
        longs: &["ctty", "fork", "wait"],
        ..form(&["setsid"], "cfw", "", 0)
    },
    form(&["chrt"], "bfior", "", 1),
    form(&["taskset"], "ac", "", 1),
    form(&["strace", "ltrace"], "cCdfFiknqrtTvwxyzZ", "abeEIoOPsSuUX", 0),
    Form {
        longs: &["skip-chdir"],
        long_takes: &["userspec", "groups"],
        ..form(&["chroot"], "", "", 1)
    },
    Form {
        longs: &[
            "mount",
            "uts",
            "ipc",
            "net",
            "pid",
            "user",
            "cgroup",
            "fork",
            "map-root-user",
            "mount-proc",
        ],
        ..form(&["unshare"], "muinpUCfrc", "RwSG", 0)
    },
    Form {
        longs: &[
            "beep",
            "color",
            "differences",
            "errexit",
            "chgexit",
            "no-title",
            "exec",
            "precise",
        ],
        long_takes: &["interval"],
        ..form(&["watch"], "bcdegtxp", "n", 0)
    },
    form(&["ssh"], "46AaCfGgKkMNnqsTtVvXxYy", "BbcDEeFIiJLlmOopQRSWw", 1),
    Form {
        longs: &[
            "shared",
            "exclusive",
            "unlock",
            "nonblock",
            "nb",
            "close",
            "no-fork",
            "verbose",
        ],
        long_takes: &["wait", "timeout", "conflict-exit-code"],
        ..form(&["flock"], "sxeunoFv", "wE", 1)
    },
    Form {
        longs: &[
            "null",
            "open-tty",
            "interactive",
            "no-run-if-empty",
            "verbose",
            "exit",
        ],
        long_takes: &[
            "arg-file",
            "delimiter",
            "max-args",
            "max-procs",
            "max-chars",
            "process-slot-var",
        ],
        ..form(&["xargs"], "0oprtx", "adEILnPs", 0)
    },
];
