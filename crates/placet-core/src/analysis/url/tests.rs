//! Which hosts are asked about.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::analysis::why::tests::in_words;

fn check(urls: &[&str], expected: &Expect) {
    let lines: String = urls
        .iter()
        .flat_map(|url| {
            let mut found = Analysis::nothing();
            analyse(url, &mut found);
            found.facts
        })
        .map(|fact| {
            let what = match fact.kind {
                FactKind::Host { host, scheme, port } => {
                    format!("{scheme} {host} {}", port.map_or("-".into(), |p| p.to_string()))
                }
                other => format!("{other:?}"),
            };
            format!("{} {what} {}", fact.risk, in_words(fact.why))
                .trim_end()
                .to_owned()
                + "\n"
        })
        .collect();
    expected.assert_eq(&lines);
}

#[test]
fn a_request_to_a_public_host_is_medium() {
    check(
        &[
            "https://example.com/x?y=z#f",
            "http://Example.COM.:8080/",
            "https://93.184.216.34/",
            "https://[2606:4700::1111]/",
            "https://例子.中国/",
            "https://bücher.example/",
            "https://example.com/a b|c",
            "https://example.com/@user",
        ],
        &expect![[r#"
            MEDIUM https example.com 443
            MEDIUM http example.com. 8080
            MEDIUM https 93.184.216.34 443
            MEDIUM https [2606:4700::1111] 443
            MEDIUM https xn--fsqu00a.xn--fiqs8s 443
            MEDIUM https xn--bcher-kva.example 443
            MEDIUM https example.com 443
            MEDIUM https example.com 443
        "#]],
    );
}

#[test]
fn addresses_nearby_are_high_in_every_spelling() {
    check(
        &[
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://127.1/",
            "http://0/",
            "http://10.0.0.1/",
            "http://172.16.0.1/",
            "http://172.32.0.1/",
            "http://192.168.1.1/",
            "http://100.64.0.1/",
            "http://169.254.169.254/latest/meta-data/",
            "http://169.254.1.1/",
            "http://168.63.129.16/",
            "http://224.0.0.1/",
            "http://255.255.255.255/",
            "http://198.18.0.1/",
            "http://[::1]/",
            "http://[::]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:8.8.8.8]/",
            "http://[::127.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[2002:7f00:1::]/",
            "http://[fd00::1]/",
            "http://[fe80::1]/",
            "http://[ff02::1]/",
            "http://[fec0::1]/",
            "http://①②⑦.0.0.1/",
        ],
        &expect![[r#"
            HIGH http 127.0.0.1 80 it is this machine
            HIGH http 127.0.0.1 80 it is this machine
            HIGH http 127.0.0.1 80 it is this machine
            HIGH http 127.0.0.1 80 it is this machine
            HIGH http 127.0.0.1 80 it is this machine
            HIGH http 0.0.0.0 80 it is this machine or network
            HIGH http 10.0.0.1 80 it is a private address
            HIGH http 172.16.0.1 80 it is a private address
            MEDIUM http 172.32.0.1 80
            HIGH http 192.168.1.1 80 it is a private address
            HIGH http 100.64.0.1 80 it is a shared address of a provider
            HIGH http 169.254.169.254 80 it hands out the machine's own credentials
            HIGH http 169.254.1.1 80 it is a link-local address
            HIGH http 168.63.129.16 80 it hands out the machine's own credentials
            HIGH http 224.0.0.1 80 it is a multicast or reserved address
            HIGH http 255.255.255.255 80 it is a multicast or reserved address
            HIGH http 198.18.0.1 80 it is a reserved address
            HIGH http [::1] 80 it is this machine
            HIGH http [::] 80 it is this machine
            HIGH http [::ffff:7f00:1] 80 it is an IPv4 address in disguise
            HIGH http [::ffff:808:808] 80 it is an IPv4 address in disguise
            HIGH http [::7f00:1] 80 it is an IPv4 address in disguise
            HIGH http [64:ff9b::7f00:1] 80 it is an IPv4 address in disguise
            HIGH http [2002:7f00:1::] 80 it is an IPv4 address in disguise
            HIGH http [fd00::1] 80 it is a private address
            HIGH http [fe80::1] 80 it is a link-local address
            HIGH http [ff02::1] 80 it is a multicast or reserved address
            HIGH http [fec0::1] 80 it is a multicast or reserved address
            HIGH http 127.0.0.1 80 it is this machine
        "#]],
    );
}

#[test]
fn names_nearby_are_high() {
    check(
        &[
            "http://localhost:3000/",
            "http://LOCALHOST./",
            "http://a.localhost/",
            "http://printer.local/",
            "http://metadata.google.internal/",
            "http://intranet/",
            "http://127.0.0.1.nip.io/",
            "http://10-0-0-1.sslip.io/",
            "http://nip.io/",
            "http://snip.io/",
            "http://x.home.arpa/",
            "http://nas.lan/",
        ],
        &expect![[r#"
            HIGH http localhost 3000 a name without a dot is a machine nearby
            HIGH http localhost. 80 a name without a dot is a machine nearby
            HIGH http a.localhost 80 `.localhost` names machines nearby
            HIGH http printer.local 80 `.local` names machines nearby
            HIGH http metadata.google.internal 80 `.internal` names machines nearby
            HIGH http intranet 80 a name without a dot is a machine nearby
            HIGH http 127.0.0.1.nip.io 80 names under `nip.io` stand for any address, also private ones
            HIGH http 10-0-0-1.sslip.io 80 names under `sslip.io` stand for any address, also private ones
            HIGH http nip.io 80 names under `nip.io` stand for any address, also private ones
            MEDIUM http snip.io 80
            HIGH http x.home.arpa 80 `.arpa` names machines nearby
            HIGH http nas.lan 80 `.lan` names machines nearby
        "#]],
    );
}

#[test]
fn other_schemes_and_unclear_texts_are_high() {
    check(
        &[
            "file:///etc/passwd",
            "gopher://example.com/",
            "data:text/html,x",
            "javascript:alert(1)",
            "ftp://example.com/",
            "ws://example.com/",
            "",
            "example.com",
            "//example.com",
            "http://",
            "https://exa mple.com/",
            "https://[::1",
            "http://1.2.3.4.5/",
            "https:example.com",
            "https:\\\\example.com",
            " https://example.com",
            "https://exam\tple.com/",
            "https://example.com\\@evil.example/",
        ],
        &expect![[r#"
            HIGH file  - `file` is not the web
            HIGH gopher example.com - `gopher` is not the web
            HIGH data  - `data` is not the web
            HIGH javascript  - `javascript` is not the web
            HIGH ftp example.com 21 `ftp` is not the web
            HIGH ws example.com 80 `ws` is not the web
            HIGH Unreadable { what: "" } it does not parse as a URL: relative URL without a base
            HIGH Unreadable { what: "example.com" } it does not parse as a URL: relative URL without a base
            HIGH Unreadable { what: "//example.com" } it does not parse as a URL: relative URL without a base
            HIGH Unreadable { what: "http://" } it does not parse as a URL: empty host
            HIGH Unreadable { what: "https://exa mple.com/" } it does not parse as a URL: invalid international domain name
            HIGH Unreadable { what: "https://[::1" } it does not parse as a URL: invalid IPv6 address
            HIGH Unreadable { what: "http://1.2.3.4.5/" } it does not parse as a URL: invalid IPv4 address
            HIGH https example.com 443 clients disagree on it: expected //
            HIGH https example.com 443 clients disagree on it: expected //
            HIGH https example.com 443 clients disagree on it: leading or trailing control or space character are ignored in URLs
            HIGH https example.com 443 clients disagree on it: tabs or newlines are ignored in URLs
            HIGH https example.com 443 clients disagree on it: backslash
        "#]],
    );
}

#[test]
fn a_host_that_passes_for_another_is_high() {
    check(
        &[
            "https://good.example@evil.example/",
            "https://good.example:pw@evil.example/",
            "https://:@evil.example/",
            "https://аpple.com/",
            "https://аррӏе.com/",
            "https://xn--80ak6aa92e.com/",
            "https://xn--/",
            "https://gооgle.com/",
        ],
        &expect![[r#"
            HIGH https evil.example 443 a name before `@` can pass for the host
            HIGH https evil.example 443 a name before `@` can pass for the host
            HIGH https evil.example 443 clients disagree on it: embedding authentication information (username or password) in an URL is not recommended
            HIGH https xn--pple-43d.com 443 `аpple` mixes scripts
            HIGH https xn--80ak6aa92e.com 443 `аррӏе` looks like plain letters and is not
            HIGH https xn--80ak6aa92e.com 443 `аррӏе` looks like plain letters and is not
            HIGH Unreadable { what: "https://xn--/" } it does not parse as a URL: invalid international domain name
            HIGH https xn--ggle-55da.com 443 `gооgle` mixes scripts
        "#]],
    );
}

proptest! {
    #[test]
    fn no_text_makes_the_analysis_panic_or_pass_for_low(url in ".{0,80}") {
        let mut found = Analysis::nothing();
        analyse(&url, &mut found);
        prop_assert_eq!(found.facts.len(), 1);
        prop_assert!(found.risk() >= Risk::Medium);
    }

    #[test]
    fn every_private_address_is_high_in_decimal_too(a in prop_oneof![Just(10_u32), Just(127)], rest in 0_u32..0x0100_0000) {
        let mut found = Analysis::nothing();
        analyse(&format!("http://{}/", a << 24 | rest), &mut found);
        prop_assert_eq!(found.risk(), Risk::High);
    }
}
