//! The messages with which the ranks of a group agree on a collective before it starts.

use std::time::Duration;

/// The size of a message in bytes.
pub(super) const SIZE: usize = 512;
const HEAD: usize = 28;

/// What a message says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// From a member: it has started a collective, and fails unless that is done in time.
    Arrival,
    /// From the group's first rank: all members have started the same collective.
    Go,
    /// From the group's first rank: the members disagree on this collective.
    Mismatch,
    /// From the group's first rank: the job has failed.
    Fatal,
    /// From a member: a collective that has started is late.
    Stuck,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) kind: Kind,
    /// Stands for the key.
    pub(super) key: u64,
    /// Stands for everything that must agree.
    pub(super) agreement: u64,
    /// How long the sender waits.
    pub(super) remaining: Duration,
    /// The collective or the error in words.
    pub(super) text: String,
}

impl Message {
    pub(super) fn encode(&self) -> Box<[u8]> {
        let mut bytes = vec![0; SIZE].into_boxed_slice();
        let mut end = self.text.len().min(SIZE - HEAD);
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let kind = match self.kind {
            Kind::Arrival => 0u16,
            Kind::Go => 1,
            Kind::Mismatch => 2,
            Kind::Fatal => 3,
            Kind::Stuck => 4,
        };
        bytes[..2].copy_from_slice(&kind.to_le_bytes());
        bytes[2..4].copy_from_slice(&(end as u16).to_le_bytes());
        bytes[4..12].copy_from_slice(&self.key.to_le_bytes());
        bytes[12..20].copy_from_slice(&self.agreement.to_le_bytes());
        let remaining_us = u64::try_from(self.remaining.as_micros()).unwrap_or(u64::MAX);
        bytes[20..HEAD].copy_from_slice(&remaining_us.to_le_bytes());
        bytes[HEAD..HEAD + end].copy_from_slice(&self.text.as_bytes()[..end]);
        bytes
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let short = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
        let long = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let kind = match short(0)? {
            0 => Kind::Arrival,
            1 => Kind::Go,
            2 => Kind::Mismatch,
            3 => Kind::Fatal,
            4 => Kind::Stuck,
            _ => return None,
        };
        let text = bytes.get(HEAD..HEAD + usize::from(short(2)?))?;
        Some(Self {
            kind,
            key: long(4)?,
            agreement: long(12)?,
            remaining: Duration::from_micros(long(20)?),
            text: String::from_utf8_lossy(text).into_owned(),
        })
    }
}

/// Returns a number for a text that is the same in all processes (FNV-1a).
pub(super) fn fingerprint(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_way() {
        for kind in [Kind::Arrival, Kind::Go, Kind::Mismatch, Kind::Fatal] {
            let message = Message {
                kind,
                key: 1,
                agreement: u64::MAX,
                remaining: Duration::from_millis(1234),
                text: "allreduce of 7 F32 as 'größe'".into(),
            };
            assert_eq!(Message::decode(&message.encode()).unwrap(), message);
        }
    }

    #[test]
    fn long_texts_are_cut_and_garbage_is_refused() {
        let text = "ü".repeat(SIZE);
        let message = Message {
            kind: Kind::Fatal,
            key: 0,
            agreement: 0,
            remaining: Duration::ZERO,
            text: text.clone(),
        };
        let cut = Message::decode(&message.encode()).unwrap().text;
        assert!(text.starts_with(&cut) && cut.len() == SIZE - HEAD);
        assert_eq!(Message::decode(&[0xff; SIZE]), None);
        assert_eq!(Message::decode(&[0, 0, 0xff, 0xff]), None);
    }
}
