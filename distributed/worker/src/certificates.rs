//! A test authority: `tfrt_worker certificates DIR`.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use tfrt::host::{Diagnostic, ErrorCode};
use tfrt_distributed::CERTIFICATE_NAME;

fn failed(error: rcgen::Error) -> Diagnostic {
    Diagnostic::invalid_argument(format!("cannot make the certificates: {error}"))
}

/// Writes `ca.pem`, `task.pem` and `task.key` to a folder: an authority, and a certificate for all
/// tasks of a cluster. The authority's key is not kept, so that it signs nothing else.
///
/// # Errors
/// Io if a file cannot be written, InvalidArgument for a host name that is none.
pub fn write_certificates(dir: &Path, hosts: &[String]) -> Result<(), Diagnostic> {
    let mut authority = CertificateParams::default();
    authority.distinguished_name.push(DnType::CommonName, "tfrt test authority");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let authority =
        CertifiedIssuer::self_signed(authority, KeyPair::generate().map_err(failed)?).map_err(failed)?;
    let names = [CERTIFICATE_NAME, "localhost", "127.0.0.1"].map(str::to_owned);
    let mut task = CertificateParams::new(names.into_iter().chain(hosts.iter().cloned()).collect::<Vec<_>>())
        .map_err(failed)?;
    task.distinguished_name.push(DnType::CommonName, CERTIFICATE_NAME);
    task.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    task.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    let key = KeyPair::generate().map_err(failed)?;
    let certificate = task.signed_by(&key, &authority).map_err(failed)?;
    let write = |name: &str, mode: u32, text: &str| {
        let path = dir.join(name);
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(&path);
        file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
            Diagnostic::new(ErrorCode::Io, format!("cannot write '{}': {error}", path.display()))
        })
    };
    fs::create_dir_all(dir).map_err(|error| {
        Diagnostic::new(ErrorCode::Io, format!("cannot create '{}': {error}", dir.display()))
    })?;
    write("ca.pem", 0o644, &authority.pem())?;
    write("task.pem", 0o644, &certificate.pem())?;
    write("task.key", 0o600, &key.serialize_pem())
}
