//! Addresses that are not simply some public host.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Why an IPv4 address is not a public host.
pub(super) fn concern_v4(address: Ipv4Addr) -> Option<&'static str> {
    let [a, b, c, _] = address.octets();
    match (a, b, c) {
        // Azure answers for the machine's own secrets at a public-looking address.
        _ if matches!(
            address.octets(),
            [169, 254, 169, 254] | [100, 100, 100, 200] | [168, 63, 129, 16]
        ) =>
        {
            Some("it hands out the machine's own credentials")
        }
        _ if address.is_loopback() => Some("it is this machine"),
        (0, ..) => Some("it is this machine or network"),
        _ if address.is_private() => Some("it is a private address"),
        (100, 64..=127, _) => Some("it is a shared address of a provider"),
        _ if address.is_link_local() => Some("it is a link-local address"),
        (192, 0, 0 | 2) | (192, 88, 99) | (198, 18 | 19, _) | (198, 51, 100) | (203, 0, 113) => {
            Some("it is a reserved address")
        }
        (224.., ..) => Some("it is a multicast or reserved address"),
        _ => None,
    }
}

/// Why an IPv6 address is not a public host.
pub(super) fn concern_v6(address: Ipv6Addr) -> Option<&'static str> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => Some("it is this machine"),
        [0, 0, 0, 0, 0, 0 | 0xffff, ..] | [0, 0, 0, 0, 0xffff, 0, ..] => {
            Some("it is an IPv4 address in disguise")
        }
        [0x64, 0xff9b, ..] | [0x2002, ..] | [0x2001, 0, ..] => Some("it is an IPv4 address in disguise"),
        [0xfc00..=0xfdff, ..] => Some("it is a private address"),
        [0xfe80..=0xfebf, ..] => Some("it is a link-local address"),
        [0x2001, 0x0db8, ..] | [0x3fff, ..] => Some("it is a reserved address"),
        [0x2000..=0x3fff, ..] => None,
        _ => Some("it is a multicast or reserved address"),
    }
}
