//! The table of commands worth a question, and of the variables that change what other commands do.
//!
//! A name may have several rows; the first that is met gives the reason. Names are compared without their folder.
//! The tables are kept as rows by hand: formatted one word to a line nobody would read them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::super::why::Deed;
use super::judge::{Args, Hit};
use super::{ban, cases, check, script, sends};

/// When a row is met.
pub(super) enum When {
    /// With any arguments.
    Always,
    /// One of these options is given.
    Flag(&'static [&'static str]),
    /// One of these subcommands is given.
    Sub(&'static [&'static str]),
    /// A word starts like this.
    SubStart(&'static [&'static str]),
    /// Such a subcommand and such an option.
    Both(&'static [&'static str], &'static [&'static str]),
    /// A word holds this text.
    Holds(&'static [&'static str]),
    /// An argument is a place outside the workspace.
    Outside,
    /// The value of such an option is a place outside the workspace.
    OutsideOf(&'static [&'static str]),
    /// An argument is a file that decides what runs or what is asked.
    Guarded,
    /// The value of such an option is one.
    GuardedOf(&'static [&'static str]),
    /// More than the other forms can say.
    Check(fn(&Args<'_, '_>) -> Hit),
}

/// Names of commands, when they are HIGH, and why; the reason follows the command's name.
type Row = (&'static [&'static str], When, Deed);

/// The rows about the command `name`, in the order of the table.
pub(super) fn rows(name: &str) -> &'static [&'static Row] {
    static BY_NAME: LazyLock<BTreeMap<&str, Vec<&Row>>> = LazyLock::new(|| {
        let mut by_name: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
        for row in ROWS {
            for name in row.0 {
                by_name.entry(name).or_default().push(row);
            }
        }
        by_name
    });
    BY_NAME.get(name).map_or(&[], Vec::as_slice)
}

use When::{Always, Both, Check, Flag, Guarded, GuardedOf, Holds, Outside, OutsideOf, Sub, SubStart};

/// Programs that write, move or delete what they are given.
#[rustfmt::skip]
const WRITERS: &[&str] = &[
    "rm", "rmdir", "unlink", "tee", "cp", "mv", "ln", "install", "touch", "mkdir", "mkfifo", "mknod", "patch", "chmod", "chown", "chgrp",
    "sponge", "gzip", "gunzip", "unzip", "bzip2", "xz", "rename", "prename", "perl-rename", "file-rename",
];

/// Programs that rename files, on some machines by a program in Perl.
const RENAMERS: &[&str] = &["rename", "prename", "perl-rename", "file-rename"];

const CURL_OUTPUT: &[&str] = &[
    "-o",
    "-D",
    "-c",
    "--output",
    "--output-dir",
    "--dump-header",
    "--cookie-jar",
    "--trace",
    "--trace-ascii",
    "--stderr",
    "--etag-save",
    "--hsts",
    "--alt-svc",
    "--libcurl",
];
const WGET_OUTPUT: &[&str] = &[
    "-O",
    "-o",
    "-a",
    "-P",
    "--output-document",
    "--output-file",
    "--append-output",
    "--directory-prefix",
    "--save-cookies",
];

#[rustfmt::skip]
const ROWS: &[Row] = &[
    (&["placet"], Check(ban::may_answer), Deed::MayAnswer),
    // Other users, other machines.
    (&["sudo", "doas", "su", "runuser", "pkexec", "setpriv", "gosu", "su-exec", "setuidgid",
      "s6-setuidgid", "chpst"], Always, Deed::OtherUser),
    (&["chroot", "unshare", "nsenter", "systemd-run", "machinectl", "firejail", "bwrap", "proot",
      "parallel", "expect", "entr",
       "tmux", "screen", "zellij", "gdb", "lldb", "script", "fish", "csh", "tcsh", "pwsh", "powershell",
       "cmd", "cmd.exe", "wsl",
       "osascript", "nu", "elvish", "xonsh", "dbus-run-session", "nix-shell", "guix",
       "dbus-launch", "mispipe", "pee", "flatpak-spawn", "host-spawn", "distrobox", "toolbox", "lxc-attach",
       "sash", "ysh", "murex", "powershell.exe", "pwsh-preview"],
     Always, Deed::NotFollowed),
    (&["ssh", "scp", "sftp", "mosh", "telnet", "rsh", "rlogin", "autossh", "sshpass", "ftp", "lftp",
      "rclone"], Always, Deed::OtherMachine),
    (&["nc", "ncat", "netcat", "nc.openbsd", "nc.traditional", "socat", "cryptcat", "pwncat"], Always,
      Deed::RawConnection),
    (&["rsync"], Flag(&["-e", "--rsh", "--rsync-path", "--delete", "--delete-before", "--delete-during", "--delete-delay",
      "--delete-after", "--delete-excluded", "--delete-missing-args", "--remove-source-files", "--remove-sent-files",
      "--daemon"]),
      Deed::RunsOrDeletes),
    (&["rsync"], Holds(&[":"]), Deed::OtherMachine),
    (&["curl"], Check(check::curl_obeys_file), Deed::SendsOrObeysFile),
    (&["curl"], Check(check::curl_sends_file), Deed::SendsFile),
    (&["curl"], Flag(&["--unix-socket", "--abstract-unix-socket"]), Deed::RawConnection),
    (&["http", "https", "xh"], SubStart(&["@"]), Deed::SendsFile),
    (&["curl", "http", "https", "xh"], Holds(&["=@", "=<", "file://"]), Deed::SendsFile),
    (&["wget"], Flag(&["--post-file", "--body-file", "--use-askpass", "-i", "--input-file", "-e",
      "--execute"]), Deed::SendsFileOrRuns),
    // Deleting and overwriting.
    (&["rm"], Flag(&["-r", "-R", "--recursive", "--no-preserve-root"]), Deed::DeletesFolders),
    (&["shred", "wipe", "srm", "truncate"], Always, Deed::DestroysContent),
    (&["dd", "mkfs", "fdisk", "sfdisk", "cfdisk", "parted", "gdisk", "sgdisk", "wipefs", "mkswap",
      "mke2fs", "newfs", "lvremove", "vgremove",
       "pvremove", "cryptsetup", "mdadm", "blkdiscard", "hdparm", "diskutil", "zpool", "zfs"], Always,
       Deed::WorksOnDisks),
    (WRITERS, Outside, Deed::TouchesOutside),
    (WRITERS, Guarded, Deed::ChangesGuarded),
    (&["cp", "mv", "ln", "install"], OutsideOf(&["-t", "--target-directory"]), Deed::TouchesOutside),
    (&["rsync", "split", "zip", "uniq"], Guarded, Deed::ChangesGuarded),
    (&["tee", "sponge"], Check(check::writes_guarded), Deed::ChangesGuarded),
    (&["git"], Check(check::git::changes_guarded), Deed::ChangesGuarded),
    (&["curl"], OutsideOf(CURL_OUTPUT), Deed::WritesOutside),
    (&["curl"], GuardedOf(CURL_OUTPUT), Deed::ChangesGuarded),
    (&["curl"], OutsideOf(&["-b", "-E", "--cookie", "--cert", "--key", "--netrc-file"]), Deed::TouchesOutside),
    (&["wget"], OutsideOf(WGET_OUTPUT), Deed::WritesOutside),
    (&["wget"], GuardedOf(WGET_OUTPUT), Deed::ChangesGuarded),
    (&["sort", "shuf", "gcc", "cc", "clang", "g++", "c++", "ld", "go", "rustc", "time"], OutsideOf(&["-o", "--output", "--out-dir"]),
      Deed::WritesOutside),
    (&["sort", "shuf"], GuardedOf(&["-o", "--output"]), Deed::ChangesGuarded),
    (&["tar", "bsdtar", "gtar", "git", "make", "gmake", "ninja"], OutsideOf(&["-C", "--directory"]), Deed::TouchesOutside),
    (&["unzip"], OutsideOf(&["-d"]), Deed::WritesOutside),
    (&["xargs"], OutsideOf(&["-a", "--arg-file"]), Deed::TouchesOutside),
    (&["chmod", "chown", "chgrp", "setfacl"], Flag(&["-R", "--recursive"]), Deed::ChangesFolders),
    (&["chmod"], Holds(&["+s", "=s", "4755", "4777", "2755", "6755"]), Deed::RunsAsOwner),
    (&["chattr", "setcap", "chcon", "setenforce"], Always, Deed::ChangesProtections),
    (&["find"], Flag(&["-delete", "-fprintf", "-fprint", "-fprint0", "-fls", "-ok", "-okdir"]),
      Deed::DeletesOrWrites),
    (&["fd", "fdfind"], Flag(&["-x", "-X", "--exec", "--exec-batch"]), Deed::RunsCommands),
    // The machine.
    (&["kill", "pkill", "killall", "killall5", "skill", "xkill", "fuser"], Always, Deed::EndsProcesses),
    (&["shutdown", "reboot", "halt", "poweroff", "init", "telinit", "systemctl", "service", "rc-service",
      "initctl", "supervisorctl", "launchctl",
       "loginctl", "pm2"], Always, Deed::StartsOrStops),
    (&["mount", "umount", "swapon", "swapoff", "losetup", "fusermount"], Always, Deed::ChangesMounts),
    (&["crontab", "at", "batch", "anacron", "atrm"], Always, Deed::RunsLater),
    (&["iptables", "ip6tables", "nft", "ufw", "firewall-cmd", "ipset", "resolvectl", "hostnamectl",
      "networksetup", "pfctl"], Always,
     Deed::ChangesNetwork),
    (&["ip", "ifconfig", "route", "tc", "nmcli"], Sub(&["add", "del", "delete", "set", "flush", "replace",
      "change", "up", "down"]), Deed::ChangesNetwork),
    (&["useradd", "userdel", "usermod", "groupadd", "groupdel", "groupmod", "passwd", "chpasswd",
      "adduser", "deluser", "gpasswd", "vipw",
       "visudo", "chsh", "chfn", "dscl"], Always, Deed::ChangesUsers),
    (&["insmod", "rmmod", "modprobe", "kexec", "sysctl", "depmod", "grub-install", "update-grub",
      "efibootmgr"], Always, Deed::ChangesKernel),
    (&["apt", "apt-get", "aptitude", "yum", "dnf", "pacman", "apk", "brew", "snap", "rpm", "dpkg",
      "zypper", "emerge"],
     Sub(&["install", "remove", "purge", "autoremove", "upgrade", "dist-upgrade", "full-upgrade", "update",
     "add", "del", "erase", "uninstall",
       "reinstall"]), Deed::ChangesPackages),
    (&["pacman", "rpm", "dpkg", "emerge"], Flag(&["-S", "-R", "-U", "-i", "-e", "-r", "-P", "--install",
      "--remove", "--purge", "--erase"]),
     Deed::ChangesPackages),
    (&["update-alternatives", "ldconfig", "ln.exe"], Always, Deed::ChangesPrograms),
    // Containers and clouds.
    (&["docker", "podman", "nerdctl"], Check(check::leaves_container), Deed::LeavesContainer),
    (&["docker", "podman", "nerdctl"], Check(check::mounts_the_machine), Deed::MountsMachine),
    (&["docker", "podman", "nerdctl", "docker-compose"], Sub(&["exec", "rm", "rmi", "kill", "prune",
      "push", "login", "down", "swarm", "stop"]),
     Deed::ChangesContainers),
    (&["kubectl", "oc", "k9s"], Sub(&["delete", "apply", "exec", "drain", "replace", "patch", "scale",
      "cordon", "uncordon", "taint", "edit",
       "create", "rollout", "cp", "attach", "run", "set", "annotate", "label", "debug", "proxy",
       "port-forward"]), Deed::ChangesCluster),
    (&["helm"], Sub(&["uninstall", "delete", "install", "upgrade", "rollback", "push"]),
      Deed::ChangesCluster),
    (&["terraform", "tofu", "terragrunt", "pulumi", "cdk", "ansible", "ansible-playbook", "salt", "puppet",
      "chef-client"],
     Sub(&["apply", "destroy", "import", "state", "taint", "up", "deploy", "force-unlock", "workspace"]),
     Deed::ChangesInfrastructure),
    (&["ansible", "ansible-playbook", "salt", "puppet", "chef-client"], Always, Deed::ChangesMachines),
    (&["aws", "gcloud", "az", "gsutil", "bq", "doctl", "heroku", "fly", "flyctl", "vercel", "netlify",
      "s3cmd", "mc", "oci", "linode-cli",
       "wrangler", "firebase", "supabase"],
     SubStart(&["delete", "terminate", "remove", "rm", "rb", "destroy", "purge", "stop", "put", "create",
     "update", "deploy", "run", "ssh",
       "reboot", "detach", "revoke", "disable", "reset", "drop", "mv", "sync", "--delete", "modify",
       "attach", "set", "add", "import",
       "publish", "invoke", "apps:destroy", "pg:reset"]), Deed::ChangesCloud),
    (&["aws", "gcloud", "az", "op", "pass", "vault", "gopass", "bw"], Sub(&["secretsmanager",
      "get-secret-value", "secrets", "access-token",
       "print-access-token", "keyvault", "read", "show", "get", "sts"]), Deed::ReadsCredentials),
    (&["secret-tool", "security", "keyctl", "gnome-keyring", "kwallet-query", "ssh-add", "ssh-keygen",
      "history", "fc"], Always,
     Deed::ReadsCredentialsOrHistory),
    (&["gpg", "gpg2"], Flag(&["--export-secret-keys", "--export-secret-subkeys", "--delete-keys",
      "--delete-secret-keys", "--import"]), Deed::RevealsKeys),
    // Git.
    (&["git"], Check(check::git::config_option), Deed::SettingsNameCommands),
    (&["git"], Check(check::git::settings), Deed::ChangesDestination),
    (&["git"], Flag(&["--exec-path", "--upload-pack", "--receive-pack", "--exec", "--extcmd",
      "--open-files-in-pager", "--config-env", "--config"]),
     Deed::RunsArgument),
    (&["git"], SubStart(&["ext::", "--upload-pack", "--exec"]), Deed::RunsArgument),
    (&["git"], Both(&["grep"], &["-O"]), Deed::RunsArgument),
    (&["git"], Both(&["clone"], &["-u", "--template"]), Deed::RunsArgument),
    (&["git"], Both(&["init"], &["--template"]), Deed::RunsArgument),
    (&["git"], Both(&["push"], &["-f", "--force", "--force-with-lease", "--force-if-includes", "--mirror",
      "--delete", "-d", "--prune"]),
     Deed::OverwritesRemote),
    (&["git"], Check(check::git::refspec), Deed::OverwritesRemote),
    (&["git"], Both(&["reset"], &["--hard", "--merge", "--keep"]), Deed::ThrowsAway),
    (&["git"], Check(check::git::clean), Deed::ThrowsAway),
    (&["git"], Check(check::git::restore), Deed::ThrowsAway),
    (&["git"], Both(&["checkout", "switch"], &["-f", "--force", "--discard-changes", "--", "--ours",
      "--theirs", "."]), Deed::ThrowsAway),
    (&["git"], Both(&["branch", "tag", "worktree"], &["-D", "-d", "--delete", "-f", "--force", "-M"]),
      Deed::ThrowsAway),
    (&["git"], Both(&["rebase"], &["-x", "--exec", "-i", "--interactive"]),
      Deed::RunsArgument),
    (&["git"], Sub(&["filter-branch", "filter-repo", "expire", "gc", "prune", "update-ref",
      "drop", "clear", "foreach",
       "bisect", "difftool", "mergetool", "daemon", "instaweb", "credential", "send-email", "fast-import"]),
     Deed::ChangesHistory),
    (&["git"], Sub(&["send-pack", "http-push"]), Deed::OverwritesRemote),
    (&["git"], Sub(&["credential-cache", "credential-libsecret", "credential-manager", "credential-manager-core",
      "credential-netrc", "credential-oauth", "credential-osxkeychain", "credential-store", "credential-wincred"]),
      Deed::ReadsCredentials),
    (&["gh"], Both(&["auth"], &["-t", "--show-token"]), Deed::ReadsCredentials),
    (&["gh", "glab", "hub"], Sub(&["delete", "merge", "archive", "transfer", "secret", "auth", "api",
      "run", "workflow", "release", "rename", "edit",
       "close", "ssh-key", "gpg-key", "variable", "alias", "extension", "sync"]),
       Deed::ChangesRepositoryHome),
    // Publishing.
    (check::PUBLISHERS, Check(check::publishes), Deed::Publishes),
    (&["cargo"], Check(check::cargo_config), Deed::SettingsNameCommands),
    (&["npm", "pnpm", "yarn"], Flag(&["--script-shell", "--node-options"]),
      Deed::SettingsNameCommands),
    // Options that name a command.
    (&["sort"], Flag(&["--compress-program"]), Deed::RunsArgument),
    (&["tar", "bsdtar", "gtar"], Flag(&["--to-command", "--checkpoint-action", "-I",
      "--use-compress-program", "-F", "--info-script",
       "--new-volume-script", "--rsh-command", "-P", "--absolute-names"]),
       Deed::RunsArgumentOrLeaves),
    (&["tar", "bsdtar", "gtar"], Check(cases::tar_runs_old_style), Deed::RunsArgumentOrLeaves),
    (RENAMERS, Check(cases::renames_by_code), Deed::CodeOnLine),
    (&["zip"], Flag(&["-T", "--unzip-command", "--test"]), Deed::RunsArgument),
    (&["split"], Flag(&["--filter"]), Deed::RunsArgument),
    (&["man", "less", "more", "most", "pg"], Flag(&["-P", "--pager", "-H", "--html", "-o", "-O"]),
      Deed::RunsArgument),
    (&["less", "more"], SubStart(&["+"]), Deed::RunsArgument),
    (&["vim", "vi", "nvim", "view", "ex", "rvim", "gvim", "vimdiff", "ed", "emacs", "nano", "pico", "joe",
      "micro", "hx"], Always,
     Deed::Edits),
    (&["rg"], Flag(&["--pre", "--hostname-bin"]), Deed::RunsArgument),
    (&["tcpdump"], Always, Deed::ListensToNetwork),
    (&["nmap", "masscan"], Always, Deed::ProbesMachines),
    (&["make", "gmake"], Flag(&["--eval"]), Deed::RunsArgument),
    (&["make", "gmake"], SubStart(&["SHELL=", "MAKEFLAGS=", "CC=", "--eval"]),
      Deed::RunsArgument),
    (&["go"], Flag(&["-toolexec", "-exec", "-overlay"]), Deed::RunsArgument),
    (&["go"], SubStart(&["-toolexec", "-exec"]), Deed::RunsArgument),
    (&["gcc", "cc", "clang", "g++", "c++", "ld"], SubStart(&["-wrapper", "-fplugin", "-plugin", "-specs",
      "--specs"]), Deed::RunsArgument),
    (&["cmake"], SubStart(&["-P", "-E"]), Deed::RunsCommands),
    (&["psql", "mysql", "sqlite3", "mariadb", "mongosh", "mongo", "redis-cli", "duckdb"], Always,
      Deed::UnreadDatabase),
    (&["openssl"], Flag(&["-engine", "-provider"]), Deed::LoadsCode),
    (&["sed", "gsed"], Check(script::sed), Deed::RunsOrWrites),
    (&["sed", "gsed"], Check(check::sed_in_place_outside), Deed::TouchesOutside),
    (&["sed", "gsed"], Check(check::sed_in_place_guarded), Deed::ChangesGuarded),
    (&["awk", "gawk", "mawk", "nawk"], Check(script::awk), Deed::RunsOrWrites),
    // The shell itself.
    (&["source", "."], Check(cases::sources_other_than_venv), Deed::SourcesFile),
    (&["alias", "unalias", "enable", "hash", "bind", "complete", "compgen", "autoload", "zmodload",
      "functions", "disable"], Always,
     Deed::ChangesMeaning),
    (&["export"], Check(cases::exports_more_than_names), Deed::ChangesVariables),
    (&["declare", "typeset", "readonly", "local", "setenv", "set-env"], Always,
      Deed::ChangesVariables),
    (&["read", "mapfile", "readarray", "getopts"], Check(check::reads_into_variable), Deed::ChangesVariables),
    (&["printf"], Check(check::prints_into_variable), Deed::ChangesVariables),
    (&["shopt", "setopt"], Sub(&["expand_aliases", "aliases", "extdebug", "dotglob", "globdots"]),
      Deed::ChangesMeaning),
    (&["mapfile", "readarray"], Flag(&["-C"]), Deed::RunsArgument),
    // What leaves the machine.
    (&["curl"], Check(sends::curl_header_file), Deed::SendsFile),
    (&["http", "https", "xh", "xhs"], Check(sends::http_item_file), Deed::SendsFile),
    (&["openssl"], Sub(&["s_client", "s_time", "s_server"]), Deed::RawConnection),
    (&["mail", "mailx", "mutt", "neomutt", "sendmail", "msmtp", "ssmtp", "s-nail", "swaks"], Always, Deed::OtherMachine),
    (&["gh"], Check(sends::makes_gist), Deed::SendsFile),
    (&["aws", "gsutil", "gcloud", "s3cmd"], Check(sends::copies_to_cloud), Deed::SendsFile),
    (&["aws"], Sub(&["send-command", "start-session", "execute-command"]), Deed::OtherMachine),
    (&["kubectl", "oc"], Check(cases::shows_secrets), Deed::ReadsCredentials),
    (&["kubectl", "oc"], Both(&["view"], &["--raw"]), Deed::ReadsCredentials),
    // What cannot be undone, elsewhere.
    (&["dropdb", "dropuser", "clickhouse", "clickhouse-client", "cqlsh", "sqlcmd", "sqlplus", "usql", "pgcli", "mycli"], Always,
      Deed::UnreadDatabase),
    (&["mysqladmin", "mariadb-admin"], Sub(&["drop", "shutdown", "kill", "password"]), Deed::UnreadDatabase),
    (&["pg_restore"], Check(cases::drops_before_restoring), Deed::UnreadDatabase),
    (&["mongorestore"], Flag(&["--drop"]), Deed::UnreadDatabase),
    (&["eksctl", "kind", "minikube", "k3d"], Sub(&["delete"]), Deed::ChangesCluster),
    (&["vault"], Sub(&["delete", "destroy", "disable", "enable", "patch", "put", "revoke", "write"]), Deed::ChangesCloud),
    (&["npm", "pnpm", "yarn"], Check(cases::npm_changes_settings), Deed::SettingsNameCommands),
    (&["git"], Check(cases::git_removes_folders), Deed::DeletesFolders),
];

/// Builtins that evaluate names or numbers, and with them any subscript.
pub(super) const EVALUATES_NAMES: &[&str] = &[
    "let",
    "read",
    "unset",
    "printf",
    "test",
    "[",
    "[[",
    "mapfile",
    "readarray",
    "wait",
    "getopts",
    "declare",
    "export",
    "expr",
];

/// Variables that change which code other commands run.
#[rustfmt::skip]
pub(super) const VARIABLES: &[&str] = &[
    "PATH", "CDPATH", "FPATH", "IFS", "ENV", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "PS0", "PS1", "PS2",
      "PS4", "PROMPT", "PROMPT_COMMAND",
    "EXECIGNORE", "GLOBIGNORE", "FIGNORE", "FCEDIT", "HISTFILE", "HOME", "SHELL", "ZDOTDIR", "TMPDIR",
      "EDITOR", "VISUAL", "PAGER", "BROWSER",
    "LESSOPEN", "LESSCLOSE", "LESS", "TERMINFO", "PERL5OPT", "PERL5LIB", "PERLLIB", "PERL5DB",
      "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME",
    "PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTHONUSERBASE", "RUBYOPT", "RUBYLIB", "GEM_PATH", "GEM_HOME",
      "BUNDLE_GEMFILE", "NODE_OPTIONS",
    "NODE_PATH", "NODE_EXTRA_CA_CERTS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS",
      "CLASSPATH", "MAVEN_OPTS", "GRADLE_OPTS",
    "RUSTC", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RUSTFLAGS", "RUSTDOC", "CARGO", "CARGO_HOME",
      "CARGO_ENCODED_RUSTFLAGS", "GOFLAGS",
    "GOPROXY", "CC", "CXX", "LD", "AR", "MAKEFLAGS", "MAKEFILES", "TAR_OPTIONS", "RSYNC_RSH", "CVS_RSH",
      "SSH_ASKPASS", "SUDO_ASKPASS",
    "SSH_AUTH_SOCK", "DOCKER_HOST", "KUBECONFIG", "LUA_INIT", "LUA_PATH", "PHPRC", "PHP_INI_SCAN_DIR",
      "R_PROFILE", "JULIA_LOAD_PATH",
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "SSLKEYLOGFILE", "CURL_HOME", "WGETRC", "OPENSSL_CONF",
      "OPENSSL_MODULES", "GCONV_PATH",
    "LOCPATH", "NLSPATH", "HOSTALIASES", "RESOLV_HOST_CONF", "DEBUGINFOD_URLS", "VIMINIT", "EXINIT",
      "INPUTRC", "MANPATH", "MANOPT",
];

/// Families of such variables, by how they begin.
pub(super) const VARIABLE_STARTS: &[&str] = &[
    "LD_",
    "DYLD_",
    "GIT_",
    "BASH_",
    "NPM_CONFIG_",
    "PIP_",
    "CARGO_TARGET_",
    "CARGO_BUILD_",
    "CARGO_ALIAS_",
    "GLIBC_",
    "MALLOC_",
    "ZSH_",
];

/// Families of such variables, by how they end.
pub(super) const VARIABLE_ENDS: &[&str] = &[
    "PAGER", "EDITOR", "_COMMAND", "_PRELOAD", "_OPTIONS", "_WRAPPER", "_RUNNER", "BROWSER",
];
