//! What the checks need from the machine, and how to get it.
//!
//! Each need is tried, not looked up: a compiler that cannot find its headers is as good as none. Only what is
//! missing is installed, and never silently.

use std::io::{IsTerminal, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

use crate::cargo::{answers, cargo, succeeds};

struct Need {
    what: &'static str,
    why: &'static str,
    works: fn() -> bool,
    source: Source,
}

/// Where a need is met from.
enum Source {
    Debian(&'static [&'static str]),
    Rustup(&'static str),
}

const NEEDS: &[Need] = &[
    Need {
        what: "a C compiler",
        why: "SQLite and the shell grammar are built from C",
        works: c_compiles,
        source: Source::Debian(&["gcc", "libc6-dev"]),
    },
    Need {
        what: "rustfmt",
        why: "formatting is checked",
        works: || answers(&mut cargo(&["fmt", "--version"])),
        source: Source::Rustup("rustfmt"),
    },
    Need {
        what: "clippy",
        why: "lints are checked",
        works: || answers(&mut cargo(&["clippy", "--version"])),
        source: Source::Rustup("clippy"),
    },
    Need {
        what: "Python with venv",
        why: "the HTTP API is checked against its description with schemathesis",
        works: || answers(Command::new("python3").args(["-c", "import venv, ensurepip"])),
        source: Source::Debian(&["python3", "python3-venv"]),
    },
    Need {
        what: "PostgreSQL",
        why: "the tools for databases are tested against a real server",
        works: || std::path::Path::new("/usr/lib/postgresql").is_dir(),
        source: Source::Debian(&["postgresql"]),
    },
    Need {
        what: "MariaDB",
        why: "the tools for databases are tested against a real server",
        works: || answers(Command::new("/usr/sbin/mariadbd").arg("--version")),
        source: Source::Debian(&["mariadb-server"]),
    },
    Need {
        what: "Chromium",
        why: "the web inbox is tested in a real browser",
        works: || answers(Command::new("chromium").arg("--version")),
        source: Source::Debian(&["chromium"]),
    },
    Need {
        what: "Node and npm",
        why: "they run the tests of the web inbox",
        works: || {
            ["node", "npm"]
                .iter()
                .all(|name| answers(Command::new(name).arg("--version")))
        },
        source: Source::Debian(&["nodejs", "npm"]),
    },
    Need {
        what: "a Chinese font",
        why: "the web inbox is pictured in Chinese, too",
        works: has_chinese_font,
        source: Source::Debian(&["fontconfig", "fonts-wqy-microhei"]),
    },
];

/// Makes sure every need is met; what cannot be met is said all at once, so that one round of installing is enough.
pub(super) fn meet() -> anyhow::Result<()> {
    let mut unmet = Vec::new();
    for need in NEEDS {
        if (need.works)() {
            println!("{}: there", need.what);
        } else if let Err(error) = need.install() {
            unmet.push(format!("{} is missing ({}): {error:#}", need.what, need.why));
        }
    }
    if unmet.is_empty() {
        Ok(())
    } else {
        bail!("{}", unmet.join("; "))
    }
}

impl Need {
    fn install(&self) -> anyhow::Result<()> {
        match self.source {
            Source::Debian(packages) => {
                println!(
                    "{}: installing {} because {}",
                    self.what,
                    packages.join(" "),
                    self.why
                );
                apt_install(packages)?;
            }
            Source::Rustup(component) => {
                println!(
                    "{}: adding the component `{component}` because {}",
                    self.what, self.why
                );
                let added = succeeds(Command::new("rustup").args(["component", "add", component]));
                if !added.unwrap_or(false) {
                    bail!("add `{component}` to your Rust toolchain");
                }
            }
        }
        if (self.works)() {
            Ok(())
        } else {
            bail!("it was installed and still does not work")
        }
    }
}

/// Tries the compiler proper, the C library's headers and the archiver: a bundled library needs all three.
pub(super) fn c_compiles() -> bool {
    checks_c("#include <stdlib.h>\n").unwrap_or(false) && answers(Command::new("ar").arg("--version"))
}

fn has_chinese_font() -> bool {
    let fonts = Command::new("fc-list").arg(":lang=zh-cn").output();
    fonts.is_ok_and(|fonts| !fonts.stdout.trim_ascii().is_empty())
}

fn checks_c(source: &str) -> anyhow::Result<bool> {
    let mut child = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .args(["-x", "c", "-fsyntax-only", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    child
        .stdin
        .take()
        .context("the compiler has no input")?
        .write_all(source.as_bytes())?;
    Ok(child.wait()?.success())
}

fn apt_install(packages: &[&str]) -> anyhow::Result<()> {
    let by_hand = format!(
        "install it yourself, on Debian with `apt-get install {}`",
        packages.join(" ")
    );
    if !answers(Command::new("apt-get").arg("--version")) {
        bail!("this machine has no apt-get; {by_hand}");
    }
    let prefix: &[&str] = match Privilege::find() {
        Privilege::Root => &[],
        Privilege::Sudo => &["sudo"],
        Privilege::None => bail!("neither root nor sudo; {by_hand}"),
    };
    let apt = |args: &[&str]| -> anyhow::Result<bool> {
        let line = [
            prefix,
            &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"],
            args,
        ]
        .concat();
        let (program, args) = line.split_first().context("an empty command")?;
        succeeds(Command::new(program).args(args))
    };
    // Stale package lists may still do; whether the package came is what counts.
    if !apt(&["update", "--quiet"])? {
        println!("apt-get update failed; going on with the package lists there are");
    }
    let install = [
        &["install", "--yes", "--quiet", "--no-install-recommends"],
        packages,
    ]
    .concat();
    if apt(&install)? {
        Ok(())
    } else {
        bail!("apt-get failed; {by_hand}")
    }
}

/// By what right packages can be installed.
enum Privilege {
    Root,
    Sudo,
    None,
}

impl Privilege {
    fn find() -> Self {
        let user = Command::new("id").arg("-u").output();
        if user.is_ok_and(|output| output.stdout.trim_ascii() == b"0") {
            return Self::Root;
        }
        // A password can be asked for only at a terminal; elsewhere sudo would wait forever.
        let sudo_runs_alone = answers(Command::new("sudo").args(["-n", "true"]));
        let somebody_types = std::io::stdin().is_terminal() && answers(Command::new("sudo").arg("--version"));
        if sudo_runs_alone || somebody_types {
            Self::Sudo
        } else {
            Self::None
        }
    }
}
