//! The certificate authority of a fleet, and the certificate of its server.

use anyhow::Result;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};

/// Certificates and keys in PEM. They do not expire: hosts without a battery may have a wrong date.
pub(crate) struct ServerCertificates {
    /// Certificate of the authority, which every agent has.
    pub(crate) authority: String,
    /// Certificate of the server.
    pub(crate) certificate: String,
    /// Key of the server.
    pub(crate) key: String,
}

impl ServerCertificates {
    /// Creates an authority, and the certificate of a server with these names and addresses. The key of the authority is
    /// not kept, so nobody can issue another certificate.
    pub(crate) fn generate(names: &[String]) -> Result<ServerCertificates> {
        let mut authority = CertificateParams::new(Vec::new())?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        authority
            .distinguished_name
            .push(DnType::CommonName, "hakaru fleet");
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;
        let mut server = CertificateParams::new(names)?;
        server
            .distinguished_name
            .push(DnType::CommonName, "hakaru fleet server");
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate()?;
        Ok(ServerCertificates {
            certificate: server.signed_by(&key, &authority)?.pem(),
            authority: authority.pem(),
            key: key.serialize_pem(),
        })
    }
}
