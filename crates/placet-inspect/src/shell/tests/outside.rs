//! Where the words of commands lead: out of the workspace, or to files that decide what runs and what is asked.

use placet_core::tool::Risk;

use super::look;

fn missed<'l>(lines: &[&'l str], risk: Risk) -> Vec<&'l str> {
    let differs = |line: &&&str| (look(line).risk() == Risk::High) != (risk == Risk::High);
    lines.iter().filter(differs).copied().collect()
}

#[test]
fn a_shell_line_cannot_rewrite_what_decides_over_agents_unasked() {
    let high = [
        "echo x > placet.toml",
        "sed -i s/a/b/ placet.toml",
        "cp x placet.toml",
        "mv x .placet/a",
        "mv x sub/.placet/a",
        "tee .vscode/settings.json",
        "echo x >> .mcp.json",
        "cd .vscode && tee settings.json",
        "rm -f placet.toml",
        "ln -s x .husky/pre-commit",
        "curl -so .claude/settings.json https://example.org/x",
        "cp x {y,placet.toml}",
        "tee plac*.toml",
        "sed -i s/a/b/ *.toml",
        "git mv x placet.toml",
        "git rm placet.toml",
        "git checkout HEAD~1 -- placet.toml",
        "touch PLACET.TOML",
        "cp x \"${a:-placet.toml}\"",
    ];
    assert_eq!(missed(&high, Risk::High), [""; 0]);
    let ordinary = [
        "cat placet.toml",
        "grep -n mode placet.toml",
        "cat .vscode/settings.json",
        "cat < placet.toml",
        "ls .git",
        "echo x > notes.toml",
        "sed -i s/a/b/ Cargo.toml",
        "sed -i -e '/foo/d' -e 's/a/b/' f",
        "cp a.json b.json",
        "mkdir -p .github/workflows",
    ];
    assert_eq!(missed(&ordinary, Risk::Medium), [""; 0]);
}

#[test]
fn programs_inside_arguments_are_read_as_sed_and_git_read_them() {
    let high = [
        "sed 't;1e touch pwned' f",
        "sed 'b x;1e touch pwned' f",
        "sed -n 'T;w x' f",
        "sed -ne'1e touch x' p",
        "sed -ne '1e touch x' p",
        "sed --expr='1e touch x' p",
        "sed --expr '1e touch x' p",
        "sed --quiet --fil=x p",
        "sed -nf x p",
        "sed -zEe'1e touch x' p",
        "git grep -O./evil.sh a",
        "git grep -O ./evil.sh a",
        "git clone -u CMD . y",
        "git clone --template=DIR x y",
        "git init --template DIR",
        "git clone -c core.pager=x y",
    ];
    assert_eq!(missed(&high, Risk::High), [""; 0]);
    let ordinary = [
        "sed -n -e '1p' f",
        "sed -ne 1p f",
        "sed -nE 's/(a)/b/p' f",
        "sed --quiet --expression=1p f",
        "sed -i.bak s/a/b/ f",
        "sed -i -e s/a/b/ -e s/c/d/ f",
        "git grep -n foo",
        "git clone https://example.org/x y",
    ];
    assert_eq!(missed(&ordinary, Risk::Medium), [""; 0]);
}

#[test]
fn a_sed_program_is_harmless_only_if_every_sed_reads_it_so() {
    let high = [
        "sed 's/[]/]/;/e;#/p' f",
        "sed 's/[^]/]/;/e;#/p' f",
        "sed 's/[[:alpha:]/]/;/e;#/p' f",
        "sed 's/[[.x.]/]/;/e;#/p' f",
        "sed 's/[[=x=]/]/;/e;#/p' f",
        "sed '/[]/]/e id;#/p' f",
        "sed 's/[\\]/]/;/e;#/p' f",
        "sed 's/[/]/x/e' f",
        "sed 's/[^/]*$//;1e id' f",
        "sed 's/[a/b/' f",
        "sed 's/[[:x/]/b/' f",
        // Where a bracket holds the delimiter, or begins with its own end, seds differ.
        "sed 's/[^/]*$//' f",
        "sed 's/[/]/_/g' f",
        "sed 's/[]x]/y/; s/[^]x]/y/' f",
        "sed 's/[\\/]/_/' f",
        "sed '/[/]/d' f",
        "sed 'y/[/]/' f",
    ];
    assert_eq!(missed(&high, Risk::High), [""; 0]);
    let ordinary = [
        "sed 's|[^/]*/||g' f",
        "sed 's/[[:space:]]*$//' f",
        "sed 's/a/[/; s/b/]/' f",
    ];
    assert_eq!(missed(&ordinary, Risk::Medium), [""; 0]);
}

#[test]
fn an_awk_that_compares_or_searches_is_not_one_that_writes_or_runs() {
    let high = [
        "awk '{print > \"x\"}' f",
        "awk '{print $1 > 100}' f",
        "awk '$1 > 5 {print > f}' f",
        "awk '{print | \"sh\"}' f",
        "awk '/a/ {print \"x\" |& \"sh\"}' f",
        "awk 'BEGIN{system(\"id\")}'",
        "awk '{ \"id\" | getline x }' f",
        "awk 'BEGIN{for (print \"x\" > \"f\"; 0; ) x}'",
        "awk '{for (i in a) print a[i] > \"f\"}' f",
        "awk '{for (;;) {print (1), 2 > \"f\"}}' f",
        "gawk 'BEGIN{f=\"sys\" \"tem\"; @f(\"id\")}'",
        "gawk '@load \"filefuncs\"; {print}' f",
        "gawk -e '{ f=1; print' -e '> f }' f",
        "gawk -e '{' -e 'print > f' -e '}' f",
        "gawk -e '{ print' -e '> f' -e '}' f",
        "awk 'BEGIN{ARGV[1]=\"/etc/passwd\"; ARGC=2} {print}'",
        "awk '{x = $1 / 2 / 3} /[/]/ {print > f} /x/' f",
        "awk '{x = a[1] /2} {print > f} {y = 1/ 3}' f",
        "awk '{print} # {' -e '> \"x\" }' f",
        "awk $x f",
    ];
    assert_eq!(missed(&high, Risk::High), [""; 0]);
    let ordinary = [
        "awk 'NR>=10 && NR<=20 {print}' f",
        "awk '$3 > 100 {print $1}' f",
        "awk '$3 > 100' f",
        "awk '/a|b/ {print}' f",
        "awk '$1 ~ /^(a|b)$/ && $2 > 5 {print $1, $2}' f",
        "awk -F'|' '{print $2}' f",
        "awk -F '|' -v a=x@y '{print $2}' f",
        "awk '{ if ($3 > 100) print $1 }' f",
        "awk '{a[$1]++} END {for (k in a) if (a[k] > 1) print k, a[k]}' f",
        "awk '{ if (a || b) print \"->\" }' f",
        "awk '/@/ {print $1}' a@b",
        "awk '/filesystem/ {print}' f",
        "awk '{print $1/2 \">\"}' f",
        "awk '/[0-9]+|x/ {s += $1} END {print s}' f",
    ];
    assert_eq!(missed(&ordinary, Risk::Medium), [""; 0]);
}

#[test]
fn output_options_are_found_in_clusters_abbreviated_and_with_attached_values() {
    let high = [
        "curl -so /opt/x https://example.org/x",
        "curl -so/opt/x https://example.org/x",
        "curl --outpu /opt/x https://example.org/x",
        "wget -qO /opt/x https://example.org/x",
        "wget -qO/opt/x https://example.org/x",
        "tar -xC / -f a",
        "tar -xC/ -f a",
        "tar xCf / a",
        "sort -ro /opt/x",
        "sort --outp=/opt/x",
        "sort --output /opt/x",
        "cp -t/opt a",
        "cp -rt /opt a",
        "cp --target-dir=/opt a",
        "install -m755 -D a /opt/a",
        "curl -sO --output-dir /opt https://example.org/x",
        "unzip -qd /opt a.zip",
        "gcc -O2 -o /opt/x x.c",
    ];
    assert_eq!(missed(&high, Risk::High), [""; 0]);
    let ordinary = [
        "curl -so out https://example.org/x",
        "wget -qO out https://example.org/x",
        "tar -xC sub -f a.tgz",
        "tar czf out.tgz src",
        "sort -ro out in",
        "gcc -O2 -o out x.c",
        "cp -t sub a",
        "unzip -qd sub a.zip",
    ];
    assert_eq!(missed(&ordinary, Risk::Medium), [""; 0]);
}

#[test]
fn whatever_touches_a_place_outside_is_high() {
    let high = [
        "rsync -a . /etc/foo",
        "uniq a /opt/x",
        "split -b 1k a /opt/x",
        "shuf -o /opt/x a",
        "zip /opt/x.zip a",
        "zip -r /opt/x.zip a",
        "cat /etc/hosts",
        "cat ../x",
        "cat ~/notes",
        "cat $HOME/notes",
        "cat link/passwd",
        "ls ..",
        "grep -r foo /usr/include",
        "grep -e foo /etc/hosts",
        "find / -name x",
        "find .. -name x",
        "sed -n 1p /etc/hosts",
        "awk '{print}' /etc/passwd",
        "jq . /etc/x.json",
        "mytool /opt/x",
        "mytool --out=/opt/x",
        "mytool --out /opt/x",
        "make PREFIX=/usr/local install",
        "python3 /tmp/x.py",
        "bash /tmp/x.sh",
        "cat < /etc/hosts",
        "git -C /etc status",
        "git diff --no-index /etc/passwd x",
        "env cat /etc/hosts",
        "cd / && cat etc/hosts",
        "cd .. && ls",
        "cat /etc/$x",
        "for f in /etc/*; do cat $f; done",
        "find . -exec cp {} /opt ;",
        "xargs -a /etc/passwd echo",
        "tar czf x.tgz /etc",
        "tar -czf /opt/x.tgz .",
        "diff <(cat /etc/hosts) x",
        "cd sub && cat ../../x",
        "cd nosuch; cat ../x",
        "cd && ls",
        "x=/etc/hosts; cat $x",
        "x=\"$HOME/notes\"; cat $x",
        "mytool -o/opt/x",
        "mytool file=@/etc/x",
        "curl -b /etc/x https://example.org",
        "echo $(cd sub) && cat ../x",
        "env cd sub && cat ../x",
        "! cd sub && cat ../x",
        "a | cd sub && cat ../x",
        "a | b | cd sub && cat ../x",
        "echo x > $(cd sub && ls) && cat ../x",
        "cd sub || cat ../x",
    ];
    assert_eq!(missed(&high, Risk::High), [""; 0]);
}

#[test]
fn a_link_out_of_the_workspace_is_followed_whoever_reads() {
    let high = [
        "cat link/passwd",
        "grep . link/passwd",
        "grep -r . link",
        "grep -flink/passwd x",
        "sed -n 1,5p link/passwd",
        "awk '{print}' link/passwd",
        "sort link/passwd",
        "cut -d: -f1 link/passwd",
        "wc -l link",
        "jq . link/x.json",
        "rg root link/passwd",
        "diff a link/passwd",
        "ls link",
        "ls link/*",
        "head link/pass*",
        "wc \"link/$x\"",
        "cat < link/passwd",
        "git diff --no-index /dev/null link/passwd",
        "mytool --in=link/passwd",
        "mytool in=@link/passwd",
        "tar cf o.tar link/x",
        "python3 link/x.py",
        "find link/ -name x",
        "find -L link -exec cat {} +",
        "cd sub && sort ../link/passwd",
    ];
    assert_eq!(missed(&high, Risk::High), [""; 0]);
    let ordinary = [
        "make link",
        "npm run link",
        "git checkout link",
        "echo link/x",
        "cd $x; sort link/passwd",
        "mytool 'a\\b' c:d 'e:f/g' https://example.org/x",
        "mytool 'some\ttext'",
        "wc \"$x/link\"",
        "grep link/passwd src",
    ];
    assert_eq!(missed(&ordinary, Risk::Medium), [""; 0]);
}

#[test]
fn a_wrapper_that_changes_the_folder_takes_its_command_there() {
    let high = [
        "env -C / cat etc/passwd",
        "env -C/ cat etc/passwd",
        "env --chdir=/ cat etc/passwd",
        "env --chdir / rm -f etc/hosts",
        "env -iC .. npm run x",
        "env -C .git tee config",
        "env -C link cat passwd",
        "env -C \"$x\" ls",
        "env -C sub cat ../../x",
        "env -C sub env -C .. cat ../x",
        "env -C sub true; cat ../x",
    ];
    assert_eq!(missed(&high, Risk::High), [""; 0]);
    let ordinary = [
        "env -C sub make",
        "env -C sub cat ../README.md",
        "env --chdir=sub/deeper A=1 npm test",
        "env -C /w/sub ls",
        "env -u A -C sub ls",
    ];
    assert_eq!(missed(&ordinary, Risk::Medium), [""; 0]);
}

#[test]
fn what_only_looks_like_a_place_outside_is_not_high() {
    let ordinary = [
        "cat /w/README.md",
        "cat sub/../x",
        "ls 2>/dev/null >/dev/null </dev/null",
        "cat /dev/null /dev/stdin",
        "head -c 16 /dev/urandom",
        "dd_like if=/dev/zero",
        "grep -rn '/etc/passwd' src",
        "grep -e /etc/hosts src",
        "rg /api/users src",
        "sed -n '/foo/p' f",
        "sed '/a/,/b/d' f",
        "awk '/x/ {print}' f",
        "awk -F/ '{print $2}' f",
        "jq '/x' f",
        "find . -path '/x/*' -name '/y'",
        "tr / _",
        "cut -d/ -f2 f",
        "sort -t/ -k2 f",
        "basename /a/b",
        "dirname /a/b",
        "echo /etc/passwd",
        "printf '%s' /x",
        "test -f /etc/x",
        "[ -d /opt ]",
        "/usr/bin/git status",
        "env /usr/bin/git status",
        "time /usr/bin/make",
        "git commit -m '/x'",
        "git commit -am '../x'",
        "git log main..dev",
        "git show HEAD:src/x",
        "docker run --rm -v /w:/src -w /src rust cargo test",
        "cd sub && cat ../README.md",
        "cd sub && make && cd .. && make",
        "cd a && make && cd ../b && make",
        "bash -c '/usr/bin/make all'",
        "kubectl get --raw /healthz",
        "gcc -I/usr/include x.c",
        "which /usr/bin/ls",
        "cd sub && (cat ../x)",
        "x=$(git rev-parse HEAD); y=a/b; echo $x $y",
        "FOO_DIR=/tmp/x make",
        "npm run build -- --base=./x",
    ];
    assert_eq!(missed(&ordinary, Risk::Medium), [""; 0]);
}

#[test]
fn uploads_are_high_in_any_spelling() {
    let high = [
        "curl -sd@FILE https://example.org",
        "curl -sd @FILE https://example.org",
        "curl --data-urlencode a@FILE https://example.org",
        "curl --data-urlencode=a@FILE https://example.org",
        "curl -sF a=@FILE https://example.org",
        "curl -sT FILE https://example.org",
        "curl --unix-socket /var/run/docker.sock http://x.example/info",
        "curl --unix-socket docker.sock http://x.example/info",
        "curl --abstract-unix-socket=x http://x.example/info",
        "curl --json @FILE https://example.org",
        "curl -H @FILE https://example.org",
        "curl --header=@FILE https://example.org",
        "http -f POST example.org doc@FILE",
        "http example.org @FILE",
        "http POST example.org < FILE",
        "ls && http POST example.org 0< FILE",
        "mail a@example.org < FILE",
        "openssl s_client -connect example.org:443 < FILE",
        "gh gist create FILE",
        "aws s3 cp FILE s3://bucket/x",
        "aws s3 cp - s3://bucket/x --acl public-read",
        "aws s3 cp s3://a/x s3://b/x",
        "gsutil -m cp FILE gs://bucket",
        "aws ssm send-command --targets x",
        "kubectl get secret x -o yaml",
        "kubectl get secrets -ojson",
        "kubectl get pods,secret/x --output=json",
        "kubectl get secret x --template={{.data}}",
        "kubectl config view --raw",
    ];
    assert_eq!(missed(&high, Risk::High), [""; 0]);
    let ordinary = [
        "curl -sd a=b https://example.org",
        "curl -H 'X: a' https://example.org",
        "curl -d '{\"mail\":\"a@b.org\"}' https://example.org",
        "http POST example.org mail=a@b.org X-A:b@c",
        "http GET example.org",
        "wc < FILE",
        "aws s3 cp s3://bucket/x .",
        "kubectl get secrets",
        "kubectl get secrets -o name",
        "kubectl get pods -o yaml",
        "kubectl config view",
        "gh pr view 1",
    ];
    assert_eq!(missed(&ordinary, Risk::Medium), [""; 0]);
}
