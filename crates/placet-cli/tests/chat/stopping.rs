//! Ctrl-C once stops what the agent is doing; twice leaves.

use crate::person::{CONFIG, Lin, WRITES, house, house_with};
use crate::provider::{Provider, Reply, openai};

#[test]
fn ctrl_c_stops_a_command_and_the_conversation_goes_on() {
    let script = "
[[turns]]
on = 'again'
text = 'Here I am.'
[[turns]]
text = 'I wait.'
calls = [{ tool = 'bash', args = { command = 'echo begun > begun; sleep 100; echo late > late' } }]
[[turns]]
text = 'never'
";
    let world = house(script);
    let mut lin = Lin::talks(&world, &[]);
    lin.says("wait");
    lin.is_asked();
    lin.types("y");
    lin.waits_until("the command", |_| world.path("begun").exists());
    lin.sees("Ctrl-C stops it");
    lin.types("\u{3}");
    lin.sees("Stopped. What do you want instead?");
    lin.sees("it may have happened in");
    lin.says("say something again");
    lin.sees("Here I am.");
    assert!(!world.path("late").exists());
    lin.leaves();
}

/// A provider that begins to speak and then says nothing, as a slow one does.
#[test]
fn ctrl_c_stops_the_model_and_what_it_said_until_then_stays() {
    let begun = openai("Let me think about it for a very long time", &[]);
    let half = begun[..begun.len() * 2 / 3].to_owned();
    let whole = Reply::Stream {
        body: openai("Here I am.", &[]),
        piece_bytes: 64,
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let provider = runtime.block_on(Provider::start(vec![Reply::Silence { body: half }, whole]));
    let model = format!(
        "provider = 'openai'\nmodel = 'm'\nbase_url = '{}'\n",
        provider.url
    );
    let config = CONFIG.replace("provider = 'scripted'\nscript = 'script.toml'\n", &model);
    let world = house_with(&config, "");
    let mut lin = Lin::talks(&world, &[]);
    lin.says("think");
    lin.sees("Let me think");
    lin.types("\u{3}");
    lin.sees("Stopped. What do you want instead?");
    assert!(lin.screen().contains("Let me think"));
    lin.says("hello?");
    lin.sees("Here I am.");
    lin.leaves();
}

#[test]
fn ctrl_c_twice_leaves_and_says_how_to_go_on() {
    let world = house("[[turns]]\ntext = 'Good day.'\n");
    let mut lin = Lin::talks(&world, &[]);
    lin.says("hello");
    lin.sees("Good day.");
    lin.types("\u{3}");
    lin.sees("Ctrl-C again leaves");
    lin.types("x");
    lin.sees_no_more("Ctrl-C again leaves");
    lin.types("\u{3}");
    lin.sees("Ctrl-C again leaves");
    lin.types("\u{3}");
    lin.ends();
    lin.sees("placet chat --resume chat_");
}

#[test]
fn a_signal_gives_the_terminal_back() {
    let world = house("[[turns]]\ntext = 'Good day.'\n");
    let mut lin = Lin::talks(&world, &[]);
    lin.kills_the_program("-TERM");
    lin.ends();
    lin.waits_until("the cursor", |screen| !screen.hide_cursor());
}

#[test]
fn a_conversation_beside_another_shows_only_its_own_question_and_goes_on_when_the_owner_leaves() {
    let world = house(WRITES);
    let owner = Lin::talks(&world, &[]);
    let mut beside = Lin::talks(&world, &[]);
    beside.says("write it");
    beside.is_asked();
    let screen = owner.still();
    assert!(
        !screen.contains("a.txt"),
        "not this conversation's question:\n{screen}"
    );
    owner.leaves();
    beside.types("y");
    beside.sees("continuing without it");
    beside.is_asked();
    beside.types("y");
    beside.sees("Written.");
    beside.leaves();
}
