//! `--resume`: where the conversation was, also after a kill that nothing could be tidied up after.

use crate::person::{Lin, WRITES, house};

#[test]
fn a_conversation_killed_while_it_asked_goes_on_with_its_question() {
    let world = house(WRITES);
    let mut lin = Lin::talks(&world, &[]);
    let session = lin.session();
    lin.says("write a file");
    lin.is_asked();
    lin.kills_the_program("-KILL");
    lin.ends();
    assert!(!world.path("a.txt").exists());
    let mut lin = Lin::starts(&world, &["--resume", &session]);
    lin.sees("› write a file");
    lin.is_asked();
    lin.types("y");
    lin.sees("Written.");
    assert_eq!(std::fs::read_to_string(world.path("a.txt")).unwrap(), "a");
    lin.leaves();
}

#[test]
fn without_a_name_the_newest_conversation_goes_on_and_its_last_words_are_shown() {
    let world = house("[[turns]]\ntext = 'Good day.'\n[[turns]]\ntext = 'Good evening.'\n");
    let mut lin = Lin::talks(&world, &[]);
    let session = lin.session();
    lin.says("hello");
    lin.sees("Good day.");
    lin.leaves();
    let mut lin = Lin::talks(&world, &["--resume"]);
    lin.sees(&session);
    lin.sees("Good day.");
    lin.says("hello again");
    lin.sees("Good evening.");
    lin.leaves();
}

#[test]
fn what_is_not_there_or_not_theirs_cannot_be_resumed() {
    let world = house(WRITES);
    for (args, said) in [
        (&["--resume"][..], "no conversation here yet"),
        (&["--resume", "chat_nobody"][..], "no chat `chat_nobody`"),
    ] {
        let mut lin = Lin::starts(&world, args);
        lin.sees(said);
        lin.ends();
    }
}
