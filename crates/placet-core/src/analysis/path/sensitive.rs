//! Files inside the workspace that are not ordinary: they hold secrets, or they decide what runs next.

/// Why a file is not ordinary. The larger counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sensitive {
    /// Writing it changes what runs later, or what is asked; the reason says which.
    Guarded(&'static str),
    /// Reading it gives away credentials.
    Secret,
}

const RUNS_IN_GIT: &str = "git runs or obeys what is written there";
const RUNS_AT_START: &str = "a shell or tool runs it when it starts";
const STEERS_AGENTS: &str = "it decides what an agent or editor may do unasked";

/// What is special about a path below the workspace, if anything. Letter case is ignored, because some disks ignore it.
pub(super) fn of(path: &str) -> Option<Sensitive> {
    let path = path.to_lowercase();
    let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
    let (file, folders) = names.split_last()?;
    if is_secret_file(file)
        || folders
            .iter()
            .chain([file])
            .any(|name| SECRET_FOLDERS.contains(name))
    {
        return Some(Sensitive::Secret);
    }
    let inside_secret = SECRET_PLACES
        .iter()
        .any(|place| names.windows(2).any(|pair| pair == place));
    if inside_secret {
        return Some(Sensitive::Secret);
    }
    let guarded_folder = names.iter().find_map(|name| guard_of_folder(name));
    guarded_folder
        .or_else(|| guard_of_file(file, folders))
        .map(Sensitive::Guarded)
}

const SECRET_FOLDERS: [&str; 4] = [".ssh", ".gnupg", ".password-store", ".kube"];

const SECRET_PLACES: [[&str; 2]; 8] = [
    [".aws", "credentials"],
    [".aws", "config"],
    [".aws", "sso"],
    [".azure", "accesstokens.json"],
    [".config", "gcloud"],
    [".config", "gh"],
    [".docker", "config.json"],
    [".cargo", "credentials.toml"],
];

fn is_secret_file(file: &str) -> bool {
    // `tokens.toml` is where Placet itself keeps the approver's token: who reads it can answer for the approver.
    const NAMES: [&str; 18] = [
        ".env",
        ".netrc",
        "_netrc",
        ".pgpass",
        ".my.cnf",
        ".npmrc",
        ".pypirc",
        ".git-credentials",
        ".htpasswd",
        ".dockercfg",
        "id_rsa",
        "id_dsa",
        "id_ecdsa",
        "id_ed25519",
        "credentials.json",
        "tokens.toml",
        ".vault-token",
        "service-account.json",
    ];
    const ENDINGS: [&str; 8] = [
        ".pem",
        ".key",
        ".p12",
        ".pfx",
        ".jks",
        ".keystore",
        ".kdbx",
        ".ppk",
    ];
    const SAMPLES: [&str; 5] = [
        ".env.example",
        ".env.sample",
        ".env.template",
        ".env.dist",
        ".env.defaults",
    ];
    let env = file.starts_with(".env.") && !SAMPLES.contains(&file);
    env || NAMES.contains(&file) || ENDINGS.iter().any(|ending| file.ends_with(ending))
}

fn guard_of_folder(name: &str) -> Option<&'static str> {
    match name {
        ".git" | ".husky" | ".githooks" => Some(RUNS_IN_GIT),
        ".claude" | ".cursor" | ".codex" | ".gemini" | ".windsurf" | ".continue" | ".vscode" | ".idea"
        | ".devcontainer" => Some(STEERS_AGENTS),
        _ => None,
    }
}

fn guard_of_file(file: &str, folders: &[&str]) -> Option<&'static str> {
    match file {
        ".gitconfig" | ".gitmodules" => Some(RUNS_IN_GIT),
        ".bashrc" | ".bash_profile" | ".bash_login" | ".bash_logout" | ".bash_aliases" | ".profile"
        | ".zshrc" | ".zshenv" | ".zprofile" | ".zlogin" | ".zlogout" | ".kshrc" | ".cshrc" | ".tcshrc"
        | ".login" | ".inputrc" | ".envrc" | ".vimrc" | ".exrc" | ".tmux.conf" | ".screenrc"
        | ".xprofile" | ".xinitrc" | "config.fish" => Some(RUNS_AT_START),
        "placet.toml" | "workflow.toml" | ".mcp.json" | "mcp.json" | ".claude.json" | ".aider.conf.yml"
        | ".cursorrules" | ".windsurfrules" => Some(STEERS_AGENTS),
        _ if file.ends_with(".code-workspace") => Some(STEERS_AGENTS),
        _ if folders.contains(&"fish") || folders.contains(&"autostart") => Some(RUNS_AT_START),
        _ => None,
    }
}
