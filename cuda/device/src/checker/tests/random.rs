//! Random programs: the checker agrees with a search of all orders.

use proptest::prelude::*;

use super::*;

/// A piece of a random program. In an exchange, bit `s` says that stream `s` tells or learns.
#[derive(Debug, Clone, Copy)]
enum Piece {
    Use { stream: usize, from: u64, bytes: u64, writes: bool },
    Record { stream: usize, event: usize },
    Wait { stream: usize, event: usize },
    HostSees { stream: usize },
    Exchange { tell: u8, learn: u8 },
}

/// A step that is queued at once: a piece of one stream, or a stream's part of an exchange.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// The index of its piece.
    piece: usize,
    /// The stream, or `None` for the host, which waits.
    stream: Option<usize>,
    event: Option<usize>,
}

impl Step {
    /// Returns whether nothing orders the two, so that a program may queue them either way.
    fn is_free_of(&self, other: &Self) -> bool {
        let [one, two] = [self, other].map(|step| step.stream);
        one.is_some() && two.is_some() && one != two && (self.event.is_none() || self.event != other.event)
    }
}

/// Returns the steps of a program in an order in which a host may queue them. `choices` select
/// among the possible orders.
fn steps(pieces: &[Piece], choices: &[usize]) -> Vec<Step> {
    let of_piece = |(piece, what): (usize, &Piece)| match *what {
        Piece::Use { stream, .. } => vec![Step { piece, stream: Some(stream), event: None }],
        Piece::Record { stream, event } | Piece::Wait { stream, event } => {
            vec![Step { piece, stream: Some(stream), event: Some(event) }]
        }
        Piece::HostSees { .. } => vec![Step { piece, stream: None, event: None }],
        Piece::Exchange { tell, learn } => {
            let takes_part = |stream: &usize| (tell | learn) >> stream & 1 == 1;
            (0..3)
                .filter(takes_part)
                .map(|stream| Step { piece, stream: Some(stream), event: None })
                .collect()
        }
    };
    let mut left: Vec<Step> = pieces.iter().enumerate().flat_map(of_piece).collect();
    let mut choices = choices.iter().cycle();
    let mut ordered = Vec::new();
    while !left.is_empty() {
        let may_come = |at: &usize| left[..*at].iter().all(|before| before.is_free_of(&left[*at]));
        let next: Vec<usize> = (0..left.len()).filter(may_come).collect();
        ordered.push(left.remove(next[choices.next().unwrap() % next.len()]));
    }
    ordered
}

fn piece() -> impl Strategy<Value = Piece> {
    let (stream, event) = (0usize..3, 0usize..2);
    prop_oneof![
        4 => (stream.clone(), 0u64..16, 1u64..8, any::<bool>())
            .prop_map(|(stream, from, bytes, writes)| Piece::Use { stream, from, bytes, writes }),
        2 => (stream.clone(), event.clone()).prop_map(|(stream, event)| Piece::Record { stream, event }),
        2 => (stream.clone(), event).prop_map(|(stream, event)| Piece::Wait { stream, event }),
        1 => stream.prop_map(|stream| Piece::HostSees { stream }),
        2 => (1u8..8, 0u8..8).prop_map(|(tell, learn)| Piece::Exchange { tell, learn }),
    ]
}

/// Returns whether two uses conflict without an order. Follows every edge: for each use, the set of
/// uses before it.
fn has_race(pieces: &[Piece]) -> bool {
    let (mut streams, mut events, mut host) = (vec![0u64; 3], [None; 2], 0u64);
    let mut uses: Vec<(u64, u64, u64, bool)> = vec![];
    for piece in pieces {
        match *piece {
            Piece::Use { stream, from, bytes, writes } => {
                let before = streams[stream] | host;
                uses.push((before, from, bytes, writes));
                streams[stream] = before | 1 << (uses.len() - 1);
            }
            Piece::Record { stream, event } => {
                streams[stream] |= host;
                events[event] = Some(streams[stream]);
            }
            Piece::Wait { stream, event } => streams[stream] |= events[event].unwrap_or(0),
            Piece::HostSees { stream } => host |= streams[stream],
            Piece::Exchange { tell, learn } => {
                let of = |ranks: u8| (0..3).filter(move |stream| ranks >> stream & 1 == 1);
                let told = of(tell).fold(host, |told, stream| told | streams[stream]);
                of(learn).for_each(|stream| streams[stream] |= told);
            }
        }
    }
    let conflicts = |i: usize, j: usize| {
        let ((_, a, a_bytes, a_writes), (before, b, b_bytes, b_writes)) = (uses[i], uses[j]);
        (a_writes || b_writes) && a < b + b_bytes && b < a + a_bytes && before >> i & 1 == 0
    };
    (0..uses.len()).any(|j| (0..j).any(|i| conflicts(i, j)))
}

proptest! {
    #[test]
    fn races_are_found_exactly_when_there_are_any(
        pieces in prop::collection::vec(piece(), 0..40),
        choices in prop::collection::vec(0usize..9, 1..40),
    ) {
        let mut p = Program::new();
        let stream = |number: usize| 50 + number as Id;
        let event = |number: usize| 60 + number as Id;
        let mut recorded = [false; 2];
        let mut operations = vec![];
        for step in steps(&pieces, &choices) {
            match pieces[step.piece] {
                Piece::Use { stream: s, from, bytes, writes } => {
                    let (address, kind) = (4096 + from, if writes { AccessKind::Write } else { AccessKind::Read });
                    operations.push((step.piece, p.queue(stream(s), 10, &[Access { address, bytes, kind }])));
                }
                Piece::Record { stream: s, event: e } => {
                    recorded[e] = true;
                    p.checker.event_recorded(event(e), stream(s), at(20));
                }
                Piece::Wait { stream: s, event: e } => {
                    p.checker.stream_waits(stream(s), event(e), recorded[e], at(21)).unwrap();
                }
                Piece::HostSees { stream: s } => p.checker.host_saw_stream(stream(s)),
                Piece::Exchange { tell, learn } => {
                    let (count, s) = (|ranks: u8| ranks.count_ones(), step.stream.unwrap());
                    let number = step.piece as u64;
                    let exchange = Exchange { line: 70, number, tell: count(tell), learn: count(learn) };
                    if tell >> s & 1 == 1 {
                        p.checker.exchange_told(stream(s), exchange);
                    }
                    if learn >> s & 1 == 1 {
                        p.checker.exchange_learned(stream(s), exchange);
                    }
                }
            }
        }
        // The pieces are in an order in which they can run.
        operations.sort_unstable();
        operations.into_iter().for_each(|(_, operation)| p.done(operation, &[]));
        let found = p.checker.reports().iter().any(|report| report.mistake == Mistake::Race);
        prop_assert_eq!(found, has_race(&pieces));
    }
}
