//! One program, two uses: what needs approval, and what people run all day, side by side.

use placet_core::tool::Risk;

use super::look;
use super::table::lines;

fn check(high: &'static str, ordinary: &'static str) {
    let missed: Vec<_> = lines(high)
        .filter(|line| look(line).risk() != Risk::High)
        .collect();
    assert!(missed.is_empty(), "should be HIGH: {missed:#?}");
    let asked: Vec<_> = lines(ordinary)
        .filter(|line| look(line).risk() == Risk::High)
        .map(|line| (line, look(line).facts.into_iter().find_map(|fact| fact.why)))
        .collect();
    assert!(asked.is_empty(), "should not be HIGH: {asked:#?}");
}

#[test]
fn git_config_reads_only_where_it_is_told_to_read() {
    check(
        "
        git config core.hooksPath list  git config core.hooksPath get  git config core.pager -l  git config core.pager --list
        git config core.pager x  git config --global core.pager x  git config --unset user.name  git config edit  git config -e
        git config set core.pager x  git config $x  git config user.name $x  git config --add a.b --get  git $x config a.b
        git --made-up x config core.pager list
        ",
        "
        git config --get core.hooksPath  git config --list  git config -l  git config list  git config get user.name
        git config user.name  git config --global user.email  git -C sub config --get a.b  git config --show-origin --list
        git add config  git log -- config  git diff config/a
        ",
    );
}

#[test]
fn a_mount_is_judged_by_its_source_in_every_spelling() {
    check(
        r#"
        docker run -v //:/h x  docker run -v /./:/h x  docker run -v=/:/h x  docker run -itv/:/h x  docker run -v/:/h x
        docker run --mount=source=/,target=/h,type=bind x  docker run --mount 'type=bind,"source=/",target=/h' x
        docker run -v /tmp/../etc:/h x  docker run -v /opt:/h x  docker run -v ../..:/h x  docker run --volume=/:/h x
        docker run --volume /etc:/h x  docker run -v ~/.cache:/c x  docker run -v "$X":/h x  docker run -v link/x:/h x
        podman run -v /:/h x  docker run --mount type=bind,src=/etc,dst=/h x  docker run -v /var/run/docker.sock:/s x
        docker run --privileged x  docker run --pid=host x  docker run --userns host x  docker run --volumes-from y x
        "#,
        r#"
        docker run -v ./data:/data x  docker run -v data:/data x  docker run -v /w/data:/data x  docker run -v "$PWD":/app x
        docker run -v "$(pwd)/src:/app" x  docker run --volume ./data:/data x  docker run --user 1000 x  docker run -it x
        docker run --mount type=bind,source=./data,target=/d x  docker run -e A=b:c x  docker build -t app:1 .
        "#,
    );
}

#[test]
fn a_file_that_decides_what_is_asked_is_not_given_to_programs_that_may_write_it() {
    check(
        "
        git log -1 --format=%B --output=placet.toml  git diff --output placet.toml  git archive -o placet.toml HEAD
        git archive -oplacet.toml HEAD  git diff --outp=placet.toml  git bundle create placet.toml HEAD  git stash push placet.toml
        gpg -o .mcp.json -d x  gpg -o.mcp.json -d x  tar xf a.tar -C .git  tar xf a.tar -C.claude  tar xf a.tar placet.toml
        tar xf a.tar --directory=.claude  xxd -r a placet.toml  yq -i .a=1 placet.toml  iconv -o placet.toml a
        openssl enc -in a -out placet.toml  pandoc -o placet.toml a  npx prettier --write placet.toml
        python3 -m zipfile -e a.zip .git  python x.py placet.toml  mytool --into=.claude/settings.json  mytool .claude/*
        cd sub && mytool ../placet.toml  git mv x placet.toml  git checkout HEAD~1 placet.toml
        ",
        "
        cat placet.toml  grep mode placet.toml  git diff placet.toml  git add placet.toml  git log -- .claude  git show HEAD:placet.toml
        ls .claude  wc -l placet.toml  jq . .mcp.json  yq .a placet.toml  diff placet.toml a.toml  git commit placet.toml -m x
        xxd placet.toml  bash .claude/x.sh  python .claude/x.py  npx prettier --write src  npx ajv validate *.json
        test -f placet.toml  find .git -name x  placet check --config placet.toml --tool x  env cat placet.toml  stat .git
        git log --oneline  git log --output=log.txt
        ",
    );
}

#[test]
fn publishing_is_what_a_subcommand_does_and_not_what_a_word_begins_with() {
    check(
        "
        npm publish  npm --prefix web publish  npm --prefix test publish  cargo +nightly publish  cargo publish -p x  cargo yank x
        npm run deploy  npm run deploy:prod  npm run publish-beta  yarn deploy  yarn workspace x publish  pnpm -r publish  npm login
        uv publish  uv run twine upload x  mvn -B clean deploy  gradle clean publishAll  dotnet nuget push x  docker push x
        docker image push x  docker compose push  gem push x  npm $x  cargo owner --add x  npm token list
        ",
        "
        cargo test login  cargo test token_refresh  cargo add tokenizers  pip install tokenizers  npm test -- login.test.ts
        npm install login-page  uv run pytest -k login  cargo run --bin deploy  cargo build -p publisher  npm run build
        npm ci  poetry add tokenizers  cargo -q test upload  docker build -t token .  npm run test -- login
        ",
    );
}

#[test]
fn options_behind_a_script_are_the_scripts_own() {
    check(
        "
        python -c x  python3 -uc x  python -u -c x  python -W ignore -c x  python --check-hash-based-pycs default -c x  python -X a -c x
        python3 -m timeit x  python3 -mtimeit x  python3 -u -m timeit x  python3 -m code  python3 -m pdb -c x y.py  python -m $x
        node -e x  node --eval=x  node --ev x  node -r ./x y.js  node --import ./x y.js  node --env-file a -e x  node  node -
        bun run -e x  bun -e x  deno eval x  ruby -e x  ruby -Itest -e x  ruby -rx y  perl -pe x f  perl -I lib -e x  php -r x
        php -d a=b -r x  lua -e x  julia -e x  julia --project=. -e x  R x -e y  ghc Main.hs -e x  swift -e x  irb x -r y
        cargo --config a=b build  cargo build --config=a.toml
        ",
        "
        python train.py -c config.yml  python3 -u train.py -c x  python -W ignore train.py -c x  node server.js -p 3000
        node --inspect server.js -p 3000  bun run dev -p 3000  swift build -c release  swift test -c debug  ruby -Itest test/x.rb
        ruby -I test test/x.rb -e x  node --test  node --test tests  php artisan -r x  lua x.lua -e y  julia x.jl -e y
        python3 -m pytest -c x.ini  python3 -m http.server  python -m pip install x  cargo run -- --config x.toml
        cargo run -p x -- --config=x.toml  perl x.pl -e y  deno run -A x.ts -p 1
        ",
    );
}

#[test]
fn looking_is_not_asked_about() {
    check(
        "
        kubectl rollout restart deploy/x  kubectl rollout undo deploy/x  kubectl create x  kubectl --kubeconfig x rollout status
        gh run rerun 1  gh release create v1  gh auth token  gh auth status --show-token  gh auth login  terraform state rm x
        terraform workspace new x  aws sts assume-role  aws --endpoint-url x sts get-caller-identity  az vm delete  az keyvault show
        git clean -fd  git clean -fd -e -n  git clean -n --no-dry-run -f  git clean -fden  git restore f  git restore -SW f
        git restore --staged --worktree f  git restore -s --staged f  systemctl restart x  systemctl stop status  crontab -r
        crontab -l x  crontab x  dpkg -i x.deb  dpkg -r x  dpkg -S -i x  gh run $x
        ",
        "
        kubectl rollout status deploy/x  kubectl -n prod rollout status deploy/x  kubectl auth can-i create pods  gh run list
        gh run view 1 --log  gh release list  gh auth status  terraform state list  terraform workspace show
        aws sts get-caller-identity  aws --profile dev sts get-caller-identity  az vm show  git clean -nd  git clean --dry-run -d
        git clean -ndx  git restore --staged f  git restore -S f  systemctl status x  systemctl --user status x  crontab -l
        dpkg -S /bin/ls  dpkg -l
        ",
    );
}
