//! Two patterns, one of a rule and one of a shell line: is there a path that both could mean?
//!
//! Read generously, since an answer of yes only asks or denies: a class is any character, a group in braces is anything.

/// Whether some path that the shell could make of `pattern` is one that `glob` names, or lies below it. Both are absolute.
pub(super) fn could_touch(glob: &str, pattern: &str) -> bool {
    let rule: Vec<&str> = glob.split('/').filter(|name| !name.is_empty()).collect();
    let word: Vec<&str> = pattern.split('/').filter(|name| !name.is_empty()).collect();
    // A group with a slash in it is several folders; from there on anything goes.
    let fixed = rule
        .iter()
        .position(|name| name.contains('{') && !name.contains('}'));
    let rule = rule.get(..fixed.unwrap_or(rule.len())).unwrap_or_default();
    // `meets[j]` says whether what is left of the rule could meet what is left of the word from its name `j` on; at first
    // nothing of the rule is left, and everything lies below it.
    let mut meets = vec![true; word.len() + 1];
    for own in rule.iter().rev() {
        let mut next = vec![false; word.len() + 1];
        for at in (0..=word.len()).rev() {
            let name = word.get(at).copied();
            let is = |list: &[bool], at: usize| list.get(at).copied().unwrap_or_default();
            let meet = match (*own, name) {
                ("**", _) => is(&meets, at) || is(&next, at + 1),
                (_, Some("**")) => is(&next, at + 1) || is(&meets, at),
                (own, Some(name)) => is(&meets, at + 1) && names_meet(own, name),
                (_, None) => false,
            };
            if let Some(place) = next.get_mut(at) {
                *place = meet;
            }
        }
        meets = next;
    }
    meets.first().copied().unwrap_or_default()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    Char(char),
    One,
    Any,
}

fn pieces(name: &str) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(name.len());
    let mut chars = name.chars();
    while let Some(c) = chars.next() {
        let rest = chars.as_str();
        pieces.push(match c {
            '*' => Piece::Any,
            '?' => Piece::One,
            '\\' => chars.next().map_or(Piece::Char(c), Piece::Char),
            '[' if rest.chars().skip(1).any(|c| c == ']') => {
                let end = rest.char_indices().skip(1).find(|(_, c)| *c == ']');
                chars = end
                    .and_then(|(at, _)| rest.get(at + 1..))
                    .unwrap_or_default()
                    .chars();
                Piece::One
            }
            '{' | '(' => {
                let close = if c == '{' { '}' } else { ')' };
                chars = rest.rsplit_once(close).map_or("", |(_, after)| after).chars();
                Piece::Any
            }
            c => Piece::Char(c),
        });
    }
    pieces
}

/// Whether some name fits both. A shell's star finds no name that starts with a dot.
fn names_meet(own: &str, name: &str) -> bool {
    if own.starts_with('.') && name.starts_with(['*', '?', '[']) {
        return false;
    }
    let (own, name) = (pieces(own), pieces(name));
    let mut meets: Vec<bool> = (0..=name.len())
        .map(|at| name.iter().skip(at).all(|piece| *piece == Piece::Any))
        .collect();
    for piece in own.iter().rev() {
        let mut next = vec![false; name.len() + 1];
        for at in (0..=name.len()).rev() {
            let is = |list: &[bool], at: usize| list.get(at).copied().unwrap_or_default();
            let meet = match (*piece, name.get(at).copied()) {
                (Piece::Any, _) => is(&meets, at) || is(&next, at + 1),
                (_, Some(Piece::Any)) => is(&next, at + 1) || is(&meets, at),
                (Piece::Char(a), Some(Piece::Char(b))) => a == b && is(&meets, at + 1),
                (_, Some(_)) => is(&meets, at + 1),
                (_, None) => false,
            };
            if let Some(place) = next.get_mut(at) {
                *place = meet;
            }
        }
        meets = next;
    }
    meets.first().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn patterns_that_could_mean_the_same_path_meet() {
        for (glob, pattern) in [
            ("/w/secrets/**", "/w/s*/key"),
            ("/w/secrets/**", "/w/s*"),
            ("/w/secrets/**", "/w/[s]ecrets/key"),
            ("/w/secrets/**", "/w/secrets/*"),
            ("/w/secrets/**", "/*/secrets/key"),
            ("/w/secrets/**", "/w/**/key"),
            ("/w/**/*.key", "/w/a/b/c*"),
            ("/w/{a,b}/x", "/w/?/x"),
            ("/w/{a/b,c}/x", "/w/?/b/x"),
            ("/w/.env", "/w/.e*"),
            ("/w/src/secret.rs", "/w/src/*"),
        ] {
            assert!(could_touch(glob, pattern), "{glob} {pattern}");
        }
        for (glob, pattern) in [
            ("/w/secrets/**", "/w/src/*.rs"),
            ("/w/secrets/**", "/w/t*/key"),
            ("/w/.env", "/w/*"),
            ("/w/.env", "/w/?env"),
            ("/w/secrets/key", "/w/s*"),
            ("/w/**/*.key", "/w/*.rs"),
        ] {
            assert!(!could_touch(glob, pattern), "{glob} {pattern}");
        }
    }

    proptest! {
        #[test]
        fn what_a_name_fits_meets_it(pattern in "[ab*?]{0,6}", name in "[ab]{1,6}") {
            let fits = globset::Glob::new(&pattern).unwrap().compile_matcher().is_match(&name);
            prop_assert_eq!(names_meet(&name, &pattern), fits);
            prop_assert_eq!(names_meet(&pattern, &name), fits);
        }
    }
}
