//! The value in a request body: the whole body, or a part of a form.

use http_stack::{Body, Bytes, Failure, HeaderMap, StatusCode, header};
use kv::{MOST_METADATA_BYTES, Metadata};

use crate::{
    api_error::ApiError,
    multipart::{Event, Multipart, boundary},
};

pub(crate) enum RequestBody {
    Raw(Body),
    Form(Form),
}

pub(crate) struct Form {
    body: Body,
    parts: Multipart,
    part: Part,
    metadata: Option<Vec<u8>>,
    has_value: bool,
    /// Bytes of other parts.
    other: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Value,
    Metadata,
    Other,
}

impl RequestBody {
    pub(crate) fn of(headers: &HeaderMap, body: Body) -> Result<Self, ApiError> {
        let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let form = "multipart/form-data";
        if !kind.get(..form.len()).is_some_and(|start| start.eq_ignore_ascii_case(form)) {
            return Ok(Self::Raw(body));
        }
        let boundary = boundary(kind)
            .ok_or_else(|| ApiError::bad("Content-Type is multipart/form-data without a boundary"))?;
        let parts = Multipart::new(boundary);
        Ok(Self::Form(Form { body, parts, part: Part::Other, metadata: None, has_value: false, other: 0 }))
    }

    /// `None` at the end.
    pub(crate) async fn data(&mut self) -> Result<Option<Bytes>, ApiError> {
        match self {
            Self::Raw(body) => body.data().await.map_err(broken_off),
            Self::Form(form) => form.data().await,
        }
    }

    /// To be called after the end of the value.
    pub(crate) fn metadata(&self) -> Result<Option<Metadata>, ApiError> {
        let Self::Form(Form { metadata: Some(metadata), .. }) = self else { return Ok(None) };
        // An empty field or `null` means that there are no metadata.
        if metadata.is_empty() || metadata == b"null" {
            return Ok(None);
        }
        Ok(Some(Metadata::new(metadata)?))
    }

    /// Up to a limit, for clients that read the response only after they have sent the whole body.
    pub(crate) async fn throw_away(self) -> u64 {
        let mut body = match self {
            Self::Raw(body) => body,
            Self::Form(form) => form.body,
        };
        let mut thrown = 0;
        while thrown < MOST_THROWN_AWAY
            && let Ok(Some(data)) = body.data().await
        {
            thrown += data.len() as u64;
        }
        thrown
    }
}

impl Form {
    async fn data(&mut self) -> Result<Option<Bytes>, ApiError> {
        loop {
            match self.parts.next().map_err(|error| ApiError::bad(error.to_string()))? {
                Some(Event::Part(name)) => {
                    if name.starts_with("metadata[") {
                        let message = "metadata must be JSON in one field of the form, such as the result of JSON.stringify";
                        return Err(ApiError::bad(message));
                    }
                    self.part = match &name[..] {
                        "value" => Part::Value,
                        "metadata" => Part::Metadata,
                        _ => Part::Other,
                    };
                    if self.part == Part::Value && std::mem::replace(&mut self.has_value, true) {
                        return Err(ApiError::bad("the form has two fields \"value\""));
                    }
                    if self.part == Part::Metadata {
                        self.metadata = Some(Vec::new());
                    }
                }
                Some(Event::Data(data)) => match (self.part, &mut self.metadata) {
                    (Part::Value, _) => return Ok(Some(data)),
                    (Part::Metadata, Some(metadata)) if metadata.len() <= MOST_METADATA_BYTES => {
                        metadata.extend_from_slice(&data);
                    }
                    _ => {
                        self.other += data.len();
                        if self.other > MOST_OTHER {
                            let message = "the form has more than a value and metadata";
                            return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, message));
                        }
                    }
                },
                Some(Event::End) if self.has_value => return Ok(None),
                Some(Event::End) => return Err(ApiError::bad("the form has no field \"value\"")),
                None => match self.body.data().await.map_err(broken_off)? {
                    Some(data) => self.parts.add(&data),
                    None => return Err(ApiError::bad("the form ends before its last boundary")),
                },
            }
        }
    }
}

pub(crate) async fn collected(body: Body, most: usize) -> Result<Bytes, ApiError> {
    body.collect(most).await.map_err(|failure| match failure {
        Failure::TooLarge => {
            ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the request is longer than {most} bytes"))
        }
        failure => broken_off(failure),
    })
}

fn broken_off(failure: Failure) -> ApiError {
    ApiError::bad(format!("the request was truncated: {failure}"))
}

/// Bytes of form fields that are ignored.
const MOST_OTHER: usize = 64 << 10;
/// Twice the largest value. The connection is closed if more follows.
const MOST_THROWN_AWAY: u64 = 50 << 20;
