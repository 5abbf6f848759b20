//! Which hosts need approval.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::tests::value;

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
            format!("{} {what} {}", fact.risk, value(fact.why.as_ref()))
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
            HIGH https xn--fsqu00a.xn--fiqs8s 443 Url(OtherScript)
            HIGH https xn--bcher-kva.example 443 Url(OtherScript)
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
            HIGH http 127.0.0.1 80 Url(Address(ThisMachine))
            HIGH http 127.0.0.1 80 Url(Address(ThisMachine))
            HIGH http 127.0.0.1 80 Url(Address(ThisMachine))
            HIGH http 127.0.0.1 80 Url(Address(ThisMachine))
            HIGH http 127.0.0.1 80 Url(Address(ThisMachine))
            HIGH http 0.0.0.0 80 Url(Address(ThisMachine))
            HIGH http 10.0.0.1 80 Url(Address(Private))
            HIGH http 172.16.0.1 80 Url(Address(Private))
            MEDIUM http 172.32.0.1 80
            HIGH http 192.168.1.1 80 Url(Address(Private))
            HIGH http 100.64.0.1 80 Url(Address(Private))
            HIGH http 169.254.169.254 80 Url(Address(HandsOutCredentials))
            HIGH http 169.254.1.1 80 Url(Address(LinkLocal))
            HIGH http 168.63.129.16 80 Url(Address(HandsOutCredentials))
            HIGH http 224.0.0.1 80 Url(Address(Reserved))
            HIGH http 255.255.255.255 80 Url(Address(Reserved))
            HIGH http 198.18.0.1 80 Url(Address(Reserved))
            HIGH http [::1] 80 Url(Address(ThisMachine))
            HIGH http [::] 80 Url(Address(ThisMachine))
            HIGH http [::ffff:7f00:1] 80 Url(Address(Disguised))
            HIGH http [::ffff:808:808] 80 Url(Address(Disguised))
            HIGH http [::7f00:1] 80 Url(Address(Disguised))
            HIGH http [64:ff9b::7f00:1] 80 Url(Address(Disguised))
            HIGH http [2002:7f00:1::] 80 Url(Address(Disguised))
            HIGH http [fd00::1] 80 Url(Address(Private))
            HIGH http [fe80::1] 80 Url(Address(LinkLocal))
            HIGH http [ff02::1] 80 Url(Address(Reserved))
            HIGH http [fec0::1] 80 Url(Address(Reserved))
            HIGH http 127.0.0.1 80 Url(Address(ThisMachine))
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
            HIGH http localhost 3000 Url(Nearby)
            HIGH http localhost. 80 Url(Nearby)
            HIGH http a.localhost 80 Url(LocalZone { zone: "localhost" })
            HIGH http printer.local 80 Url(LocalZone { zone: "local" })
            HIGH http metadata.google.internal 80 Url(LocalZone { zone: "internal" })
            HIGH http intranet 80 Url(Nearby)
            HIGH http 127.0.0.1.nip.io 80 Url(WildcardZone { zone: "nip.io" })
            HIGH http 10-0-0-1.sslip.io 80 Url(WildcardZone { zone: "sslip.io" })
            HIGH http nip.io 80 Url(WildcardZone { zone: "nip.io" })
            MEDIUM http snip.io 80
            HIGH http x.home.arpa 80 Url(LocalZone { zone: "arpa" })
            HIGH http nas.lan 80 Url(LocalZone { zone: "lan" })
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
            HIGH file  - Url(NotWeb { scheme: "file" })
            HIGH gopher example.com - Url(NotWeb { scheme: "gopher" })
            HIGH data  - Url(NotWeb { scheme: "data" })
            HIGH javascript  - Url(NotWeb { scheme: "javascript" })
            HIGH ftp example.com 21 Url(NotWeb { scheme: "ftp" })
            HIGH ws example.com 80 Url(NotWeb { scheme: "ws" })
            HIGH Unreadable { what: "" } Url(Unparsed { error: "relative URL without a base" })
            HIGH Unreadable { what: "example.com" } Url(Unparsed { error: "relative URL without a base" })
            HIGH Unreadable { what: "//example.com" } Url(Unparsed { error: "relative URL without a base" })
            HIGH Unreadable { what: "http://" } Url(Unparsed { error: "empty host" })
            HIGH Unreadable { what: "https://exa mple.com/" } Url(Unparsed { error: "invalid international domain name" })
            HIGH Unreadable { what: "https://[::1" } Url(Unparsed { error: "invalid IPv6 address" })
            HIGH Unreadable { what: "http://1.2.3.4.5/" } Url(Unparsed { error: "invalid IPv4 address" })
            HIGH https example.com 443 Url(Odd)
            HIGH https example.com 443 Url(Odd)
            HIGH https example.com 443 Url(Odd)
            HIGH https example.com 443 Url(Odd)
            HIGH https example.com 443 Url(Odd)
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
            HIGH https evil.example 443 Url(NameBeforeAt)
            HIGH https evil.example 443 Url(NameBeforeAt)
            HIGH https evil.example 443 Url(Odd)
            HIGH https xn--pple-43d.com 443 Url(OtherScript)
            HIGH https xn--80ak6aa92e.com 443 Url(OtherScript)
            HIGH https xn--80ak6aa92e.com 443 Url(OtherScript)
            HIGH Unreadable { what: "https://xn--/" } Url(Unparsed { error: "invalid international domain name" })
            HIGH https xn--ggle-55da.com 443 Url(OtherScript)
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
