//! What a response to another data centre says of its body.

/// Among the extensions of a response: its body is in the store, or on its way there, so that who comes back for it finds it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept;
