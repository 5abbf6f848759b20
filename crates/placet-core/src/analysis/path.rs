//! Paths.
use super::{Analysis, Places};
/// What a path is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// It is read.
    Read,
    /// It is written.
    Write,
}
/// Analyses a path.
pub fn analyse(_path: &str, _usage: Use, _places: &dyn Places, _found: &mut Analysis) {}
