//! The language of the program: the configuration's, else the environment's, else English.

use crate::world::World;

/// Standard output and standard error in an environment's language.
fn said(world: &World, language: &str, args: &[&str], status: i32) -> (String, String) {
    let assert = world.placet(args).env("LC_ALL", language).assert().code(status);
    let output = assert.get_output();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn help_and_errors_follow_the_environment() {
    let world = World::new();
    let (help, _) = said(&world, "zh_CN.UTF-8", &["check", "--help"], 0);
    for part in ["用法：placet check", "参数：", "选项：", "示例：", "退出状态："] {
        assert!(help.contains(part), "{part}:\n{help}");
    }
    let (help, _) = said(&world, "de_DE.UTF-8", &["check", "--help"], 0);
    assert!(
        help.contains("Usage: placet check") && help.contains("Exit status:"),
        "{help}"
    );
    let errors = [
        (&["frobnicate"][..], "错误：未知命令 `frobnicate`"),
        (&["check"], "缺少："),
        (&["audit", "list", "--since", "gestern"], "时间请写成"),
        (&["audit", "list", "--type", "askd"], "是否想写 `asked`？"),
        (&["check", "ls", "--tool", "bash"], "不能与"),
        (
            &["policy", "explain", "--config", "missing.toml"],
            "无法读取配置 `missing.toml`",
        ),
    ];
    for (args, expected) in errors {
        let (out, err) = said(&world, "zh_CN.UTF-8", args, 2);
        assert_eq!(out, "", "{args:?}");
        assert!(err.contains(expected), "{args:?}: {err}");
    }
}

#[test]
fn the_configuration_wins_over_the_environment_even_if_it_is_refused() {
    let world = World::new();
    let english = world.write("en.toml", "[approval]\nlocale = 'en'\n");
    let refused = world.write("zh.toml", "[approval]\nlocale = 'zh'\nstrict = 5\n");
    let (english, refused) = (english.to_str().unwrap(), refused.to_str().unwrap());
    let (explained, _) = said(
        &world,
        "zh_CN.UTF-8",
        &["policy", "explain", "--config", english],
        0,
    );
    assert!(explained.starts_with("Without rules"), "{explained}");
    let (_, err) = said(&world, "C", &["policy", "explain", "--config", refused], 2);
    assert!(
        err.contains("`approval.strict` 必须是 `true` 或 `false`，而不是 5"),
        "{err}"
    );
    assert!(err.contains("1 个错误，未生效"), "{err}");
}

#[test]
fn what_programs_read_is_the_same_in_every_language() {
    let world = World::new();
    let json = |language| said(&world, language, &["policy", "explain", "--json"], 0).0;
    assert_eq!(json("zh_CN.UTF-8"), json("C"));
    let json = |language| said(&world, language, &["check", "git push -f", "--json"], 3).0;
    assert_eq!(json("zh_CN.UTF-8"), json("C"));
}
