//! Which addresses are on the public internet.

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 ranges that lead to this machine, its neighbours, or nowhere.
const NOT_PUBLIC_V4: [(Ipv4Addr, u8); 17] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
    // A cloud's own services, at an address that looks public.
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    (Ipv4Addr::new(100, 100, 100, 200), 32),
];

/// IPv6 is public in here, and outside the exceptions below.
const GLOBAL_V6: (Ipv6Addr, u8) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);
const NOT_PUBLIC_V6: [(Ipv6Addr, u8); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// Whether an address belongs to the public internet. One that wraps an IPv4 address is as public as that.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !NOT_PUBLIC_V4.iter().any(|(net, len)| within_v4(address, *net, *len)),
        IpAddr::V6(address) => match wrapped(address) {
            // The compatible form was given up long ago: nobody public has such an address.
            Some(v4) => address.segments()[..6] != [0; 6] && is_public(IpAddr::V4(v4)),
            None => {
                within_v6(address, GLOBAL_V6.0, GLOBAL_V6.1)
                    && !NOT_PUBLIC_V6.iter().any(|(net, len)| within_v6(address, *net, *len))
            }
        },
    }
}

/// An address in its one form: an IPv4 address that is written as an IPv6 one is the same address.
pub(crate) fn plain(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

/// A range in its one form, from its first address.
pub(crate) fn plain_net(net: IpNet) -> IpNet {
    let net = net.trunc();
    match (plain(net.network()), net.prefix_len().checked_sub(96)) {
        (IpAddr::V4(v4), Some(len)) if net.max_prefix_len() == 128 => Ipv4Net::new(v4, len).map_or(net, IpNet::V4),
        _ => net,
    }
}

/// Every form in which an address can be forbidden: itself, and the IPv4 address it leads to.
fn forms(address: IpAddr) -> Vec<IpAddr> {
    let inner = match address {
        IpAddr::V6(v6) => wrapped(v6).map(IpAddr::V4),
        IpAddr::V4(_) => None,
    };
    std::iter::once(address).chain(inner).collect()
}

/// The IPv4 address that is reached through an IPv6 one: mapped, compatible, translated (NAT64) or 6to4.
fn wrapped(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = address.segments();
    let from = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match s {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => Some(from(high, low)),
        [0, 0, 0, 0, 0, 0, high, low] if (high, low) != (0, 0) && (high, low) != (0, 1) => Some(from(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(from(high, low)),
        [0x2002, high, low, ..] => Some(from(high, low)),
        _ => None,
    }
}

fn within_v4(address: Ipv4Addr, net: Ipv4Addr, len: u8) -> bool {
    Ipv4Net::new(net, len).is_ok_and(|net| net.contains(&address))
}

fn within_v6(address: Ipv6Addr, net: Ipv6Addr, len: u8) -> bool {
    Ipv6Net::new(net, len).is_ok_and(|net| net.contains(&address))
}

/// Whether an address lies in a forbidden range, in any of its forms. A grant is for the one form that it names.
pub(crate) fn within(net: &IpNet, address: IpAddr) -> bool {
    forms(address).iter().any(|form| net.contains(form))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_public_internet_is_public() {
        for address in [
            "8.8.8.8",
            "1.1.1.1",
            "172.15.0.1",
            "172.32.0.1",
            "100.63.0.1",
            "2606:4700::1",
            "2a00::1",
            "64:ff9b::808:808",
            "::ffff:8.8.8.8",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
        for address in [
            "0.0.0.0",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.254",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.169.254",
            "169.254.170.2",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "168.63.129.16",
            "100.100.100.200",
            "::",
            "::1",
            "::127.0.0.1",
            "::8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:0:127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:a9fe:a9fe::",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "3fff::1",
            "5f00::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }
}
