//! Calls that come as JSON with bytes beside it: everything but tools, timers and reading bodies.
//!
//! ```text
//! length of the JSON u32 · JSON · bytes
//! ```

use isolith_core::HostCall;

/// Reads what `ask` of `guest/calls.c` sent; nothing when it is malformed.
pub(crate) fn read(data: &[u8]) -> Option<HostCall> {
    let (len, rest) = data.split_first_chunk()?;
    let (json, bytes) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
    HostCall::from_guest(std::str::from_utf8(json).ok()?, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use isolith_core::RequestId;

    #[test]
    fn a_frame_that_lies_is_not_believed() {
        let json = br#"{"kind":"write_body","request":3,"last":true}"#;
        let whole = [&(json.len() as u32).to_le_bytes()[..], json, b"xy"].concat();
        let call = HostCall::WriteBody { request: RequestId(3), bytes: b"xy".to_vec(), last: true };
        assert_eq!(read(&whole), Some(call));
        for cut in 0..4 + json.len() {
            assert_eq!(read(&whole[..cut]), None, "cut at {cut}");
        }
        let mut beyond = whole.clone();
        beyond[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(read(&beyond), None);
        let mut binary = whole;
        binary[10] = 0xff;
        assert_eq!(read(&binary), None);
    }
}
