//! Makes every call under a fault.

use std::time::{Duration, Instant};

use tfrt_distributed::{Config, proto};
use tfrt_host::Diagnostic;

use crate::{
    calls::CALLS,
    proxy::{Fault, Proxy},
    requests::{COUNT, TASK, TENSOR},
    support::{TestClient, TestServer},
};

const DEADLINE: Duration = Duration::from_millis(400);

/// The outcome of each call, by its name.
pub(crate) type Outcomes = Vec<(&'static str, Result<(), Diagnostic>)>;

/// Returns a configuration whose calls end soon.
pub(crate) fn quick(config: &Config) -> Config {
    let mut config = config.clone();
    config.calls.deadline_ms = DEADLINE.as_millis() as u64;
    config.calls.max_retries = 2;
    config
}

/// Makes each call once under a fault, at the same time.
pub(crate) fn under(fault: Fault) -> (TestServer, Outcomes) {
    let server = TestServer::start(|_| {}, None);
    let direct = TestClient::connect(&server.address(), &server.config, 7);
    direct.register("count", COUNT).unwrap();
    direct.register("tensor", TENSOR).unwrap();
    direct.execute("tensor", &[1]).unwrap();
    // What is only slow has time.
    let config = match fault {
        Fault::Slow | Fault::None => server.config.clone(),
        _ => quick(&server.config),
    };
    let limit = config.calls.deadline() * 3;
    let mut outcomes = Vec::new();
    let mut running = Vec::new();
    for (number, (name, call)) in (100..).zip(CALLS) {
        let proxy = Proxy::start(server.fabric.handle(), server.address());
        let client = TestClient::new(&proxy.address, &config, None, 7);
        // The connection exists before the fault.
        client.wait(client.client.get_devices(proto::GetDevicesRequest::default())).unwrap();
        proxy.set(fault);
        let (calling, call) = (client.client.clone(), *call);
        running.push((
            *name,
            client.fabric.handle().spawn(async move {
                let start = Instant::now();
                let outcome = call(calling, number).await;
                (outcome, start.elapsed())
            }),
            client,
            proxy,
        ));
    }
    for (name, handle, client, proxy) in running {
        let (outcome, elapsed) = client.wait(handle).unwrap();
        assert!(elapsed < limit, "{name} under {fault:?} took {elapsed:?}");
        if let Err(error) = &outcome {
            let told = error.to_string();
            assert!(told.contains(name) && told.contains(TASK), "{name} under {fault:?}: {told}");
        }
        // The connection, or a new one, works again.
        proxy.set(Fault::None);
        let again = TestClient::new(&proxy.address, &server.config, None, 7);
        again.wait(again.client.get_devices(proto::GetDevicesRequest::default())).unwrap();
        outcomes.push((name, outcome));
    }
    (server, outcomes)
}
