//! Cryptography for WebRTC with `ring`: hashes, and DTLS 1.2 with ECDHE, ECDSA and AEAD. There is
//! no media, so SRTP is not implemented.

mod exchange;
mod hashes;
mod signature;
mod suites;

use std::{fmt, sync::Arc, time::Instant};

use dimpl::{Config, Dtls, crypto::CryptoProvider as DtlsCrypto};
use ring::{digest, hmac};
use str0m::crypto::{
    AeadAes128GcmCipher, AeadAes256GcmCipher, Aes128CmSha1_80Cipher, CryptoError, CryptoProvider,
    Sha1HmacProvider, Sha1Provider, Sha256Provider, SrtpProvider, SupportedAeadAes128Gcm,
    SupportedAeadAes256Gcm, SupportedAes128CmSha1_80,
    dtls::{DtlsCert, DtlsImplError, DtlsInstance, DtlsOutput, DtlsProvider, DtlsVersion, ProtocolVersion},
};

pub(super) fn provider() -> CryptoProvider {
    CryptoProvider {
        srtp_provider: &NoMedia,
        sha1_hmac_provider: &Ring,
        sha1_provider: &Ring,
        sha256_provider: &Ring,
        dtls_provider: &Ring,
    }
}

/// Browsers verify the certificate by the hash in the SDP answer.
pub(super) fn certificate() -> Result<DtlsCert, rcgen::Error> {
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256)?;
    let certificate = rcgen::CertificateParams::new(Vec::new())?.self_signed(&key)?;
    Ok(DtlsCert { certificate: certificate.der().to_vec(), private_key: key.serialize_der() })
}

#[derive(Debug)]
struct Ring;

impl Sha1Provider for Ring {
    fn sha1(&self, data: &[u8]) -> [u8; 20] {
        sized(digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, data).as_ref())
    }
}

impl Sha256Provider for Ring {
    fn sha256(&self, data: &[u8]) -> [u8; 32] {
        sized(digest::digest(&digest::SHA256, data).as_ref())
    }
}

/// For STUN message integrity.
impl Sha1HmacProvider for Ring {
    fn sha1_hmac(&self, key: &[u8], payloads: &[&[u8]]) -> [u8; 20] {
        let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, key));
        payloads.iter().for_each(|payload| context.update(payload));
        sized(context.sign().as_ref())
    }
}

fn sized<const N: usize>(hash: &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(hash);
    bytes
}

impl DtlsProvider for Ring {
    fn generate_certificate(&self) -> Option<DtlsCert> {
        certificate().ok()
    }

    fn new_dtls(
        &self,
        certificate: &DtlsCert,
        now: Instant,
        _version: DtlsVersion,
        mtu: Option<usize>,
    ) -> Result<Box<dyn DtlsInstance>, CryptoError> {
        // ICE has verified the client's address, so a DTLS cookie is unnecessary.
        let mut builder = Config::builder().use_server_cookie(false).with_crypto_provider(dtls());
        if let Some(mtu) = mtu {
            builder = builder.mtu(mtu);
        }
        let config = builder.build().map_err(CryptoError::DtlsImpl)?;
        Ok(Box::new(Connection(Dtls::new_12(Arc::new(config), certificate.clone(), now))))
    }
}

/// The library requires one suite of version 1.3; it is never negotiated.
fn dtls() -> DtlsCrypto {
    DtlsCrypto {
        kx_groups: &[&exchange::X25519, &exchange::P256],
        signature_verification: &signature::Ecdsa,
        key_provider: &signature::Ecdsa,
        secure_random: &hashes::Random,
        hash_provider: &hashes::Hashes,
        hmac_provider: &hashes::Hashes,
        cipher_suites: &[&suites::Aes128Gcm, &suites::ChaCha20Poly1305],
        dtls13_cipher_suites: &[&suites::ChaCha20Poly1305],
    }
}

struct Connection(Dtls);

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl DtlsInstance for Connection {
    fn set_active(&mut self, active: bool) {
        self.0.set_active(active);
    }

    fn handle_packet(&mut self, packet: &[u8]) -> Result<(), DtlsImplError> {
        self.0.handle_packet(packet)
    }

    fn poll_output<'a>(&mut self, buf: &'a mut [u8]) -> DtlsOutput<'a> {
        match self.0.poll_output(buf) {
            // Keys are reported once. The caller polls again immediately.
            DtlsOutput::KeyingMaterial(..) => DtlsOutput::Connected,
            output => output,
        }
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), DtlsImplError> {
        self.0.handle_timeout(now)
    }

    fn send_application_data(&mut self, data: &[u8]) -> Result<usize, DtlsImplError> {
        self.0.send_application_data(data)
    }

    fn is_active(&self) -> bool {
        self.0.is_active()
    }

    fn protocol_version(&self) -> Option<ProtocolVersion> {
        self.0.protocol_version()
    }

    fn is_closing(&self) -> bool {
        self.0.is_closing()
    }

    fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    fn close(&mut self) -> Result<(), DtlsImplError> {
        self.0.close()
    }
}

#[derive(Debug)]
struct NoMedia;

impl NoMedia {
    fn refuse<T>() -> Result<T, CryptoError> {
        Err(CryptoError::Other("there is no media here".to_owned()))
    }
}

impl SrtpProvider for NoMedia {
    fn aes_128_cm_sha1_80(&self) -> &'static dyn SupportedAes128CmSha1_80 {
        &Self
    }

    fn aead_aes_128_gcm(&self) -> &'static dyn SupportedAeadAes128Gcm {
        &Self
    }

    fn aead_aes_256_gcm(&self) -> &'static dyn SupportedAeadAes256Gcm {
        &Self
    }

    fn srtp_aes_128_ecb_round(&self, _key: &[u8], _input: &[u8], _output: &mut [u8]) {}

    fn srtp_aes_256_ecb_round(&self, _key: &[u8], _input: &[u8], _output: &mut [u8]) {}
}

impl SupportedAes128CmSha1_80 for NoMedia {
    fn create_cipher(&self, _key: [u8; 16], _encrypt: bool) -> Box<dyn Aes128CmSha1_80Cipher> {
        Box::new(Self)
    }
}

impl SupportedAeadAes128Gcm for NoMedia {
    fn create_cipher(&self, _key: [u8; 16], _encrypt: bool) -> Box<dyn AeadAes128GcmCipher> {
        Box::new(Self)
    }
}

impl SupportedAeadAes256Gcm for NoMedia {
    fn create_cipher(&self, _key: [u8; 32], _encrypt: bool) -> Box<dyn AeadAes256GcmCipher> {
        Box::new(Self)
    }
}

impl Aes128CmSha1_80Cipher for NoMedia {
    fn encrypt(&mut self, _iv: &[u8; 16], _input: &[u8], _output: &mut [u8]) -> Result<(), CryptoError> {
        Self::refuse()
    }

    fn decrypt(&mut self, _iv: &[u8; 16], _input: &[u8], _output: &mut [u8]) -> Result<(), CryptoError> {
        Self::refuse()
    }
}

impl AeadAes128GcmCipher for NoMedia {
    fn encrypt(
        &mut self,
        _iv: &[u8; 12],
        _aad: &[u8],
        _input: &[u8],
        _output: &mut [u8],
    ) -> Result<(), CryptoError> {
        Self::refuse()
    }

    fn decrypt(
        &mut self,
        _iv: &[u8; 12],
        _aads: &[&[u8]],
        _input: &[u8],
        _output: &mut [u8],
    ) -> Result<usize, CryptoError> {
        Self::refuse()
    }
}

impl AeadAes256GcmCipher for NoMedia {
    fn encrypt(
        &mut self,
        _iv: &[u8; 12],
        _aad: &[u8],
        _input: &[u8],
        _output: &mut [u8],
    ) -> Result<(), CryptoError> {
        Self::refuse()
    }

    fn decrypt(
        &mut self,
        _iv: &[u8; 12],
        _aads: &[&[u8]],
        _input: &[u8],
        _output: &mut [u8],
    ) -> Result<usize, CryptoError> {
        Self::refuse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_gives_the_known_answers() {
        dtls().validate().unwrap();
    }

    #[test]
    fn hashes_are_those_of_the_rfcs() {
        // RFC 3174 and RFC 2202, the second case of each.
        let sha1 = Ring.sha1(b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq");
        assert_eq!(sha1[..4], [0x84, 0x98, 0x3e, 0x44]);
        let mac = Ring.sha1_hmac(b"Jefe", &[b"what do ya want ", b"for nothing?"]);
        assert_eq!(mac[..4], [0xef, 0xfc, 0xdf, 0x6a]);
        // FIPS 180-4.
        assert_eq!(Ring.sha256(b"abc")[..4], [0xba, 0x78, 0x16, 0xbf]);
    }
}
