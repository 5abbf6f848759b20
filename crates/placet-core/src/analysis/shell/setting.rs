//! Variables that a rule which allows a command may overlook: a plain value under a name that steers nothing.

use super::judge;

/// Families of variables that say with whom or where a program works.
#[rustfmt::skip]
const ELSEWHERE: &[&str] = &[
    "AWS", "AZURE", "ARM_", "CLOUDSDK", "CONTEXT", "DATABASE", "DB_", "DOCKER", "GCLOUD", "GCP", "GH_", "GITHUB", "GOOGLE", "HELM", "HOST",
    "KUBE", "MONGO", "MYSQL", "PG", "POSTGRES", "REDIS", "SSH", "TF_", "VAULT",
];

/// Whether `NAME=value` says nothing that a rule about the command would have to name.
pub(super) fn is_ordinary(text: &str) -> bool {
    let Some((name, value)) = text.split_once('=') else {
        return false;
    };
    let upper = name.to_ascii_uppercase();
    let value = unquoted(value);
    // No path, no address, nothing the shell would still look into.
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.' | ',' | ' ');
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !ELSEWHERE.iter().any(|start| upper.starts_with(start))
        && value.chars().all(is_plain)
        && judge::assignments(std::slice::from_ref(&text.to_owned())).is_none()
}

fn unquoted(value: &str) -> &str {
    let within = |quote: char| {
        let inner = value.strip_prefix(quote)?.strip_suffix(quote)?;
        Some(inner)
    };
    within('"').or_else(|| within('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_value_under_a_name_that_steers_nothing_is_ordinary() {
        for text in [
            "RUST_BACKTRACE=1",
            "CI=true",
            "NODE_ENV='test'",
            "X=",
            "RUST_LOG=debug,placet",
            "A=\"b c\"",
        ] {
            assert!(is_ordinary(text), "{text}");
        }
        for text in [
            "PATH=.",
            "LD_PRELOAD=x",
            "X=$(id)",
            "X=$Y",
            "X=`id`",
            "X=../a",
            "X=/etc",
            "X=http://a",
            "AWS_PROFILE=prod",
            "PGHOST=prod",
            "KUBECONFIG=x",
            "X+=1",
            "a[0]=1",
            "X",
            "NODE_OPTIONS=x",
            "X=.env",
            "X=~",
            "GIT_DIR=x",
            "X=*",
            "X=(a b)",
        ] {
            assert!(!is_ordinary(text), "{text}");
        }
    }
}
