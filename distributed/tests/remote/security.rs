//! Certificates, addresses, and the options of sockets.

use std::{fs, net::TcpStream, os::fd::RawFd, time::Duration};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use tfrt_distributed::{CERTIFICATE_NAME, Config, Fabric, TlsFiles, TlsMaterial, proto};
use tfrt_host::ErrorCode;

use crate::{
    calls::CALLS,
    requests::TASK,
    support::{TestClient, TestServer},
};

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate of `signer`, for a task that trusts `trusted`.
fn material(trusted: &Authority, signer: &Authority, name: &str, is_expired: bool) -> TlsMaterial {
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    if is_expired {
        (params.not_before, params.not_after) = (date_time_ymd(2001, 1, 1), date_time_ymd(2002, 1, 1));
    }
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, signer).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: String| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let files = TlsFiles {
        ca: file("ca.pem", trusted.pem()),
        certificate: file("task.pem", certificate.pem()),
        key: file("task.key", key.serialize_pem()),
    };
    files.read().unwrap()
}

fn client(server: &TestServer, tls: Option<TlsMaterial>) -> TestClient {
    let mut config = server.config.clone();
    config.calls.deadline_ms = 2_000;
    config.calls.max_retries = 0;
    TestClient::new(&server.address(), &config, tls, 7)
}

/// Makes every call, each of which fails with an error that names it and the task.
fn is_refused(what: &str, server: &TestServer, tls: Option<TlsMaterial>) {
    let client = client(server, tls);
    for (number, (name, call)) in (0..).zip(CALLS) {
        let error = client.wait(call(client.client.clone(), number)).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(TASK), "{what}: {name}: {error}");
    }
    assert_eq!(server.server.context_count(), 0);
}

#[test]
fn both_ends_show_valid_certificates() {
    let (ours, theirs) = (authority(), authority());
    let server = TestServer::start(|_| {}, Some(material(&ours, &ours, CERTIFICATE_NAME, false)));
    let valid = client(&server, Some(material(&ours, &ours, CERTIFICATE_NAME, false)));
    valid.wait(valid.client.get_devices(proto::GetDevicesRequest::default())).unwrap();
    for (what, tls) in [
        ("no certificate", None),
        ("another authority's", Some(material(&ours, &theirs, CERTIFICATE_NAME, false))),
        ("an expired one", Some(material(&ours, &ours, CERTIFICATE_NAME, true))),
        ("a server that is not trusted", Some(material(&theirs, &ours, CERTIFICATE_NAME, false))),
    ] {
        is_refused(what, &server, tls);
    }
    for (name, is_expired) in [("other-name", false), (CERTIFICATE_NAME, true)] {
        let server = TestServer::start(|_| {}, Some(material(&ours, &ours, name, is_expired)));
        let tls = Some(material(&ours, &ours, CERTIFICATE_NAME, false));
        is_refused("the server's certificate", &server, tls);
    }
}

#[test]
fn without_certificates_only_loopback_is_reached() {
    let config = Config::default();
    let fabric = Fabric::new(config.calls.clone(), None, false, 1 << 20).unwrap();
    let error = fabric.client(TASK, "10.0.0.1:5000", 1).unwrap_err();
    assert!(error.message.contains("--insecure"), "{error}");
    assert_eq!(fabric.client(TASK, "", 1).unwrap_err().code, ErrorCode::FailedPrecondition);
    let insecure = Fabric::new(config.calls, None, true, 1 << 20).unwrap();
    assert!(insecure.client(TASK, "10.0.0.1:5000", 1).is_ok());
}

/// The connected TCP sockets of this process, as copies.
fn sockets() -> Vec<TcpStream> {
    let process = pidfd_open(getpid(), PidfdFlags::empty()).unwrap();
    let numbers = fs::read_dir("/proc/self/fd").unwrap();
    let numbers: Vec<RawFd> =
        numbers.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    let copies = numbers.into_iter().filter_map(|number| {
        let link = fs::read_link(format!("/proc/self/fd/{number}")).ok()?;
        link.to_string_lossy().starts_with("socket:").then_some(())?;
        pidfd_getfd(&process, number, PidfdGetfdFlags::empty()).ok()
    });
    copies.map(TcpStream::from).filter(|socket| socket.peer_addr().is_ok()).collect()
}

#[test]
fn no_socket_delays_small_messages() {
    let server = TestServer::start(|_| {}, None);
    let client = TestClient::new(&server.address(), &server.config, None, 7);
    client.wait(client.client.get_devices(proto::GetDevicesRequest::default())).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    let port = server.server.address().port();
    let sockets = sockets();
    let ours = |at: std::io::Result<std::net::SocketAddr>| at.is_ok_and(|at| at.port() == port);
    let (at_client, at_server): (Vec<_>, Vec<_>) = (
        sockets.iter().filter(|socket| ours(socket.peer_addr())).collect(),
        sockets.iter().filter(|socket| ours(socket.local_addr())).collect(),
    );
    assert!(!at_client.is_empty() && !at_server.is_empty());
    for socket in at_client.into_iter().chain(at_server) {
        assert!(socket.nodelay().unwrap(), "{socket:?}");
    }
}
