//! The wrappers, and how each is written: which words are its own, and where the command it runs begins.

use std::collections::BTreeMap;
use std::sync::LazyLock;

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
    /// Short options whose value, if any, is attached.
    pub(super) attaches: &'static str,
    /// Long options whose value, if any, is attached.
    pub(super) long_attaches: &'static [&'static str],
    /// Those of them whose value is a line for a shell.
    pub(super) lines: &'static [&'static str],
    /// Those of them whose value is the folder the inner command runs in.
    pub(super) folders: &'static [&'static str],
    /// Those of them whose value is a file to write.
    pub(super) writes: &'static [&'static str],
    /// Those of them whose value sets a variable.
    pub(super) sets: &'static [&'static str],
    /// Whether its own words are looked at as places; those of the inner command are anyway.
    pub(super) opens: Opens,
    /// Words before the inner command (a duration, a host, a lock file).
    pub(super) skip: usize,
}

/// What a wrapper does with its words besides running them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Opens {
    /// It is known to open none.
    Nothing,
    /// It may open any.
    Words,
}

/// A wrapper that may open what it is given.
const fn opens(
    names: &'static [&'static str],
    flags: &'static str,
    takes: &'static str,
    skip: usize,
) -> Form {
    Form {
        opens: Opens::Words,
        ..form(names, flags, takes, skip)
    }
}

const fn form(names: &'static [&'static str], flags: &'static str, takes: &'static str, skip: usize) -> Form {
    Form {
        names,
        flags,
        takes,
        longs: &[],
        long_takes: &[],
        attaches: "",
        long_attaches: &[],
        lines: &[],
        folders: &[],
        writes: &[],
        sets: &[],
        opens: Opens::Nothing,
        skip,
    }
}

/// From which word on a program runs another.
pub(super) enum Wraps {
    /// From the first that is not its own.
    AtOnce,
    /// From one of these subcommands on.
    After(&'static [&'static str]),
}

/// The form of the wrapper `name`, if it is one.
pub(super) fn of(name: &str) -> Option<&'static (Wraps, &'static Form)> {
    static BY_NAME: LazyLock<BTreeMap<&str, (Wraps, &Form)>> = LazyLock::new(|| {
        let mut by_name = BTreeMap::new();
        for form in FORMS {
            by_name.extend(form.names.iter().map(|name| (*name, (Wraps::AtOnce, form))));
        }
        for (subs, form) in RUNNERS {
            by_name.extend(form.names.iter().map(|name| (*name, (Wraps::After(subs), form))));
        }
        by_name
    });
    BY_NAME.get(name)
}

/// All of them, but those that need more than a row can say.
const FORMS: &[Form] = &[
    Form {
        longs: &["ignore-environment", "null", "debug"],
        long_takes: &["unset", "chdir"],
        folders: &["C", "chdir"],
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
        folders: &["D", "chdir"],
        ..form(&["sudo"], "AbEHiKknPSsv", "CDghpRrtTuU", 0)
    },
    form(&["doas"], "Lns", "aCu", 0),
    Form {
        longs: &["portability", "verbose", "append", "quiet"],
        long_takes: &["output", "format"],
        writes: &["o", "output"],
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
    Form {
        writes: &["o"],
        sets: &["E"],
        ..form(&["strace", "ltrace"], "cCdfFiknqrtTvwxyzZ", "abeEIoOPsSuUX", 0)
    },
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
    opens(&["eatmydata", "torsocks", "torify", "gnohup"], "", "", 0),
    Form {
        longs: &["foreground", "preserve-status", "verbose"],
        long_takes: &["kill-after", "signal"],
        ..opens(&["gtimeout"], "fpv", "ks", 1)
    },
    opens(&["ssh-agent"], "csDdk", "aEOPt", 0),
    Form {
        longs: PERSONALITIES,
        ..opens(&["setarch"], "BFILRSTXZ3v", "", 0)
    },
    Form {
        longs: PERSONALITIES,
        ..opens(ARCHITECTURES, "BFILRSTXZ3v", "", 0)
    },
    Form {
        longs: &["noheadings", "raw", "verbose"],
        long_takes: &["output", "pid"],
        attaches: "cdefilmnqrstuvxy",
        long_attaches: &[
            "as",
            "core",
            "cpu",
            "data",
            "fsize",
            "locks",
            "memlock",
            "msgqueue",
            "nice",
            "nofile",
            "nproc",
            "rss",
            "rtprio",
            "rttime",
            "sigpending",
            "stack",
        ],
        ..opens(&["prlimit"], "", "op", 0)
    },
    Form {
        long_takes: &["adjust", "pid"],
        ..opens(&["choom"], "", "np", 0)
    },
    opens(&["chronic"], "ve", "", 0),
    opens(&["ifne"], "n", "", 0),
    Form {
        long_takes: &[
            "identifier",
            "level-prefix",
            "namespace",
            "priority",
            "stderr-priority",
        ],
        ..opens(&["systemd-cat"], "", "tp", 0)
    },
    Form {
        longs: &["list", "no-ask-password", "no-legend", "no-pager"],
        long_takes: &["mode", "what", "who", "why"],
        ..opens(&["systemd-inhibit"], "", "", 0)
    },
    opens(&["caffeinate"], "dimsu", "tw", 0),
    opens(&["faketime"], "fmp", "", 1),
    opens(&["cpulimit"], "bikmvz", "elPp", 0),
    opens(&["proxychains", "proxychains4"], "q", "f", 0),
    Form {
        longs: &["auto-display", "auto-servernum", "listen-tcp"],
        long_takes: &[
            "auth-file",
            "error-file",
            "server-args",
            "server-num",
            "wait",
            "xauth-protocol",
        ],
        writes: &["e", "error-file", "f", "auth-file"],
        ..opens(&["xvfb-run"], "adl", "efnpsw", 0)
    },
    Form {
        longs: &["quiet", "verbose"],
        long_attaches: &[
            "cachegrind-out-file",
            "callgrind-out-file",
            "child-silent-after-fork",
            "dhat-out-file",
            "error-exitcode",
            "error-limit",
            "gen-suppressions",
            "keep-debuginfo",
            "keep-stacktraces",
            "leak-check",
            "leak-resolution",
            "log-file",
            "massif-out-file",
            "max-stackframe",
            "num-callers",
            "read-var-info",
            "show-leak-kinds",
            "show-reachable",
            "suppressions",
            "time-stamp",
            "tool",
            "trace-children",
            "track-fds",
            "track-origins",
            "undef-value-errors",
            "xml",
            "xml-file",
        ],
        writes: &[
            "cachegrind-out-file",
            "callgrind-out-file",
            "dhat-out-file",
            "log-file",
            "massif-out-file",
            "xml-file",
        ],
        ..opens(&["valgrind"], "qv", "", 0)
    },
    Form {
        names: &["npx", "pnpx", "bunx"],
        ..NPM
    },
    Form {
        names: &["uvx"],
        ..UV
    },
];

/// Programs that run another one when this is their first subcommand.
#[rustfmt::skip]
const RUNNERS: &[(&[&str], Form)] = &[
    (&["exec", "x"], NPM),
    (&["exec", "x"], Form { names: &["bun"], ..NPM }),
    (&["exec", "dlx"], Form {
        longs: &["no-bail", "parallel", "recursive", "reverse", "sequential", "silent", "stream", "workspace-root"],
        long_takes: &["dir", "filter", "filter-prod", "loglevel", "package", "reporter", "resume-from", "workspace-concurrency"],
        folders: &["C", "dir"],
        ..opens(&["pnpm"], "rsw", "CF", 0)
    }),
    (&["exec", "dlx"], Form {
        longs: &["quiet", "silent"],
        long_takes: &["cwd", "package"],
        folders: &["cwd"],
        ..opens(&["yarn"], "qs", "p", 0)
    }),
    (&["run"], UV),
    (&["run"], Form {
        longs: &["ansi", "no-ansi", "no-cache", "no-interaction", "no-plugins", "quiet", "verbose"],
        ..opens(&["poetry"], "nqv", "", 0)
    }),
    (&["run"], Form {
        longs: &["quiet", "verbose"],
        long_takes: &["env"],
        ..opens(&["hatch", "pdm", "pipenv", "rye"], "nqsv", "e", 0)
    }),
    (&["run"], Form {
        longs: &["no-cache", "quiet", "system-site-packages", "verbose"],
        long_takes: &["index-url", "pip-args", "python", "spec", "with"],
        ..opens(&["pipx"], "qv", "i", 0)
    }),
    (&["run"], Form {
        longs: &["live-stream", "no-capture-output"],
        long_takes: &["cwd", "name", "prefix"],
        folders: &["cwd"],
        ..opens(&["conda", "mamba", "micromamba"], "v", "np", 0)
    }),
    (&["exec"], Form {
        longs: &["keep-file-descriptors", "no-color", "verbose"],
        ..opens(&["bundle", "bundler"], "V", "", 0)
    }),
    (&["exec"], opens(&["asdf", "goenv", "jenv", "nodenv", "pyenv", "rbenv"], "", "", 0)),
    (&["record", "stat", "trace"], Form {
        longs: &["all-cpus", "all-user", "big-num", "detailed", "no-big-num", "no-inherit", "null", "per-core", "per-socket",
          "quiet", "summary", "sync", "verbose"],
        long_takes: &["call-graph", "count", "cpu", "delay", "event", "field-separator", "freq", "interval-print", "output", "pid",
          "repeat", "tid", "timeout"],
        writes: &["o", "output"],
        ..opens(&["perf"], "aABbdEghiknNqRsSTvWz", "cCDeFGIjmMoprtux", 0)
    }),
];

/// `npm exec`.
#[rustfmt::skip]
const NPM: Form = Form {
    longs: &["bun", "ignore-existing", "include-workspace-root", "no", "no-install", "offline", "prefer-offline", "prefer-online",
      "quiet", "silent", "workspaces", "yes"],
    long_takes: &["cache", "call", "loglevel", "package", "registry", "workspace"],
    lines: &["c", "call"],
    ..opens(&["npm"], "dqsy", "cpw", 0)
};

/// `uv run` and `uv tool run`.
#[rustfmt::skip]
const UV: Form = Form {
    longs: &["active", "all-extras", "all-groups", "all-packages", "compile-bytecode", "dev", "exact", "frozen", "gui-script",
      "isolated", "locked", "managed-python", "module", "native-tls", "no-binary", "no-build", "no-build-isolation", "no-cache",
      "no-config", "no-default-groups", "no-dev", "no-editable", "no-env-file", "no-index", "no-managed-python", "no-progress",
      "no-project", "no-python-downloads", "no-sources", "no-sync", "offline", "only-dev", "quiet", "refresh", "reinstall",
      "script", "upgrade", "verbose"],
    long_takes: &["allow-insecure-host", "cache-dir", "color", "config-file", "config-setting", "default-index", "directory",
      "env-file", "exclude-newer", "extra", "extra-index-url", "find-links", "from", "group", "index", "index-strategy",
      "index-url", "keyring-provider", "link-mode", "no-extra", "no-group", "only-group", "package", "prerelease", "project",
      "python", "python-preference", "refresh-package", "reinstall-package", "resolution", "upgrade-package", "with",
      "with-editable", "with-requirements"],
    folders: &["directory"],
    ..opens(&["uv"], "mnqsUv", "CfipPw", 0)
};

const PERSONALITIES: &[&str] = &[
    "32bit",
    "3gb",
    "4gb",
    "addr-compat-layout",
    "addr-no-randomize",
    "fdpic-funcptrs",
    "mmap-page-zero",
    "read-implies-exec",
    "short-inode",
    "sticky-timeouts",
    "uname-2.6",
    "verbose",
    "whole-seconds",
];

/// Names under which `setarch` takes the architecture from its own.
#[rustfmt::skip]
const ARCHITECTURES: &[&str] = &[
    "i386", "i486", "i586", "i686", "linux32", "linux64", "ppc", "ppc32", "ppc64", "s390", "s390x", "sparc", "sparc32", "sparc64", "uname26",
    "x86_64",
];
