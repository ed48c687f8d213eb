//! What faults leave behind: no values, no buffers and no open files. It is alone in its process,
//! whose files it counts.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

macro_rules! shared {
    ($($name:ident $path:literal)*) => {$(
        #[allow(dead_code, clippy::allow_attributes, reason = "other tests use the rest")]
        #[path = $path]
        mod $name;
    )*};
}
shared! {
    calls "remote/calls.rs"
    proxy "remote/proxy.rs"
    requests "remote/requests.rs"
    support "remote/support.rs"
    under "remote/under.rs"
}

use std::fs;

use proxy::Fault;
use support::eventually;
use tfrt_host::{AsyncValue, host_buffer::HostBuffer};
use under::under;

fn counts() -> (usize, usize, usize) {
    let files = fs::read_dir("/proc/self/fd").unwrap().count();
    (files, AsyncValue::live_count(), HostBuffer::live_count())
}

#[test]
fn faults_leave_nothing_behind() {
    // What a process makes once.
    drop(under(Fault::None));
    std::thread::sleep(std::time::Duration::from_millis(100));
    let before = counts();
    let faults =
        [Fault::RequestLost, Fault::ReplyLost, Fault::CutBefore, Fault::CutAfter, Fault::Slow, Fault::None];
    for fault in faults {
        drop(under(fault));
        eventually(&format!("{fault:?} leaves nothing: {before:?}"), || counts() == before);
    }
}
