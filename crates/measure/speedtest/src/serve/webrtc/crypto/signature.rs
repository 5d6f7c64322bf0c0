//! Signatures: the server's with its key, and verification of a browser's with its certificate,
//! which is identified by its hash only.

use std::fmt;

use dimpl::{
    CryptoError, CryptoOperation, HashAlgorithm, NamedGroup, SignatureAlgorithm,
    crypto::{Buf, KeyProvider, SignatureVerifier, SigningKey},
};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair},
};
use rustls_pki_types::{CertificateDer, SignatureVerificationAlgorithm};
use webpki::{EndEntityCert, ring as by_ring};

#[derive(Debug)]
pub(super) struct Ecdsa;

impl SignatureVerifier for Ecdsa {
    fn verify_signature(
        &self,
        cert_der: &[u8],
        data: &[u8],
        signature: &[u8],
        hash: HashAlgorithm,
        algorithm: SignatureAlgorithm,
    ) -> Result<(), CryptoError> {
        if algorithm != SignatureAlgorithm::ECDSA {
            return Err(CryptoError::UnsupportedSignatureAlgorithm(algorithm));
        }
        let der = CertificateDer::from(cert_der);
        let certificate = EndEntityCert::try_from(&der).map_err(|_| CryptoError::CertificateParseFailed)?;
        let algorithms: [&dyn SignatureVerificationAlgorithm; 2] = match hash {
            HashAlgorithm::SHA256 => [by_ring::ECDSA_P256_SHA256, by_ring::ECDSA_P384_SHA256],
            HashAlgorithm::SHA384 => [by_ring::ECDSA_P256_SHA384, by_ring::ECDSA_P384_SHA384],
            _ => return Err(CryptoError::UnsupportedSignaturePair { signature: algorithm, hash }),
        };
        let holds =
            |one: &dyn SignatureVerificationAlgorithm| certificate.verify_signature(one, data, signature);
        if algorithms.into_iter().any(|one| holds(one).is_ok()) {
            return Ok(());
        }
        let group = NamedGroup::Secp256r1;
        Err(CryptoError::SignatureVerificationFailed { signature: algorithm, hash, group })
    }
}

impl KeyProvider for Ecdsa {
    fn load_private_key(&self, key_der: &[u8]) -> Result<Box<dyn SigningKey>, CryptoError> {
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, key_der, &SystemRandom::new());
        Ok(Box::new(Key(key.map_err(|_| CryptoError::InvalidPrivateKey)?)))
    }
}

/// P-256, which signs SHA-256 only.
struct Key(EcdsaKeyPair);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").finish_non_exhaustive()
    }
}

impl SigningKey for Key {
    fn sign(&mut self, data: &[u8], hash: HashAlgorithm, out: &mut Buf) -> Result<(), CryptoError> {
        if hash != HashAlgorithm::SHA256 {
            return Err(CryptoError::SigningKeyHashMismatch {
                key_hash: HashAlgorithm::SHA256,
                requested: hash,
            });
        }
        let failed = |_| CryptoError::OperationFailed(CryptoOperation::Sign);
        let signature = self.0.sign(&SystemRandom::new(), data).map_err(failed)?;
        out.clear();
        out.extend_from_slice(signature.as_ref());
        Ok(())
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::ECDSA
    }

    fn hash_algorithm(&self) -> HashAlgorithm {
        HashAlgorithm::SHA256
    }

    fn supported_hash_algorithms(&self) -> &[HashAlgorithm] {
        &[HashAlgorithm::SHA256]
    }
}
