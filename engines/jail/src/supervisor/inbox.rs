use super::lease::{LeaseError, Most};
use crate::frame::{HEADER_BYTES, Said};
use std::io;

/// Bytes that are read at a time when nothing larger is known to come.
const READ_BYTES: usize = 8 << 10;
/// The most that is read at a time. What a worker announces is not believed until it is there, so that is how much room it gets for it.
const READ_BYTES_MAX: usize = 256 << 10;
/// The most that a report of walls has.
const READY_BYTES_MAX: usize = 16 << 10;

/// What a worker said: its kind, and its content.
pub(crate) struct Heard {
    pub(crate) said: Said,
    pub(crate) content: Vec<u8>,
}

/// What has been read of a worker's frames and not been taken.
#[derive(Default)]
pub(super) struct Inbox {
    /// Room that was written to once, so that it need not be cleared for each read. What waits in it is from `at` to `end`.
    room: Vec<u8>,
    at: usize,
    end: usize,
}

impl Inbox {
    /// The next frame, if it is there whole.
    pub(super) fn take(&mut self, most: &Most) -> Result<Option<Heard>, LeaseError> {
        let waits = &self.room[self.at..self.end];
        let Some((said, len)) = header(waits, most)?.filter(|(_, len)| waits.len() >= HEADER_BYTES + len) else {
            return Ok(None);
        };
        let content = waits[HEADER_BYTES..HEADER_BYTES + len].to_vec();
        // A step forward and no more: to move what is behind it for each of many small frames would be most of the work.
        self.at += HEADER_BYTES + len;
        if self.at == self.end {
            (self.at, self.end) = (0, 0);
            if self.room.len() > READ_BYTES_MAX {
                self.room = Vec::new();
            }
        }
        Ok(Some(Heard { said, content }))
    }

    /// Reads once, as much as is known to come but no more than is kept at a time; gives the count.
    pub(super) fn read(
        &mut self,
        most: &Most,
        read: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> Result<io::Result<usize>, LeaseError> {
        // What is left is the beginning of one frame; it moves once.
        self.room.copy_within(self.at..self.end, 0);
        (self.at, self.end) = (0, self.end - self.at);
        let announced =
            header(&self.room[..self.end], most)?.map_or(0, |(_, len)| (HEADER_BYTES + len).saturating_sub(self.end));
        let until = self.end + announced.clamp(READ_BYTES, READ_BYTES_MAX);
        if self.room.len() < until {
            self.room.resize(until, 0);
        }
        let count = read(&mut self.room[self.end..until]);
        self.end += count.as_ref().copied().unwrap_or(0).min(until - self.end);
        Ok(count)
    }
}

/// The kind and the length of what comes next, if both are there and make sense.
fn header(waits: &[u8], most: &Most) -> Result<Option<(Said, usize)>, LeaseError> {
    let Some(header) = waits.first_chunk::<HEADER_BYTES>() else { return Ok(None) };
    let said = Said::from_number(header[4]).ok_or(LeaseError::Nonsense("a kind that there is not"))?;
    let len = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
    let most = match said {
        Said::Ready => READY_BYTES_MAX,
        Said::Output => most.output,
        Said::Call => most.call,
        Said::Waits => 8,
        Said::Ended => most.end,
        Said::State => most.state,
    };
    if len > most {
        return Err(LeaseError::Nonsense("more than it may say at once"));
    }
    Ok(Some((said, len)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame;

    const MOST: Most = Most { output: 1 << 20, call: 0, end: 0, state: 1 << 30 };

    fn put(inbox: &mut Inbox, mut bytes: &[u8]) -> usize {
        let mut reads = 0;
        while !bytes.is_empty() {
            let read = inbox.read(&MOST, |room| io::Read::read(&mut bytes, room));
            assert!(matches!(read, Ok(Ok(1..))));
            reads += 1;
        }
        reads
    }

    fn output(text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let at = frame::open(&mut out, Said::Output as u8);
        out.extend(text);
        frame::close(&mut out, at);
        out
    }

    #[test]
    fn frames_come_out_as_they_went_in_wherever_they_are_cut() {
        let texts: [&[u8]; 4] = [b"", b"one", &[7; 600 << 10], b"last"];
        let all: Vec<u8> = texts.iter().flat_map(|text| output(text)).collect();
        for cut in [1, 4, 5, 6, 12, 13, 14, 700, all.len() - 9, all.len() - 1] {
            let mut inbox = Inbox::default();
            let mut found = Vec::new();
            for part in [&all[..cut], &all[cut..]] {
                put(&mut inbox, part);
                while let Ok(Some(Heard { said: Said::Output, content })) = inbox.take(&MOST) {
                    found.push(content);
                }
            }
            assert_eq!(found, texts, "cut at {cut}");
            assert_eq!((inbox.at, inbox.end), (0, 0));
        }
    }

    #[test]
    fn what_is_announced_gets_no_room_before_it_is_there() {
        let mut inbox = Inbox::default();
        let mut announced = (1u32 << 30).to_le_bytes().to_vec();
        announced.push(Said::State as u8);
        put(&mut inbox, &announced);
        put(&mut inbox, &[0; 1 << 10]);
        assert!(inbox.take(&MOST).is_ok_and(|heard| heard.is_none()));
        assert!(inbox.room.len() <= READ_BYTES_MAX + (2 << 10), "{}", inbox.room.len());
        // One that may not be so long is refused as soon as its header is there.
        let mut inbox = Inbox::default();
        put(&mut inbox, &[1, 0, 0, 0, Said::Ended as u8]);
        assert!(inbox.take(&MOST).is_err());
    }
}
