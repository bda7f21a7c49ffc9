//! The certificate authority of a fleet, and the certificate of its server.

use anyhow::Result;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, date_time_ymd,
};

/// Certificates and keys in PEM. They are valid from 1970 and do not expire: hosts without a battery start at that date,
/// or at any other.
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
        authority.not_before = date_time_ymd(1970, 1, 1);
        authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        authority
            .distinguished_name
            .push(DnType::CommonName, "hakaru fleet");
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;
        let mut server = CertificateParams::new(names)?;
        server.not_before = date_time_ymd(1970, 1, 1);
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

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    /// Regression: a Raspberry Pi that started in 1970 found the certificate not valid yet, and could not set its clock.
    #[test]
    fn certificates_are_valid_from_the_date_that_a_board_starts_with() {
        let all = ServerCertificates::generate(&["lab".to_owned()]).unwrap();
        for pem in [all.authority, all.certificate] {
            let lines = pem.lines().filter(|line| !line.starts_with("-----"));
            let der = STANDARD.decode(lines.collect::<String>()).unwrap();
            // A UTCTime with its length. Source: RFC 5280, section 4.1.2.5.1.
            let begins = b"\x17\x0d700101000000Z";
            assert!(der.windows(begins.len()).any(|part| part == begins));
        }
    }
}
