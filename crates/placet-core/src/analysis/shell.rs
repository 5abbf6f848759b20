//! Shell command lines.
use super::{Analysis, Places};
/// Analyses a shell line.
pub fn analyse(_line: &str, _places: &dyn Places, _found: &mut Analysis) {}
