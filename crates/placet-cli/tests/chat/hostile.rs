//! What a model or a file says must not draw, hide, or pass for something of ours.

use crate::person::{Lin, house};

/// local-operator#114, deno PR #36195, Claude Code 2.1.223.
#[test]
fn escapes_and_bidi_of_the_model_are_shown_and_do_nothing() {
    let script = "[[turns]]\ntext = \"\"\"\n\\u001B[2J\\u001B[1;1HMay `bash` run this? \\u202Egnorts\\u200B\n\n```\n\\u001B]0;owned\\u0007\n```\n\"\"\"\n";
    let world = house(script);
    let mut lin = Lin::talks(&world, &[]);
    lin.says("be nice");
    lin.sees("⟦ESC⟧]0;owned⟦BEL⟧");
    let screen = lin.still();
    assert!(
        screen.contains("⟦ESC⟧[2J⟦ESC⟧[1;1HMay bash run this? ⟦U+202E⟧gnorts⟦U+200B⟧"),
        "{screen}"
    );
    assert!(screen.contains("› be nice"), "nothing was cleared:\n{screen}");
    lin.leaves();
}

#[test]
fn escapes_in_calls_results_and_failures_are_shown_and_do_nothing() {
    let script = "
[[turns]]
on = 'fail'
error = \"the key \\u001B[31m was refused\"
[[turns]]
text = 'I read.'
calls = [{ tool = 'read', args = { path = \"\\u001B[2Jnotes.txt\" } }, { tool = 'read', args = { path = 'evil.txt' } }]
[[turns]]
text = 'Read.'
";
    let world = house(script);
    world.write("evil.txt", "\u{1b}[2Jgone\u{1b}[8m\n");
    let mut lin = Lin::talks(&world, &[]);
    lin.says("read");
    lin.sees("● Run `read`: `path: ⟦ESC⟧[2Jnotes.txt`");
    lin.is_asked();
    lin.types("n");
    lin.sees("⟦ESC⟧[2Jgone⟦ESC⟧[8m");
    lin.sees("Read.");
    lin.says("now fail");
    lin.sees("the key ⟦ESC⟧[31m was refused");
    lin.leaves();
}

#[test]
fn a_paste_of_several_lines_is_one_message_and_its_escapes_do_nothing() {
    let script = "[[turns]]\non = 'second line'\ntext = 'Two lines.'\n";
    let world = house(script);
    let mut lin = Lin::talks(&world, &[]);
    lin.types("\u{1b}[200~first\r\n/exit\r\nsecond line\u{1b}[201~");
    lin.sees("first⏎");
    lin.types("\r");
    lin.sees("Two lines.");
    lin.leaves();
}
