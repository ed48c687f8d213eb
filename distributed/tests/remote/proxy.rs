//! A proxy between client and server that loses, delays and cuts what passes through it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    runtime::Handle,
    time::sleep,
};

/// What a proxy does with the bytes of each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Fault {
    /// Passes them on.
    None,
    /// Drops what the client sends.
    RequestLost,
    /// Drops what the server sends.
    ReplyLost,
    /// Cuts the connection as soon as the client sends something.
    CutBefore,
    /// Cuts the connection as soon as the server sends something.
    CutAfter,
    /// Passes each piece on after 20 ms.
    Slow,
}

const ALL: [Fault; 6] =
    [Fault::None, Fault::RequestLost, Fault::ReplyLost, Fault::CutBefore, Fault::CutAfter, Fault::Slow];

/// A proxy that listens.
pub(crate) struct Proxy {
    pub(crate) address: String,
    fault: Arc<AtomicU8>,
}

impl Proxy {
    /// Passes connections on to `target`.
    pub(crate) fn start(handle: &Handle, target: String) -> Self {
        let listener = handle.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let fault = Arc::new(AtomicU8::new(0));
        let shared = fault.clone();
        handle.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(&target).await else { continue };
                client.set_nodelay(true).unwrap();
                server.set_nodelay(true).unwrap();
                tokio::spawn(join(client, server, shared.clone()));
            }
        });
        Self { address, fault }
    }

    pub(crate) fn set(&self, fault: Fault) {
        self.fault.store(fault as u8, Ordering::SeqCst);
    }
}

async fn join(client: TcpStream, server: TcpStream, fault: Arc<AtomicU8>) {
    let ((client_read, client_write), (server_read, server_write)) =
        (client.into_split(), server.into_split());
    let up = pass(client_read, server_write, fault.clone(), Fault::RequestLost, Fault::CutBefore);
    let down = pass(server_read, client_write, fault, Fault::ReplyLost, Fault::CutAfter);
    // Either end closes both.
    tokio::select! { () = up => {}, () = down => {} }
}

async fn pass(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    fault: Arc<AtomicU8>,
    lost: Fault,
    cut: Fault,
) {
    let mut buffer = vec![0; 65_536];
    loop {
        let Ok(count @ 1..) = from.read(&mut buffer).await else { return };
        let fault = ALL[usize::from(fault.load(Ordering::SeqCst))];
        if fault == cut {
            return;
        }
        if fault == lost {
            continue;
        }
        if fault == Fault::Slow {
            sleep(Duration::from_millis(20)).await;
        }
        if to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}
