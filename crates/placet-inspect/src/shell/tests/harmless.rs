//! What runs without asking: lines that are known to only read, and what keeps a line from being one.

use placet_core::analysis::{Analysis, Effect, FactKind, FixedPlaces};
use placet_core::tool::Risk;

use super::table::lines;
use super::{analyse, look, places};

fn risks<'l>(table: &'static str) -> impl Iterator<Item = (&'l str, Risk)>
where
    'static: 'l,
{
    lines(table).map(|line| (line, look(line).risk()))
}

fn effects(line: &str) -> Vec<Effect> {
    let of = |kind| match kind {
        FactKind::Command { effects, .. } => effects,
        _ => Vec::new(),
    };
    look(line)
        .facts
        .into_iter()
        .flat_map(|fact| of(fact.kind))
        .collect()
}

#[test]
fn lines_that_only_read_inside_the_workspace_are_low() {
    let table = r#"
        ls  ls -la  ls -la src | head -20  cat README.md  head -n 20 src/main.rs  tail -5 log.txt  wc -l src/main.rs  pwd  date
        git status  git status -s  git diff  git diff HEAD~1 | head  git log --oneline -5  git show HEAD  git branch -a  git blame src/main.rs
        git ls-files  git rev-parse HEAD  git remote -v  git stash list  git --no-pager log -n 3  git diff --stat  git log -p -- src
        grep -rn x src  grep -n 'fn main' src/main.rs  rg -n foo src  find . -name '*.rs'  find src -type f | sort | uniq -c  tree -L 2
        sed -n '1,20p' README.md  awk '{print $1}' data.txt  jq .name package.json  sort data.txt | uniq -c | sort -rn  cut -d: -f1 data.txt
        diff a.txt b.txt  stat README.md  file README.md  du -sh .  df -h  uname -a  whoami  which ls  echo hello  printf '%s' x  true
        cd src && ls  cat src/*.rs  ls 2>/dev/null  ls 2>&1  test -f x  [ -d src ]  basename /a/b  sha256sum README.md  ps aux
        timeout 5 ls  time git status  nice -n 5 wc -l README.md  bash -c 'ls -l'  node --version  python3 --version  RUST_LOG=debug ls
    "#;
    let missed: Vec<_> = risks(table).filter(|(_, risk)| *risk != Risk::Low).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn whatever_is_not_known_to_only_read_is_not_low() {
    let table = r#"
        ls --no-such  ls > x  ls >> x  cat $x  cat "$x"  ls $(pwd)  NO_SUCH=1 ls  XDG_CONFIG_HOME=cfgd git status  RIPGREP_CONFIG_PATH=x rg y
        GIT_PAGER=x git log  git -c core.pager=x log  git -C /tmp status  git -C sub status  git --git-dir=x log  git log --output=x
        git diff --ext-diff  git log --textconv  git branch x  git tag v1  git grep -O x  git config user.name x
        xargs cat  ls | xargs cat  xargs cat <<< README.md  find . -delete  find . -exec cat {} +  ./ls  bin/ls  mytool  mytool x
        cat /etc/os-release  cat /etc/hosts  cat ../x  cat ~/x  cat .env  cat link/passwd  grep -r x link  cat src/main.rs .env
        sort -o x y  tree -o x  sed -i s/a/b/ f  sed 's/a/b/w x' f  awk '{print > "x"}' f  rg --pre x y  curl https://example.org
        make  cargo test  npm test  python3 x.py  bash x.sh  env  printenv  export  set  echo $HOME  cd /tmp  cat < .env  tee x
    "#;
    let low: Vec<_> = risks(table).filter(|(_, risk)| *risk == Risk::Low).collect();
    assert!(low.is_empty(), "{low:#?}");
}

#[test]
fn high_only_where_it_is_justified() {
    let table = "
        curl localhost:3000/health  sqlite3 dev.db .tables  ln -s ../shared src/shared  cat /etc/os-release
    ";
    for (line, risk) in risks(table) {
        assert_eq!(risk, Risk::Medium, "{line}");
    }
}

#[test]
fn a_place_outside_is_high_for_every_program() {
    let table = "
        gcc -E /etc/hostname  pip install /tmp/x  docker build /  terraform -chdir=/tmp/x plan  cargo build --manifest-path /tmp/x/Cargo.toml
        mytool --in=/etc/x  npm --prefix /tmp/x run y  go build -o /tmp/x  javac -d /tmp/x A.java
    ";
    for (line, risk) in risks(table) {
        assert_eq!(risk, Risk::High, "{line}");
    }
}

#[test]
fn files_that_decide_what_runs_are_high_to_write() {
    let table = "
        tee .github/workflows/ci.yml  cp x .cargo/config.toml  touch .gitattributes  cp x node_modules/.bin/tsc  tee AGENTS.md  tee CLAUDE.md
        cp x sub/CLAUDE.md  echo x > .gitlab-ci.yml  tee placet.toml  mv x .github/copilot-instructions.md
    ";
    for (line, risk) in risks(table) {
        assert_eq!(risk, Risk::High, "{line}");
    }
    for (line, risk) in risks("mkdir -p .github/workflows  tee src/config.toml  cat AGENTS.md") {
        assert_ne!(risk, Risk::High, "{line}");
    }
}

#[test]
fn effects_say_what_a_command_reads_writes_and_reaches() {
    let reads = |path: &str| Effect::Reads(path.to_owned());
    assert_eq!(effects("cat src/main.rs"), [reads("/w/src/main.rs")]);
    assert_eq!(
        effects("cd src && cat ../README.md").last(),
        Some(&reads("/w/README.md"))
    );
    assert_eq!(
        effects("cp a b"),
        [reads("/w/a"), Effect::Writes("/w/b".to_owned())]
    );
    assert_eq!(effects("rm x"), [Effect::Deletes("/w/x".to_owned())]);
    assert!(effects("curl https://example.org").contains(&Effect::Host("example.org".to_owned())));
    assert!(effects("python3 x.py").contains(&Effect::Runs("/w/x.py".to_owned())));
    assert!(effects("mytool").contains(&Effect::Unknown));
}

/// The risk of a line where these are the only files.
fn risk_on(files: &[(&str, &str)], line: &str) -> Risk {
    let own = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    let places = FixedPlaces {
        files: files.iter().map(own).collect(),
        ..places()
    };
    let mut found = Analysis::nothing();
    analyse(line, &places, &mut found);
    found.risk()
}

#[test]
fn git_is_low_only_where_its_configuration_runs_nothing() {
    let own = (
        "/w/.git/config",
        "[core]\n\tfilemode = true\n[remote \"origin\"]\n\turl = x\n",
    );
    assert_eq!(risk_on(&[own], "git status"), Risk::Low);
    assert_eq!(
        risk_on(&[], "git status"),
        Risk::Medium,
        "no repository of its own"
    );
    for (path, text) in [
        ("/w/.git/config", "[core]\n\tfsmonitor = ./evil\n"),
        ("/w/.git/config", "[core]\n\tpager = evil\n"),
        ("/w/.git/config", "[core]\n\thooksPath = evil\n"),
        ("/w/.git/config", "[diff \"x\"]\n\ttextconv = evil\n"),
        ("/w/.git/config", "[diff]\n\texternal = evil\n"),
        ("/w/.git/config", "[filter \"x\"]\n\tclean = evil\n"),
        ("/w/.git/config", "[alias]\n\tstatus = !evil\n"),
        ("/w/.git/config", "[include]\n\tpath = evil\n"),
        ("/w/.git/config", "[core] pager = evil\n"),
        ("/w/.git/config", "[core]\n\tfilemode = \\\n pager = evil\n"),
    ] {
        assert_eq!(risk_on(&[(path, text)], "git status"), Risk::Medium, "{text}");
    }
    for (path, text) in [
        ("/home/ana/.gitconfig", "[core]\n\tfsmonitor = evil\n"),
        ("/home/ana/.config/git/config", "[core]\n\tpager = evil\n"),
        ("/etc/gitconfig", "[core]\n\tpager = evil\n"),
        ("/w/.git/hooks/post-index-change", "evil"),
        ("/w/.gitmodules", "x"),
    ] {
        assert_eq!(
            risk_on(&[own, (path, text)], "git status"),
            Risk::Medium,
            "{path}"
        );
    }
    let helper = (
        "/home/ana/.gitconfig",
        "[credential \"https://example.org\"]\n\thelper = x.sh\n",
    );
    assert_eq!(risk_on(&[own, helper], "git log --oneline"), Risk::Low);
    let inner = ("/w/vendor/.git", "");
    assert_eq!(risk_on(&[own, inner], "cd vendor && git status"), Risk::Medium);
    assert_eq!(risk_on(&[own], "cd vendor && git status"), Risk::Low);
    let lfs = (
        "/home/ana/.gitconfig",
        "[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\trequired = true\n",
    );
    assert_eq!(risk_on(&[own, lfs], "git diff"), Risk::Low);
}

#[test]
fn what_lies_below_a_folder_counts_for_a_recursive_read() {
    let plain = ("/w/src/main.rs", "");
    assert_eq!(risk_on(&[plain], "grep -rn x src"), Risk::Low);
    assert_eq!(
        risk_on(&[plain, ("/w/src/.env", "")], "grep -rn x src"),
        Risk::Medium
    );
    assert_eq!(risk_on(&[plain, ("/w/src/.env", "")], "grep -rn x"), Risk::Medium);
    assert_eq!(risk_on(&[plain, ("/w/src/.env", "")], "ls -R src"), Risk::Low);
}

#[test]
fn a_glob_that_finds_an_option_or_a_secret_is_not_low() {
    assert_eq!(risk_on(&[("/w/a.rs", "")], "wc -l *"), Risk::Low);
    assert_eq!(risk_on(&[("/w/--files0-from=x", "")], "wc -l *"), Risk::Medium);
    assert_eq!(risk_on(&[("/w/src/server.key", "")], "cat src/*"), Risk::Medium);
}

#[test]
fn a_patch_or_an_archive_that_writes_a_guarded_file_is_high() {
    let evil = ("/w/x", ".github/workflows/ci.yml");
    for line in [
        "git apply x",
        "git am x",
        "patch -p1 -i x",
        "tar xf x",
        "tar -xf x",
        "unzip x",
        "unzip -o x",
    ] {
        assert_eq!(risk_on(&[evil], line), Risk::High, "{line}");
        assert_eq!(risk_on(&[("/w/x", "src/main.rs")], line), Risk::Medium, "{line}");
    }
    assert_eq!(risk_on(&[("/w/x", "../../y")], "tar xf x"), Risk::High);
}

#[test]
fn pathspecs_and_inputs_name_files() {
    let paths = |line: &str| -> Vec<String> {
        let of = |kind| match kind {
            FactKind::Command { paths, .. } => paths,
            _ => Vec::new(),
        };
        look(line)
            .facts
            .into_iter()
            .flat_map(|fact| of(fact.kind))
            .collect()
    };
    for line in [
        "git show HEAD -- :/secrets/key",
        "git log -- ':(top)secrets/key'",
        "git cat-file --batch <<< HEAD:secrets/key",
        "xargs cat <<< secrets/key",
        "echo secrets/key | xargs cat",
        "xargs cat <<EOF\nsecrets/key\nEOF",
        "tar -cf o.tar -T - <<< secrets/key",
    ] {
        assert!(
            paths(line).contains(&"/w/secrets/key".to_owned()),
            "{line}: {:?}",
            paths(line)
        );
    }
    for line in [
        "xargs cat <<< .env",
        "echo .env | xargs cat",
        "echo .env | sort | cat | xargs cat",
        "bash -c 'xargs cat' <<< .env",
        "cat <<E | sort | xargs cat\n.env\nE",
        "python <<< 'print(1)'",
        "echo x | python3",
    ] {
        assert_eq!(look(line).risk(), Risk::High, "{line}");
    }
}
