//! URLs.
use super::Analysis;
/// Analyses a URL.
pub fn analyse(_url: &str, _found: &mut Analysis) {}
