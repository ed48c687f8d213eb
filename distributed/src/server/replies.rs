//! At most once: what a server has answered, by client and request.
//!
//! A request that arrives again waits for the first one, or gets its reply; it is never executed
//! again. The client says with each request up to which number its requests are settled, and their
//! replies are dropped. Beyond a bound, the oldest replies are dropped unsettled. The server then
//! refuses old requests that it does not know, because it cannot tell whether it has executed them.

use std::{
    any::Any,
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tfrt_host::{Diagnostic, ErrorCode};
use tokio::sync::watch;

use crate::proto::Header;

/// The reply to a request. Requests of a kind have replies of one type.
pub(crate) type Reply = Result<Arc<dyn Any + Send + Sync>, Arc<Diagnostic>>;

/// Replies larger than this are not kept: the client is told so if it asks again.
const MAX_KEPT_BYTES: usize = 1 << 20;

/// What is to be done with a request.
pub(crate) enum Admission {
    /// It is new. It is to be executed, and the ticket gets the reply.
    Execute(Ticket),
    /// It came before. This becomes its reply.
    Repeat(watch::Receiver<Option<Reply>>),
}

/// The replies to all clients.
pub(crate) struct Replies {
    max_clients: usize,
    max_replies: usize,
    clients: Arc<Mutex<HashMap<u64, Client>>>,
}

struct Client {
    seen: Instant,
    /// Unknown requests up to this number are refused.
    floor: u64,
    requests: BTreeMap<u64, watch::Receiver<Option<Reply>>>,
}

/// The duty to answer a request. Dropping it answers with an error.
pub(crate) struct Ticket {
    sender: watch::Sender<Option<Reply>>,
}

impl Ticket {
    /// Answers the request. A reply of more than a MiB is not kept for later.
    pub(crate) fn answer(self, reply: Reply, size_bytes: usize) {
        let kept = if size_bytes > MAX_KEPT_BYTES { Err(Arc::new(forgotten())) } else { reply };
        self.sender.send_replace(Some(kept));
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.sender.send_if_modified(|reply| {
            let is_open = reply.is_none();
            if is_open {
                let message = "the request was cancelled before it was answered";
                *reply = Some(Err(Arc::new(Diagnostic::new(ErrorCode::Cancelled, message))));
            }
            is_open
        });
    }
}

impl Replies {
    /// Keeps so many clients, and so many replies for each.
    pub(crate) fn new(max_clients: usize, max_replies: usize) -> Self {
        Self { max_clients, max_replies, clients: Arc::default() }
    }

    /// Says what to do with a request.
    pub(crate) fn admit(&self, header: &Header) -> Result<Admission, Diagnostic> {
        let (client_id, request_id) = (header.client_id, header.request_id);
        if request_id == 0 || client_id == 0 {
            return Err(Diagnostic::invalid_argument("the request's header lacks the client or its number"));
        }
        let mut clients = self.clients.lock();
        if !clients.contains_key(&client_id) && clients.len() >= self.max_clients {
            let message = format!("the server has {} clients, the most that it serves", clients.len());
            return Err(Diagnostic::new(ErrorCode::ResourceExhausted, message));
        }
        let new = || Client { seen: Instant::now(), floor: 0, requests: BTreeMap::new() };
        let client = clients.entry(client_id).or_insert_with(new);
        client.seen = Instant::now();
        client.settle(header.settled);
        if let Some(reply) = client.requests.get(&request_id) {
            return Ok(Admission::Repeat(reply.clone()));
        }
        if request_id <= client.floor {
            return Err(forgotten());
        }
        client.make_room(self.max_replies)?;
        let (sender, receiver) = watch::channel(None);
        client.requests.insert(request_id, receiver);
        Ok(Admission::Execute(Ticket { sender }))
    }

    /// Forgets clients that have not been heard of for so long and wait for nothing.
    pub(crate) fn collect(&self, idle: Duration) {
        self.clients.lock().retain(|_, client| {
            let waits = client.requests.values().any(|reply| reply.borrow().is_none());
            waits || client.seen.elapsed() < idle
        });
    }

    /// Returns how many replies are kept for all clients.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.clients.lock().values().map(|client| client.requests.len()).sum()
    }
}

impl Client {
    fn settle(&mut self, settled: u64) {
        if settled > self.floor {
            self.floor = settled;
            let Some(first) = settled.checked_add(1) else { return self.requests.clear() };
            self.requests = self.requests.split_off(&first);
        }
    }

    /// Drops the oldest reply if there are too many. Requests that still run are never dropped.
    fn make_room(&mut self, max_replies: usize) -> Result<(), Diagnostic> {
        if self.requests.len() < max_replies {
            return Ok(());
        }
        let oldest = self.requests.iter().find(|(_, reply)| reply.borrow().is_some()).map(|(&id, _)| id);
        let oldest = oldest.ok_or_else(|| {
            let message = format!("{max_replies} requests of the client are in progress");
            Diagnostic::new(ErrorCode::ResourceExhausted, message)
        })?;
        self.requests.remove(&oldest);
        self.floor = self.floor.max(oldest);
        Ok(())
    }
}

fn forgotten() -> Diagnostic {
    let message = "the request is an old one whose reply is not kept; it was not executed again";
    Diagnostic::new(ErrorCode::FailedPrecondition, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(request_id: u64, settled: u64) -> Header {
        Header { client_id: 1, request_id, settled, ..Header::default() }
    }

    fn execute(replies: &Replies, id: u64, settled: u64) -> Ticket {
        match replies.admit(&header(id, settled)) {
            Ok(Admission::Execute(ticket)) => ticket,
            Ok(Admission::Repeat(_)) => unreachable!("request {id} was not seen before"),
            Err(error) => unreachable!("{error}"),
        }
    }

    fn repeated(replies: &Replies, id: u64) -> Option<Option<u8>> {
        match replies.admit(&header(id, 0)) {
            Ok(Admission::Repeat(reply)) => Some(
                reply.borrow().clone().map(|reply| reply.map_or(0, |value| *value.downcast::<u8>().unwrap())),
            ),
            _ => None,
        }
    }

    #[test]
    fn requests_are_executed_once() {
        let replies = Replies::new(1, 10);
        let ticket = execute(&replies, 5, 0);
        assert_eq!(repeated(&replies, 5), Some(None));
        ticket.answer(Ok(Arc::new(7_u8)), 1);
        assert_eq!(repeated(&replies, 5), Some(Some(7)));
        execute(&replies, 4, 0).answer(Ok(Arc::new(8_u8)), 1);
        drop(execute(&replies, 6, 5));
        assert_eq!((repeated(&replies, 5), repeated(&replies, 6)), (None, Some(Some(0))));
        assert_eq!(replies.len(), 1);
    }

    #[test]
    fn what_is_dropped_is_refused_and_not_executed_again() {
        let replies = Replies::new(1, 2);
        for id in 1..=3 {
            execute(&replies, id, 0).answer(Ok(Arc::new(1_u8)), 1);
        }
        assert_eq!(replies.admit(&header(1, 0)).err().unwrap().code, ErrorCode::FailedPrecondition);
        assert_eq!((repeated(&replies, 2), repeated(&replies, 3)), (Some(Some(1)), Some(Some(1))));
        execute(&replies, 4, 0).answer(Ok(Arc::new(1_u8)), MAX_KEPT_BYTES + 1);
        assert_eq!(repeated(&replies, 4), Some(Some(0)));
    }

    #[test]
    fn clients_and_requests_in_progress_are_bounded() {
        let replies = Replies::new(1, 2);
        let running = [execute(&replies, 1, 0), execute(&replies, 2, 0)];
        assert_eq!(replies.admit(&header(3, 0)).err().unwrap().code, ErrorCode::ResourceExhausted);
        let other = Header { client_id: 2, ..header(1, 0) };
        assert_eq!(replies.admit(&other).err().unwrap().code, ErrorCode::ResourceExhausted);
        replies.collect(Duration::ZERO);
        assert_eq!(replies.len(), 2);
        drop(running);
        replies.collect(Duration::ZERO);
        assert!(replies.admit(&other).is_ok());
    }
}
