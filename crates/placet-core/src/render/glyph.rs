//! Characters by what a person sees of them: nothing, something else, or the character.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_security::general_security_profile::{GeneralSecurityProfile, IdentifierType};
use unicode_security::mixed_script::AugmentedScriptSet;
use unicode_security::{is_potential_mixed_script_confusable_char, skeleton};

/// Whether a character is invisible, moves or hides its neighbours, or is shown differently everywhere: controls, bidi,
/// zero-width and other ignorables, odd spaces, strike-outs, private and unassigned code points.
///
/// Tabs and line breaks are controls too; a caller that can show them does so first.
pub(crate) fn is_hidden(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    let blank = (c.is_whitespace() && c != '\u{3000}') || matches!(c, '\u{2800}' | '\u{fffc}');
    let interlinear = matches!(c, '\u{fff9}'..='\u{fffb}');
    c.is_control() || blank || interlinear || strikes_out(c) || is_ignorable_or_unassigned(c)
}

fn is_ignorable_or_unassigned(c: char) -> bool {
    matches!(
        c.identifier_type(),
        None | Some(IdentifierType::Not_Character | IdentifierType::Default_Ignorable)
    ) || matches!(c, '\u{206a}'..='\u{206f}' | '\u{e0000}'..='\u{e0fff}')
}

/// Drawn over the character before it, so that it cannot be read.
fn strikes_out(c: char) -> bool {
    matches!(c, '\u{0334}'..='\u{0338}' | '\u{20d0}'..='\u{20f0}' | '\u{0488}' | '\u{0489}')
}

/// Whether a character is a mark on the one before it.
pub(crate) fn is_mark(c: char) -> bool {
    !c.is_ascii() && is_combining_mark(c)
}

/// Whether a character belongs to Chinese, Japanese or Korean writing.
pub(crate) fn is_cjk(c: char) -> bool {
    if c.is_ascii() {
        return false;
    }
    let scripts = AugmentedScriptSet::for_char(c);
    !scripts.is_all() && (scripts.hanb || scripts.jpan || scripts.kore)
}

/// Whether a character is part of a word whose look-alikes matter: letters and marks outside CJK, and ASCII digits.
pub(crate) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || (!c.is_ascii() && (c.is_alphabetic() || is_mark(c)) && !is_cjk(c))
}

/// What a word pretends to be.
pub(crate) enum LookAlike {
    /// Reads as this ASCII text.
    Ascii(String),
    /// Mixes writing systems with letters that exist in both.
    Mixed,
}

/// Whether a word looks like another one: `раypal` with Cyrillic letters, `ｒｍ` in full width.
pub(crate) fn look_alike(word: &str) -> Option<LookAlike> {
    if word.is_ascii() {
        return None;
    }
    let ascii: String = word.chars().flat_map(looks_like).collect();
    if ascii.is_ascii() && !ascii.is_empty() {
        return Some(LookAlike::Ascii(ascii));
    }
    let mixed = AugmentedScriptSet::for_str(word).is_empty();
    let confusable = word
        .chars()
        .any(|c| !c.is_ascii() && is_potential_mixed_script_confusable_char(c));
    (mixed && confusable).then_some(LookAlike::Mixed)
}

/// The ASCII a single character looks like, as typographic quotes, dashes and slashes do.
pub(crate) fn look_alike_sign(c: char) -> Option<String> {
    let ascii: String = looks_like(c).into_iter().collect();
    (!c.is_ascii() && ascii.is_ascii() && !ascii.is_empty()).then_some(ascii)
}

fn looks_like(c: char) -> Vec<char> {
    if c.is_ascii() {
        return vec![c];
    }
    let compatible: Vec<char> = [c].into_iter().nfkc().collect();
    if compatible.iter().all(char::is_ascii) {
        return compatible;
    }
    let mut buffer = [0; 4];
    skeleton(c.encode_utf8(&mut buffer)).collect()
}
