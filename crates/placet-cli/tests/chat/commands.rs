//! What begins with a slash.

use crate::person::{Lin, WRITES, house};
use placet_core::messages::{allow_list, talk};

const NOTHING: &str = "
[[turns]]
on = 'nothing'
text = 'Good.'
";

#[test]
fn a_mode_is_set_for_this_conversation_only_under_the_persons_name_and_in_the_journal() {
    let world = house(&format!("{NOTHING}{WRITES}"));
    let mut lin = Lin::talks(&world, &[]);
    let session = lin.session();
    lin.says("/mode autoEdit");
    lin.sees("edits inside the workspace are allowed");
    lin.says("write a file");
    lin.sees("Written.");
    assert!(world.path("a.txt").exists(), "nobody was asked");
    lin.says("/new");
    lin.waits_until("another conversation", |screen| {
        !screen.contents().ends_with(&session)
    });
    lin.says("/mode");
    lin.sees("default: reads are allowed");
    lin.leaves();
    let (rows, _) = world.said(&["audit", "list", "--db", "placet.db", "--type", "modeSet"], 0);
    assert!(rows.contains("lin") && rows.contains("autoEdit"), "{rows}");
}

#[test]
fn the_sessions_approval_tools_are_set_from_the_terminal() {
    let world = house(&format!("{NOTHING}{WRITES}"));
    let mut lin = Lin::talks(&world, &[]);
    lin.says("/allow");
    lin.sees(&allow_list::none().to_string());
    lin.says("/allow write");
    // The screen breaks the rest of it.
    let listed = allow_list::listed(["write"]).to_string();
    lin.sees(listed.split(". ").next().unwrap());
    lin.says("write a file");
    lin.sees("Written.");
    assert!(world.path("a.txt").exists(), "nobody was asked");
    lin.leaves();
    let (rows, _) = world.said(
        &["audit", "list", "--db", "placet.db", "--type", "toolAllowed"],
        0,
    );
    assert!(rows.contains("lin") && rows.contains("write"), "{rows}");
}

#[test]
fn help_and_tools_are_listed_and_what_is_no_command_is_not_sent() {
    let world = house(&format!("{NOTHING}{WRITES}"));
    let mut lin = Lin::talks(&world, &[]);
    lin.says("/help");
    lin.sees(&talk::help_stop().to_string());
    lin.says("/tools");
    lin.sees("bash");
    lin.sees("command");
    lin.says("/frobnicate");
    lin.sees(&talk::no_command("/help").to_string());
    lin.says("/mode fast");
    lin.sees(&talk::no_mode(["`default`", "`autoEdit`", "`yolo`"], "fast").to_string());
    lin.says("/exit");
    lin.ends();
    assert!(
        !lin.screen().contains("--resume chat_"),
        "nothing was said that could go on"
    );
}

#[test]
fn a_standing_grant_is_listed_and_taken_back() {
    let script = "
[[turns]]
text = 'I fetch.'
calls = [{ tool = 'bash', args = { command = 'git --version' } }]
[[turns]]
text = 'Fetched.'
";
    let world = house(script);
    let mut lin = Lin::talks(&world, &[]);
    lin.says("/grants");
    lin.sees(&talk::no_grants().to_string());
    lin.says("fetch");
    lin.is_asked();
    lin.types("a");
    lin.sees("Approve on these terms");
    lin.types("y");
    lin.sees("Fetched.");
    lin.says("/grants");
    lin.waits_until("the grant", |screen| {
        screen.contents().contains("1 ") && screen.contents().contains("lin · ")
    });
    lin.says("/grants revoke 7");
    lin.sees(&talk::no_such_grant().to_string());
    lin.says("/grants revoke 1");
    lin.sees(&talk::revoked().to_string());
    lin.leaves();
}

#[test]
fn another_conversation_is_gone_on_with() {
    let world = house("[[turns]]\non = 'first'\ntext = 'One.'\n[[turns]]\non = 'second'\ntext = 'Two.'\n");
    let mut lin = Lin::talks(&world, &[]);
    let first = lin.session();
    lin.says("the first");
    lin.sees("One.");
    lin.says("/new");
    lin.waits_until("a new name", |screen| {
        screen.contents().matches("placet chat · ").count() == 2
    });
    lin.says("/resume");
    lin.sees(&first);
    lin.says("/resume chat_nobody");
    lin.sees(&talk::not_yours("chat_nobody").to_string());
    lin.says(&format!("/resume {first}"));
    lin.waits_until("the first again", |screen| {
        screen.contents().matches("One.").count() == 2
    });
    lin.says("the second");
    lin.sees("Two.");
    lin.leaves();
}
