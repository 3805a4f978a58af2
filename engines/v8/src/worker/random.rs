//! All randomness of a run, grown from its seed in the same way as in the other engines.

/// ChaCha20 for `crypto`, and a small generator of its own for `Math.random`.
pub(crate) struct Random {
    state: [u32; 16],
    block: [u8; 64],
    used: usize,
    small: u64,
}

const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

impl Random {
    pub(crate) fn new(seed: &[u8; 32]) -> Random {
        let mut state = [0; 16];
        state[..4].copy_from_slice(&CONSTANTS);
        for (word, bytes) in state[4..12].iter_mut().zip(seed.chunks_exact(4)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        // It starts from bytes of the seed that `crypto` never shows.
        let first = u64::from(state[4]) | u64::from(state[5]) << 32;
        let small = match first ^ 0x9e37_79b9_7f4a_7c15 {
            0 => 1,
            small => small,
        };
        Random { state, block: [0; 64], used: 64, small }
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            if self.used == self.block.len() {
                self.next_block();
            }
            *byte = self.block[self.used];
            self.used += 1;
        }
    }

    /// What `Math.random` gives next: xorshift64*.
    pub(crate) fn number(&mut self) -> f64 {
        let mut x = self.small;
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        self.small = x;
        f64::from_bits(0x3ff << 52 | x.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 12) - 1.0
    }

    fn next_block(&mut self) {
        let mut x = self.state;
        for _ in 0..10 {
            for [a, b, c, d] in [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]] {
                quarter(&mut x, a, b, c, d);
            }
            for [a, b, c, d] in [[0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]] {
                quarter(&mut x, a, b, c, d);
            }
        }
        for (at, word) in x.iter().enumerate() {
            self.block[4 * at..4 * at + 4].copy_from_slice(&word.wrapping_add(self.state[at]).to_le_bytes());
        }
        self.used = 0;
        self.state[12] = self.state[12].wrapping_add(1);
        if self.state[12] == 0 {
            self.state[13] = self.state[13].wrapping_add(1);
        }
    }
}

fn quarter(x: &mut [u32; 16], a: usize, b: usize, c: usize, d: usize) {
    x[a] = x[a].wrapping_add(x[b]);
    x[d] = (x[d] ^ x[a]).rotate_left(16);
    x[c] = x[c].wrapping_add(x[d]);
    x[b] = (x[b] ^ x[c]).rotate_left(12);
    x[a] = x[a].wrapping_add(x[b]);
    x[d] = (x[d] ^ x[a]).rotate_left(8);
    x[c] = x[c].wrapping_add(x[d]);
    x[b] = (x[b] ^ x[c]).rotate_left(7);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_chacha20() {
        // RFC 8439, A.1, test vector 1: a key of zeros.
        let mut bytes = [0; 8];
        Random::new(&[0; 32]).fill(&mut bytes);
        assert_eq!(bytes, [0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90]);
    }

    #[test]
    fn numbers_lie_between_0_and_1_and_repeat_with_the_seed() {
        let draw = || {
            let mut random = Random::new(&[7; 32]);
            std::iter::repeat_with(move || random.number()).take(100).collect::<Vec<_>>()
        };
        assert!(draw().iter().all(|number| (0.0..1.0).contains(number)));
        assert_eq!(draw(), draw());
    }
}
