//! Validates the field sections of a request over HTTP/3: its header section and its trailer section.

use h3::error::Code;

use crate::{
    qpack::{self, Undecodable},
    request_head::{ExtendedConnect, check_section, check_trailers},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error("a frame is too long")]
    TooLong,
    #[error("a field section cannot be decoded")]
    Undecodable,
    #[error("the request is malformed")]
    Malformed,
}

impl Refused {
    pub(crate) fn code(self) -> Code {
        match self {
            Self::TooLong => Code::H3_EXCESSIVE_LOAD,
            Self::Undecodable => Code::QPACK_DECOMPRESSION_FAILED,
            Self::Malformed => Code::H3_MESSAGE_ERROR,
        }
    }
}

#[derive(Default)]
pub(super) struct Sections {
    /// The bytes of an incomplete section, bounded by the frame length limit.
    begun: Vec<u8>,
    has_head: bool,
}

impl Sections {
    pub(super) fn take(&mut self, bytes: &[u8], is_whole: bool) -> Result<(), Refused> {
        if !is_whole {
            self.begun.extend_from_slice(bytes);
            return Ok(());
        }
        if self.begun.is_empty() {
            return self.check(bytes);
        }
        let mut section = std::mem::take(&mut self.begun);
        section.extend_from_slice(bytes);
        self.check(&section)
    }

    fn check(&mut self, section: &[u8]) -> Result<(), Refused> {
        let is_head = !std::mem::replace(&mut self.has_head, true);
        let fields = match qpack::decode(section) {
            Ok(fields) => fields,
            Err(Undecodable::TooLarge) => return Ok(()),
            Err(Undecodable::Syntax) => return Err(Refused::Undecodable),
        };
        let checked = if is_head {
            check_section(fields.iter(), ExtendedConnect::Refused)
        } else {
            check_trailers(fields.iter())
        };
        checked.map_err(|_| Refused::Malformed)
    }
}
