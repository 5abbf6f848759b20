//! What the tables of the tests share.

use placet_core::analysis::Why;

/// A reason as the tables show it: the value, which stays when its sentence changes.
pub(crate) fn value(why: Option<&Why>) -> String {
    why.map(|why| format!("{why:?}")).unwrap_or_default()
}
