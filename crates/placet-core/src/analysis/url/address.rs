//! Addresses that are not simply some public host.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::super::why::AddressConcern;

/// Why an IPv4 address is not a public host.
pub(super) fn concern_v4(address: Ipv4Addr) -> Option<AddressConcern> {
    let [a, b, c, _] = address.octets();
    match (a, b, c) {
        // Azure answers for the machine's own secrets at a public-looking address.
        _ if matches!(
            address.octets(),
            [169, 254, 169, 254] | [100, 100, 100, 200] | [168, 63, 129, 16]
        ) =>
        {
            Some(AddressConcern::HandsOutCredentials)
        }
        _ if address.is_loopback() => Some(AddressConcern::ThisMachine),
        (0, ..) => Some(AddressConcern::ThisNetwork),
        _ if address.is_private() => Some(AddressConcern::Private),
        (100, 64..=127, _) => Some(AddressConcern::Shared),
        _ if address.is_link_local() => Some(AddressConcern::LinkLocal),
        (192, 0, 0 | 2) | (192, 88, 99) | (198, 18 | 19, _) | (198, 51, 100) | (203, 0, 113) => {
            Some(AddressConcern::Reserved)
        }
        (224.., ..) => Some(AddressConcern::Multicast),
        _ => None,
    }
}

/// Why an IPv6 address is not a public host.
pub(super) fn concern_v6(address: Ipv6Addr) -> Option<AddressConcern> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => Some(AddressConcern::ThisMachine),
        [0, 0, 0, 0, 0, 0 | 0xffff, ..]
        | [0, 0, 0, 0, 0xffff, 0, ..]
        | [0x64, 0xff9b, ..]
        | [0x2002, ..]
        | [0x2001, 0, ..] => Some(AddressConcern::Disguised),
        [0xfc00..=0xfdff, ..] => Some(AddressConcern::Private),
        [0xfe80..=0xfebf, ..] => Some(AddressConcern::LinkLocal),
        [0x2001, 0x0db8, ..] | [0x3fff, ..] => Some(AddressConcern::Reserved),
        [0x2000..=0x3fff, ..] => None,
        _ => Some(AddressConcern::Multicast),
    }
}
