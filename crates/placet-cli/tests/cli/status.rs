//! `placet` without a command: where you are, and what to do next.

use std::io::{BufRead as _, BufReader};

use placet_core::interaction::Locale;
use placet_core::messages::{Message, status};
use serde_json::Value;

use crate::beside;
use crate::world::World;

const ZH: &str = "[approval]\nlocale = 'zh'\n";

fn says(out: &str, message: &Message, locale: Locale) -> bool {
    out.contains(&message.say(locale))
}

#[test]
fn on_a_new_machine_it_says_that_nothing_happened_and_how_to_start() {
    let world = World::new();
    let (out, err) = world.said(&[], 0);
    let en = Locale::English;
    for message in [
        status::stopped(),
        status::nothing_yet(),
        status::built_in(),
        status::demo(),
        status::serve(),
        status::init(),
        status::help(),
    ] {
        assert!(says(&out, &message, en), "{message} is missing in\n{out}");
    }
    assert!(!says(&out, &status::review(), en), "{out}");
    assert!(!says(&out, &status::chat(), en), "no model is configured: {out}");
    assert!(!says(&out, &status::audit(), en), "{out}");
    assert_eq!(err, "");
    let made: Vec<_> = std::fs::read_dir(world.path(".")).unwrap().collect();
    assert!(made.is_empty(), "looking creates nothing: {made:?}");
}

#[test]
fn with_a_configuration_it_names_the_file_and_speaks_its_language() {
    let world = World::new();
    world.write("placet.toml", ZH);
    let (out, _) = world.said(&[], 0);
    let zh = Locale::Chinese;
    for message in [
        status::rules(0_u32, "placet.toml"),
        status::server(),
        status::requests(),
        status::nothing_yet(),
        status::next(),
        status::test(),
    ] {
        assert!(
            says(&out, &message, zh),
            "{} is missing in\n{out}",
            message.say(zh)
        );
    }
    assert!(!says(&out, &status::init(), zh), "there is a file already: {out}");
    assert!(!says(&out, &status::nothing_yet(), Locale::English), "{out}");
}

#[test]
fn a_file_that_is_refused_is_explained() {
    let world = World::new();
    world.write("placet.toml", "[approval]\nmodus = 'x'\n");
    let (out, err) = world.said(&[], 2);
    assert_eq!(out, "");
    assert!(err.contains("placet.toml:2:1"), "{err}");
}

#[test]
fn it_counts_what_is_pending_and_says_who_owns_the_store() {
    let world = World::new();
    world.write(
        "placet.toml",
        "[approval]\ntimeout = '1h'\n[models.main]\nprovider = 'scripted'\nscript = 'script.toml'\n",
    );
    world.write(
        "script.toml",
        "[[turns]]\ntext = 'I write.'\ncalls = [{ tool = 'write', args = { path = 'a.txt', content = 'a' } }]\n\
         [[turns]]\ntext = 'Done.'\n",
    );
    let mut run = beside::spawn(&world, &["run", "write a file", "--wait"]);
    let mut line = String::new();
    BufReader::new(run.stderr.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let (out, _) = world.said(&[], 0);
    let en = Locale::English;
    for message in [
        status::owner(),
        status::pending(1_u32),
        status::review(),
        status::chat(),
        status::audit(),
    ] {
        assert!(says(&out, &message, en), "{message} is missing in\n{out}");
    }
    assert!(!says(&out, &status::demo(), en), "it is not new: {out}");
    run.kill().unwrap();
    run.wait().unwrap();
    let (out, _) = world.said(&[], 0);
    assert!(
        says(&out, &status::stopped(), en) && says(&out, &status::pending(1_u32), en),
        "what was asked is still pending: {out}"
    );
}

#[test]
fn a_running_server_is_named_with_its_address() {
    let world = World::new();
    let mut server = beside::spawn(&world, &["serve", "--listen", "127.0.0.1:0", "--json"]);
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let started: Value = serde_json::from_str(&line).unwrap();
    let address = started["listen"].as_str().unwrap().to_owned();
    let (out, _) = world.said(&[], 0);
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(out.contains(&address), "{address} is missing in\n{out}");
    assert!(says(&out, &status::connect(), Locale::English), "{out}");
    assert!(!says(&out, &status::serve(), Locale::English), "{out}");
}
