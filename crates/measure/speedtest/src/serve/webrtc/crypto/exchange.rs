//! Key exchange: ECDHE over X25519 or P-256.

use std::fmt;

use dimpl::{
    CryptoError, CryptoOperation, NamedGroup,
    crypto::{ActiveKeyExchange, Buf, SupportedKxGroup},
};
use ring::{
    agreement::{self, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral},
    rand::SystemRandom,
};

#[derive(Debug)]
pub(super) struct X25519;

impl SupportedKxGroup for X25519 {
    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }

    fn start_exchange(&self, buf: Buf) -> Result<Box<dyn ActiveKeyExchange>, CryptoError> {
        Exchange::start(NamedGroup::X25519, &agreement::X25519, buf)
    }
}

#[derive(Debug)]
pub(super) struct P256;

impl SupportedKxGroup for P256 {
    fn name(&self) -> NamedGroup {
        NamedGroup::Secp256r1
    }

    fn start_exchange(&self, buf: Buf) -> Result<Box<dyn ActiveKeyExchange>, CryptoError> {
        Exchange::start(NamedGroup::Secp256r1, &agreement::ECDH_P256, buf)
    }
}

struct Exchange {
    group: NamedGroup,
    algorithm: &'static agreement::Algorithm,
    private: EphemeralPrivateKey,
    public: Buf,
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange").field("group", &self.group).finish_non_exhaustive()
    }
}

impl Exchange {
    fn start(
        group: NamedGroup,
        algorithm: &'static agreement::Algorithm,
        mut public: Buf,
    ) -> Result<Box<dyn ActiveKeyExchange>, CryptoError> {
        let failed = |_| CryptoError::OperationFailed(CryptoOperation::StartKeyExchange);
        let private = EphemeralPrivateKey::generate(algorithm, &SystemRandom::new()).map_err(failed)?;
        public.clear();
        public.extend_from_slice(private.compute_public_key().map_err(failed)?.as_ref());
        Ok(Box::new(Self { group, algorithm, private, public }))
    }
}

impl ActiveKeyExchange for Exchange {
    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn complete(self: Box<Self>, peer_pub: &[u8], out: &mut Buf) -> Result<(), CryptoError> {
        let Self { group, algorithm, private, .. } = *self;
        agree_ephemeral(private, &UnparsedPublicKey::new(algorithm, peer_pub), |secret| {
            out.clear();
            out.extend_from_slice(secret);
        })
        .map_err(|_| CryptoError::InvalidPublicKey(group))
    }

    fn group(&self) -> NamedGroup {
        self.group
    }
}
