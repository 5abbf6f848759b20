//! The reasons that have something filled in, each in English and Chinese side by side.

use std::fmt;

use serde::{Serialize, Serializer};

use super::{Ban, SqlConcern, UrlConcern, Why};
use crate::interaction::Locale;

/// One of two languages, side by side.
fn either(locale: Locale, english: fmt::Arguments<'_>, chinese: fmt::Arguments<'_>) -> String {
    match locale {
        Locale::English => english.to_string(),
        Locale::Chinese => chinese.to_string(),
    }
}

/// [`either`] with two formats.
macro_rules! say {
    ($locale:expr, $english:literal, $chinese:literal) => {
        either($locale, format_args!($english), format_args!($chinese))
    };
}

impl Why {
    /// In words, without a full stop.
    pub fn words(&self, locale: Locale) -> String {
        match self {
            Self::NotText { arg } => {
                say!(
                    locale,
                    "`{arg}` is not a text, so it cannot be analysed",
                    "`{arg}` 不是文本，无法分析"
                )
            }
            Self::TooManyCommands(count) => say!(
                locale,
                "{count} commands in one line are too many to judge one by one",
                "一行中有 {count} 条命令，多得无法逐条判断"
            ),
            Self::Doubtful(doubt) => doubt.words(locale).to_owned(),
            Self::CommandLater { word } => say!(
                locale,
                "which command `{word}` is, is only known when it runs",
                "`{word}` 是哪条命令，要到运行时才知道"
            ),
            Self::NoCommand { word } => say!(locale, "`{word}` is no command's name", "`{word}` 不是命令名"),
            Self::Does { what, deed } => {
                let deed = deed.words(locale);
                say!(locale, "`{what}` {deed}", "`{what}` {deed}")
            }
            Self::MayDo { name, deed } => {
                let deed = deed.words(locale);
                say!(
                    locale,
                    "some words are only known when it runs; `{name}` may be one that {deed}",
                    "有些词要到运行时才知道；`{name}` 可能{deed}"
                )
            }
            Self::OperatorInTest { operator, inside } => say!(
                locale,
                "`{operator}` inside `{inside}` means something else to another shell",
                "`{inside}` 中的 `{operator}` 在别的 shell 里是另一种意思"
            ),
            Self::Evaluates { name, word } => say!(
                locale,
                "`{name}` would run what is inside `{word}`",
                "`{name}` 会运行 `{word}` 里面的内容"
            ),
            Self::Variable { name } => {
                say!(
                    locale,
                    "`{name}` changes what other commands run",
                    "`{name}` 会改变其他命令所运行的程序"
                )
            }
            Self::StandsIn { name } => say!(
                locale,
                "`{name}` could stand in for a command of that name",
                "`{name}` 可能冒充同名的命令"
            ),
            Self::LeadsLater { word } => say!(
                locale,
                "where `{word}` leads is only known when it runs",
                "`{word}` 指向哪里，要到运行时才知道"
            ),
            Self::MaybeOutside { word } => {
                say!(
                    locale,
                    "`{word}` may be outside the workspace",
                    "`{word}` 可能在工作区之外"
                )
            }
            Self::Path(concern) => concern.words(locale).to_owned(),
            Self::Sql(concern) => concern.words(locale),
            Self::Url(concern) => concern.words(locale),
        }
    }
}

impl SqlConcern {
    /// In words, without a full stop.
    pub fn words(&self, locale: Locale) -> String {
        match self {
            Self::OneOfSeveral => say!(locale, "it is one of several statements", "它是多条语句之一"),
            Self::ReachesBeyond { function } => say!(
                locale,
                "`{function}` reaches beyond the tables it reads",
                "`{function}` 的作用超出它读取的表"
            ),
            Self::UnknownFunction { function } => {
                say!(
                    locale,
                    "nothing is known about the function `{function}`",
                    "不了解函数 `{function}`"
                )
            }
            Self::Unproven { what } => say!(
                locale,
                "`{what}` is not known to only read",
                "不能确定 `{what}` 只做读取"
            ),
            Self::LocksRows => say!(locale, "it locks the rows it reads", "它会锁住所读取的行"),
            Self::StoresElsewhere => {
                say!(
                    locale,
                    "it stores what it reads somewhere new",
                    "它把读到的内容存到新的地方"
                )
            }
            Self::HoldsCredentials { table } => {
                say!(locale, "`{table}` holds credentials", "`{table}` 中存有凭据")
            }
            Self::Transaction => say!(locale, "it controls a transaction", "它控制事务"),
            Self::MoreThanRows { verb } => say!(
                locale,
                "`{verb}` does more than read or change rows",
                "`{verb}` 不只是读取或修改行"
            ),
            Self::NoCondition { verb } => say!(
                locale,
                "no condition limits which rows {verb} touches",
                "没有条件限制 {verb} 影响哪些行"
            ),
            Self::Pragma { name } => say!(
                locale,
                "`PRAGMA {name}` changes how the database works",
                "`PRAGMA {name}` 会改变数据库的工作方式"
            ),
            Self::Empty => say!(locale, "there is no statement in it", "其中没有语句"),
            Self::TooLong { bytes_max } => too_long(locale, *bytes_max),
            Self::TooDeep => say!(locale, "it is nested too deeply", "嵌套过深"),
            Self::OddCharacter(c) => say!(
                locale,
                "it contains {c:?}, which databases read differently",
                "其中含有 {c:?}，各数据库对它的解读不同"
            ),
            Self::ExecutableComment => {
                say!(
                    locale,
                    "it contains a comment that MySQL executes",
                    "其中含有 MySQL 会执行的注释"
                )
            }
            Self::EscapedQuote => say!(
                locale,
                "a backslash before a quote means different things to different servers",
                "引号前的反斜杠在不同服务器上含义不同"
            ),
            Self::StringRunsOn => say!(
                locale,
                "a string right after a string may be read as one with it",
                "紧接在字符串之后的字符串可能与前者连读"
            ),
            Self::EscapedName => say!(
                locale,
                "a name in Unicode escapes hides what it names",
                "用 Unicode 转义书写的名称隐藏了真实名称"
            ),
            Self::VariableWithBrackets => say!(
                locale,
                "a variable with brackets ends elsewhere for SQLite",
                "带括号的变量在 SQLite 中结束于别处"
            ),
            Self::Ambiguous => say!(
                locale,
                "databases disagree on what it means; name the dialect",
                "各数据库对它的理解不一致；请指明方言"
            ),
            Self::Trailing { token } => say!(
                locale,
                "it does not parse: `{token}` after the end of a statement",
                "无法解析：语句结束之后还有 `{token}`"
            ),
            Self::Unparsed { error } => {
                say!(
                    locale,
                    "it does not parse: {error}",
                    "无法解析（解析器原文：“{error}”）"
                )
            }
        }
    }
}

impl UrlConcern {
    /// In words, without a full stop.
    pub fn words(&self, locale: Locale) -> String {
        match self {
            Self::TooLong { bytes_max } => too_long(locale, *bytes_max),
            Self::Unparsed { error } => say!(
                locale,
                "it does not parse as a URL: {error}",
                "无法解析为 URL（解析器原文：“{error}”）"
            ),
            Self::NotWeb { scheme } => say!(locale, "`{scheme}` is not the web", "`{scheme}` 不是网页地址"),
            Self::NameBeforeAt => {
                say!(
                    locale,
                    "a name before `@` can pass for the host",
                    "`@` 之前的名字会被误认为主机"
                )
            }
            Self::Odd(oddity) => {
                let oddity = oddity.words(locale);
                say!(
                    locale,
                    "clients disagree on it: {oddity}",
                    "各客户端对它的解读不一致：{oddity}"
                )
            }
            Self::Address(concern) => concern.words(locale).to_owned(),
            Self::Nearby => {
                say!(
                    locale,
                    "a name without a dot is a machine nearby",
                    "不带点的名字指附近的机器"
                )
            }
            Self::LocalZone { zone } => {
                say!(
                    locale,
                    "`.{zone}` names machines nearby",
                    "`.{zone}` 下的名字指附近的机器"
                )
            }
            Self::WildcardZone { zone } => say!(
                locale,
                "names under `{zone}` stand for any address, also private ones",
                "`{zone}` 下的名字可以指向任何地址，包括私有地址"
            ),
            Self::InvalidName => say!(locale, "its name is not valid", "主机名无效"),
            Self::MixedScripts { label } => {
                say!(locale, "`{label}` mixes scripts", "`{label}` 混用了多种文字")
            }
            Self::LookAlike { label } => say!(
                locale,
                "`{label}` looks like plain letters and is not",
                "`{label}` 看着像普通字母，其实不是"
            ),
        }
    }
}

impl Ban {
    /// In words, without a full stop.
    pub fn words(&self, locale: Locale) -> String {
        match self {
            Self::DeletesAll { path } => say!(
                locale,
                "`rm` would delete everything below `{path}`",
                "`rm` 会删除 `{path}` 下的一切"
            ),
            Self::ChangesAll { name, path } => say!(
                locale,
                "`{name}` would change everything below `{path}`",
                "`{name}` 会改动 `{path}` 下的一切"
            ),
            Self::OverwritesDisk { device } => {
                say!(
                    locale,
                    "`dd` would overwrite the disk `{device}`",
                    "`dd` 会覆盖磁盘 `{device}`"
                )
            }
            Self::ErasesDisk { name, device } => {
                say!(
                    locale,
                    "`{name}` would erase the disk `{device}`",
                    "`{name}` 会抹掉磁盘 `{device}`"
                )
            }
            Self::WritesOverDisk { operator, device } => {
                say!(
                    locale,
                    "`{operator} {device}` would overwrite a disk",
                    "`{operator} {device}` 会覆盖磁盘"
                )
            }
            Self::AnswersForPeople => {
                say!(
                    locale,
                    "an agent cannot answer for people",
                    "智能体不能代替人作答"
                )
            }
            Self::ForkBomb { name } => say!(
                locale,
                "`{name}` starts itself over and over: a fork bomb",
                "`{name}` 会不断启动自身：这是 fork 炸弹"
            ),
        }
    }
}

fn too_long(locale: Locale, bytes_max: usize) -> String {
    say!(
        locale,
        "it is longer than {bytes_max} bytes",
        "超过 {bytes_max} 字节"
    )
}

/// In English, as stored and as programs read it.
macro_rules! in_english {
    ($($name:ident)+) => { $(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.words(Locale::English))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )+ };
}

in_english!(Why Ban);
