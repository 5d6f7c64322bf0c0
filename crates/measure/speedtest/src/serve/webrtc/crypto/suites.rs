//! Record encryption: AES-128-GCM or ChaCha20-Poly1305.

use std::fmt;

use dimpl::{
    CryptoError, CryptoOperation, HashAlgorithm,
    crypto::{
        Aad, Buf, Cipher, Dtls12CipherSuite, Dtls13CipherSuite, Nonce, SupportedDtls12CipherSuite,
        SupportedDtls13CipherSuite, TmpBuf,
    },
};
use ring::aead::{self, LessSafeKey, UnboundKey, quic::HeaderProtectionKey};

#[derive(Debug)]
pub(super) struct Aes128Gcm;

impl SupportedDtls12CipherSuite for Aes128Gcm {
    fn suite(&self) -> Dtls12CipherSuite {
        Dtls12CipherSuite::ECDHE_ECDSA_AES128_GCM_SHA256
    }

    fn hash_algorithm(&self) -> HashAlgorithm {
        HashAlgorithm::SHA256
    }

    fn key_lengths(&self) -> (usize, usize, usize) {
        // MAC key, cipher key, and the implicit part of the nonce (RFC 5288).
        (0, 16, 4)
    }

    fn explicit_nonce_len(&self) -> usize {
        8
    }

    fn tag_len(&self) -> usize {
        16
    }

    fn create_cipher(&self, key: &[u8]) -> Result<Box<dyn Cipher>, CryptoError> {
        Record::with(&aead::AES_128_GCM, key)
    }
}

#[derive(Debug)]
pub(super) struct ChaCha20Poly1305;

impl SupportedDtls12CipherSuite for ChaCha20Poly1305 {
    fn suite(&self) -> Dtls12CipherSuite {
        Dtls12CipherSuite::ECDHE_ECDSA_CHACHA20_POLY1305_SHA256
    }

    fn hash_algorithm(&self) -> HashAlgorithm {
        HashAlgorithm::SHA256
    }

    fn key_lengths(&self) -> (usize, usize, usize) {
        // RFC 7905.
        (0, 32, 12)
    }

    fn explicit_nonce_len(&self) -> usize {
        0
    }

    fn tag_len(&self) -> usize {
        16
    }

    fn create_cipher(&self, key: &[u8]) -> Result<Box<dyn Cipher>, CryptoError> {
        Record::with(&aead::CHACHA20_POLY1305, key)
    }
}

impl SupportedDtls13CipherSuite for ChaCha20Poly1305 {
    fn suite(&self) -> Dtls13CipherSuite {
        Dtls13CipherSuite::CHACHA20_POLY1305_SHA256
    }

    fn hash_algorithm(&self) -> HashAlgorithm {
        HashAlgorithm::SHA256
    }

    fn key_len(&self) -> usize {
        32
    }

    fn iv_len(&self) -> usize {
        12
    }

    fn tag_len(&self) -> usize {
        16
    }

    fn create_cipher(&self, key: &[u8]) -> Result<Box<dyn Cipher>, CryptoError> {
        Record::with(&aead::CHACHA20_POLY1305, key)
    }

    fn encrypt_sn(&self, sn_key: &[u8], sample: &[u8; 16]) -> [u8; 16] {
        // Covers at most two bytes of a record number. QUIC's mask, computed the same way, has
        // five.
        let mut mask = [0; 16];
        let key = HeaderProtectionKey::new(&aead::quic::CHACHA20, sn_key);
        if let Ok(made) = key.and_then(|key| key.new_mask(sample)) {
            mask[..made.len()].copy_from_slice(&made);
        }
        mask
    }
}

struct Record(LessSafeKey);

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record").finish_non_exhaustive()
    }
}

impl Record {
    fn with(algorithm: &'static aead::Algorithm, key: &[u8]) -> Result<Box<dyn Cipher>, CryptoError> {
        let failed = |_| CryptoError::OperationFailed(CryptoOperation::CreateCipher);
        Ok(Box::new(Self(LessSafeKey::new(UnboundKey::new(algorithm, key).map_err(failed)?))))
    }
}

impl Cipher for Record {
    fn encrypt(&mut self, plaintext: &mut Buf, aad: Aad, nonce: Nonce) -> Result<(), CryptoError> {
        let failed = |_| CryptoError::OperationFailed(CryptoOperation::Encrypt);
        let aad = aead::Aad::from(&aad[..]);
        let tag = self.0.seal_in_place_separate_tag(of(&nonce)?, aad, plaintext.as_mut()).map_err(failed)?;
        plaintext.extend_from_slice(tag.as_ref());
        Ok(())
    }

    fn decrypt(&mut self, ciphertext: &mut TmpBuf, aad: Aad, nonce: Nonce) -> Result<(), CryptoError> {
        let failed = |_| CryptoError::OperationFailed(CryptoOperation::Decrypt);
        let aad = aead::Aad::from(&aad[..]);
        let length = self.0.open_in_place(of(&nonce)?, aad, ciphertext.as_mut()).map_err(failed)?.len();
        ciphertext.truncate(length);
        Ok(())
    }
}

fn of(nonce: &Nonce) -> Result<aead::Nonce, CryptoError> {
    aead::Nonce::try_assume_unique_for_key(nonce).map_err(|_| CryptoError::InvalidNonce)
}
