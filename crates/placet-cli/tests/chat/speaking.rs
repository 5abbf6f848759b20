//! What the model says, as a person sees it.

use crate::person::{CONFIG, Lin, house, house_with};
use crate::record::recorded;

const ANSWER: &str = r#"
[[turns]]
thinking = "The person wants to know about the folder."
text = """
## Two files

The folder holds **two** files:

1. `a.txt`
2. `b.txt`, see [the manual](https://example.com/b)

```sh
rm b.txt
```
"""
"#;

#[test]
fn an_answer_is_laid_out_and_its_thoughts_are_dim() {
    let world = house(ANSWER);
    let mut lin = Lin::talks(&world, &[]);
    lin.says("what is in here?");
    lin.sees("│ rm b.txt");
    lin.sees_bold("Two files");
    lin.waits_until("dim thoughts", |screen| {
        let (rows, cols) = screen.size();
        (0..rows.get()).any(|row| {
            let line: String = (0..cols.get())
                .filter_map(|col| screen.cell(row, col))
                .map(|cell| cell.contents().to_owned())
                .collect();
            line.starts_with("The") && screen.cell(row, 0).is_some_and(vt100::Cell::dim)
        })
    });
    let screen = lin.still();
    for seen in [
        "› what is in here?",
        "The folder holds two files:",
        "1. a.txt",
        "the manual (https://example.com/b)",
    ] {
        assert!(screen.contains(seen), "{seen:?} is missing in\n{screen}");
    }
    lin.leaves();
}

#[test]
fn one_message_follows_another_and_earlier_lines_come_back() {
    let script = "[[turns]]\non = 'name'\ntext = 'You said it before.'\n[[turns]]\ntext = 'Good day.'\n";
    let world = house(script);
    let mut lin = Lin::talks(&world, &[]);
    lin.says("hello");
    lin.sees("Good day.");
    lin.says("what is my name?");
    lin.sees("You said it before.");
    lin.types("\u{1b}[A\u{1b}[A");
    lin.waits_until("the first line", |screen| {
        screen.contents().lines().any(|line| line.trim_end() == "› hello")
            && screen.contents().matches("› hello").count() == 2
    });
    lin.types("\u{3}");
    lin.sees("Ctrl-C again leaves");
    lin.leaves();
}

#[test]
fn calls_and_results_are_short_lines() {
    let script = "[[turns]]\ntext = 'I look.'\ncalls = [{ tool = 'read', args = { path = 'notes.txt' } }]\n[[turns]]\ntext = 'Read.'\n";
    let world = house(script);
    world.write("notes.txt", "buy tea\nbuy milk\n");
    let mut lin = Lin::talks(&world, &[]);
    lin.says("what do the notes say?");
    lin.sees("● Read `notes.txt`");
    lin.sees("Read.");
    lin.sees("✔");
    lin.leaves();
}

#[test]
fn it_speaks_chinese() {
    let config = CONFIG.replace("memory", "locale = 'zh'\nmemory");
    let script = "[[turns]]\ntext = '- 文件夹里有**三个**文件，需要先备份'\n";
    let world = house_with(&config, script);
    let mut lin = Lin::talks(&world, &[]);
    lin.sees("/help 列出命令");
    lin.says("这里有什么？");
    lin.sees("• 文件夹里有三个文件，需要先备份");
    lin.says("/mode autoEdit");
    lin.sees("autoEdit：自动允许工作区内的编辑");
    lin.leaves();
}

#[test]
fn without_a_terminal_it_says_what_to_use_instead() {
    let (_, said) = house(ANSWER).said(&["chat"], 2);
    assert!(said.contains("use `placet run` in scripts"), "{said}");
}

/// The conversation in docs/chat.md, recorded.
#[test]
fn the_recorded_conversation() {
    let script = r#"
[[turns]]
text = "I look at what is there first."
calls = [{ tool = "ls", args = { path = "." } }]
[[turns]]
text = "`build` can be made again, so it can go."
calls = [{ tool = "bash", args = { command = "rm -rf build" } }]
[[turns]]
text = """
Done. What I did:

- looked at the folder
- removed **`build`**; `notes.txt` is untouched
"""
"#;
    let world = house_with(&format!("{CONFIG}[workspace]\nroot = 'work'\n"), script);
    std::fs::create_dir_all(world.path("work/build")).unwrap();
    world.write("work/notes.txt", "buy tea\n");
    let mut lin = Lin::talks(&world, &[]);
    lin.says("tidy up");
    lin.is_asked();
    recorded("chat.md", "asked", &tidy(&lin, &world));
    lin.types("y");
    lin.sees("is untouched");
    recorded("chat.md", "done", &tidy(&lin, &world));
    assert!(!world.path("work/build").exists());
    lin.leaves();
}

/// The screen, with names that are the same each time.
fn tidy(lin: &Lin, world: &crate::world::World) -> String {
    let folder = std::fs::canonicalize(world.path("")).unwrap();
    let screen = lin.still().replace(folder.to_str().unwrap(), "~/project");
    let session = lin.session();
    screen.replace(&session, "chat_0192f0c1")
}
