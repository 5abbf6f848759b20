//! Paths as text: `.`, `..` and `//` taken out. Where links lead is asked of [`Places`](crate::analysis::Places).

/// Takes `.`, `..` and `//` out of an absolute path.
pub fn shorten(absolute: &str) -> String {
    join("", absolute)
}

/// The same for a path in two parts.
pub fn join(start: &str, rest: &str) -> String {
    let mut short = String::with_capacity(start.len() + rest.len() + 2);
    walk(&mut short, start);
    walk(&mut short, rest);
    or_root(short)
}

/// Goes from a folder where `path` leads.
pub fn walk(folder: &mut String, path: &str) {
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => folder.truncate(folder.rfind('/').unwrap_or(0)),
            name => {
                folder.push('/');
                folder.push_str(name);
            }
        }
    }
}

/// The path, or the root when nothing is left of it.
pub fn or_root(path: String) -> String {
    if path.is_empty() { "/".to_owned() } else { path }
}

/// Whether the text holds what a shell takes for a pattern.
pub fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '['])
}
