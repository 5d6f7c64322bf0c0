//! Hashes, HMAC, and random numbers.

use std::fmt;

use dimpl::{
    CryptoError, CryptoOperation, HashAlgorithm,
    crypto::{Buf, HashContext, HashProvider, HmacProvider, SecureRandom},
};
use ring::{
    digest, hmac,
    rand::{SecureRandom as _, SystemRandom},
};

#[derive(Debug)]
pub(super) struct Hashes;

impl HashProvider for Hashes {
    fn create_hash(&self, algorithm: HashAlgorithm) -> Box<dyn HashContext> {
        // All offered cipher suites use SHA-256. A signature may use SHA-384.
        let algorithm = if algorithm == HashAlgorithm::SHA384 { &digest::SHA384 } else { &digest::SHA256 };
        Box::new(Hash(digest::Context::new(algorithm)))
    }
}

struct Hash(digest::Context);

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hash").finish_non_exhaustive()
    }
}

impl HashContext for Hash {
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn clone_and_finalize(&self, out: &mut Buf) {
        out.clear();
        out.extend_from_slice(self.0.clone().finish().as_ref());
    }
}

impl HmacProvider for Hashes {
    fn hmac(
        &self,
        hash: HashAlgorithm,
        key: &[u8],
        data: &[u8],
        out: &mut [u8],
    ) -> Result<usize, CryptoError> {
        let algorithm = match hash {
            HashAlgorithm::SHA256 => hmac::HMAC_SHA256,
            HashAlgorithm::SHA384 => hmac::HMAC_SHA384,
            other => return Err(CryptoError::UnsupportedHmacHash(other)),
        };
        let tag = hmac::sign(&hmac::Key::new(algorithm, key), data);
        let room = out.get_mut(..tag.as_ref().len());
        let room = room.ok_or(CryptoError::OperationFailed(CryptoOperation::ComputeHmac))?;
        room.copy_from_slice(tag.as_ref());
        Ok(room.len())
    }
}

#[derive(Debug)]
pub(super) struct Random;

impl SecureRandom for Random {
    fn fill(&self, buf: &mut [u8]) -> Result<(), CryptoError> {
        let failed = |_| CryptoError::OperationFailed(CryptoOperation::FillRandom);
        SystemRandom::new().fill(buf).map_err(failed)
    }
}
