//! Orders that collectives make: exchanges between streams.

use super::*;

/// An exchange between two ranks on two streams: both tell, or the first tells the second.
fn exchange(number: u64, both: bool) -> Exchange {
    let ranks = if both { 2 } else { 1 };
    Exchange { line: 70, number, tell: ranks, learn: ranks }
}

#[test]
fn receivers_are_ordered_after_senders() {
    for (first, both) in [(S, true), (T, true), (S, false), (T, false)] {
        let mut p = Program::new();
        p.checker.host_saw_stream(S);
        let part = |p: &mut Program, stream: Id| {
            if both || stream == S {
                p.checker.exchange_told(stream, exchange(1, both));
            }
            if both || stream == T {
                p.checker.exchange_learned(stream, exchange(1, both));
            }
        };
        // Each stream in its own order, and one of them before the other has reached anything.
        let uses = |p: &mut Program, stream: Id| {
            if stream == S {
                let write = p.queue(S, 10, &[write()]);
                part(p, S);
                vec![write]
            } else {
                part(p, T);
                vec![p.queue(T, 11, &[read()])]
            }
        };
        let other = if first == S { T } else { S };
        let mut queued = uses(&mut p, first);
        queued.extend(uses(&mut p, other));
        if first == T {
            queued.reverse();
        }
        queued.into_iter().for_each(|operation| p.done(operation, &[]));
        assert_eq!(p.found(), [], "{first} first, both: {both}");
        assert!(p.checker.state.lock().gatherings.is_empty());
    }
}

#[test]
fn senders_learn_nothing() {
    let mut p = Program::new();
    p.checker.host_saw_stream(S);
    p.run(T, 10, &[write()]);
    p.checker.exchange_told(S, exchange(1, false));
    p.checker.exchange_learned(T, exchange(1, false));
    p.run(S, 11, &[read()]);
    assert_eq!(p.found(), [(Mistake::Race, 11, Some(10))]);
}

#[test]
fn events_order_work_after_an_unfinished_exchange() {
    let mut p = Program::new();
    p.checker.host_saw_stream(S);
    let written = p.queue(S, 10, &[write()]);
    for number in 1..=3 {
        p.checker.exchange_told(T, exchange(number, true));
        p.checker.exchange_learned(T, exchange(number, true));
    }
    p.record(T);
    p.wait(3);
    let read = p.queue(3, 11, &[read()]);
    for number in 1..=3 {
        p.checker.exchange_told(S, exchange(number, true));
        p.checker.exchange_learned(S, exchange(number, true));
    }
    let late = p.queue(S, 12, &[write()]);
    [written, read].into_iter().for_each(|operation| p.done(operation, &[]));
    assert_eq!(p.found(), []);
    p.done(late, &[]);
    assert_eq!(p.found(), [(Mistake::Race, 12, Some(11))], "nobody waits for what follows");
}

/// A rank passes on only what it was told, in whatever order the ranks are queued.
#[test]
fn exchanges_pass_on_only_what_was_told_there() {
    let u = 3;
    let part = |p: &mut Program, stream: Id, [told, learned]: [&[Id]; 2], number: u64| {
        let exchange = Exchange { line: 70, number, tell: told.len() as u32, learn: learned.len() as u32 };
        if told.contains(&stream) {
            p.checker.exchange_told(stream, exchange);
        }
        if learned.contains(&stream) {
            p.checker.exchange_learned(stream, exchange);
        }
    };
    // A reduction to T, and then a broadcast from S. A round between the two that exchanges nothing
    // may be missing.
    let (reduce, broadcast): ([&[Id]; 2], [&[Id]; 2]) = ([&[S, T, u], &[T]], [&[S], &[T, u]]);
    for ranks in [[S, T, u], [T, u, S], [u, S, T]] {
        for (second, writer, reader, raced) in
            [(2, T, u, true), (3, T, u, true), (2, u, T, false), (3, u, T, false)]
        {
            let by_rounds = ranks
                .map(|rank| (rank, reduce, 1))
                .into_iter()
                .chain(ranks.map(|rank| (rank, broadcast, second)));
            let by_ranks = ranks.into_iter().flat_map(|rank| [(rank, reduce, 1), (rank, broadcast, second)]);
            for order in [by_rounds.collect::<Vec<_>>(), by_ranks.collect()] {
                let mut p = Program::new();
                p.checker.host_saw_stream(S);
                let written = p.queue(writer, 10, &[write()]);
                order.iter().for_each(|&(rank, who, number)| part(&mut p, rank, who, number));
                let read = p.queue(reader, 11, &[read()]);
                [written, read].into_iter().for_each(|operation| p.done(operation, &[]));
                let races: Vec<_> = raced.then_some((Mistake::Race, 11, Some(10))).into_iter().collect();
                assert_eq!(p.found(), races, "{writer} to {reader}: {order:?}");
            }
        }
    }
}
