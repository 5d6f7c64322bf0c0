//! Content coding for clients: once for a stored body, and per request for other bodies.

use std::sync::Arc;

use ::segment_store::Wait;
use http_cache::{Coding, Form};
use http_stack::{Body, Bytes, Failure, HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use tokio::task::spawn_blocking;

use crate::{
    body::shared::{Retention, SharedBody},
    request::context::RequestContext,
    response::encoder::{EncoderPermit, encode_body},
    server::node::Node,
    store::{disk::EncodedVariant, memory::Object},
};

impl Node {
    pub(crate) fn form(&self, context: &RequestContext, object: &Object) -> Form {
        let is_on_disk =
            |coding| self.disk.as_ref().is_some_and(|disk| disk.may_have_encoded(object, coding));
        let is_in_memory = object.body.retention() == Retention::Memory;
        let can_be_had = |coding| match object.body.encoded(coding) {
            Some(encoded) if is_in_memory => !encoded.is_broken(),
            None if is_in_memory && is_on_disk(coding) => true,
            _ => self.encoder_permits.available_permits() > 0,
        };
        match default_form(context, object) {
            Form::Coded(coding) if context.method != Method::HEAD && !can_be_had(coding) => Form::Identity,
            form => form,
        }
    }

    /// Reads the coded body from the disk, or codes while the object's body is read. If that body is
    /// not in memory, the coded body is made for this request only.
    pub(crate) fn encoded(self: &Arc<Self>, object: &Arc<Object>, coding: Coding) -> Arc<SharedBody> {
        if object.body.retention() != Retention::Memory {
            let fill = Arc::default();
            tokio::spawn(Arc::clone(self).encode(Arc::clone(object), coding, Arc::clone(&fill)));
            return fill;
        }
        let mut source = None;
        let fill = object.body.encoded_or(coding, || {
            let (fill, found) = EncodedSource::of(self.encoded_on_disk(object, coding, Wait::Never));
            source = Some(found);
            Arc::new(fill)
        });
        if let Some(source) = source {
            self.load_encoded(source, Arc::clone(object), coding, Arc::clone(&fill));
        }
        fill
    }

    fn load_encoded(
        self: &Arc<Self>,
        source: EncodedSource,
        object: Arc<Object>,
        coding: Coding,
        fill: Arc<SharedBody>,
    ) {
        let node = Arc::clone(self);
        match source {
            EncodedSource::Memory => drop(self.store.recount(&object)),
            EncodedSource::Disk(found) => drop(spawn_blocking(move || load(&node, &object, found, &fill))),
            EncodedSource::Encoder => drop(tokio::spawn(node.encode(object, coding, fill))),
            EncodedSource::MaybeDisk => drop(tokio::spawn(async move {
                let (searching, of) = (Arc::clone(&node), Arc::clone(&object));
                let search = move || searching.encoded_on_disk(&of, coding, Wait::ForDisk);
                let found = match &node.disk {
                    Some(on_disk) => on_disk.read_blocking(search).await,
                    None => None,
                };
                match found {
                    Some((Ok(Some(found)), place)) => drop(spawn_blocking(move || {
                        load(&node, &object, found, &fill);
                        drop(place);
                    })),
                    _ => node.encode(object, coding, fill).await,
                }
            })),
        }
    }

    fn encoded_on_disk(
        &self,
        object: &Object,
        coding: Coding,
        wait: Wait,
    ) -> Result<Option<EncodedVariant>, ::segment_store::Error> {
        let on_disk = self.disk.as_ref().filter(|disk| disk.may_have_encoded(object, coding));
        on_disk.map_or(Ok(None), |disk| disk.encoded(object, coding, wait))
    }

    async fn encode(self: Arc<Self>, object: Arc<Object>, coding: Coding, fill: Arc<SharedBody>) {
        let body = encode_body(Body::stream(object.body.read()), coding, self.permit());
        if store_encoded(&object, fill, body).await == Retention::Memory
            && self.store.recount(&object)
            && let Some(on_disk) = &self.disk
        {
            on_disk.store_encoded(&object, coding);
        }
    }

    pub(crate) fn compress_response(
        &self,
        context: &RequestContext,
        mut response: Response<Body>,
    ) -> Response<Body> {
        if response.status() == StatusCode::NOT_MODIFIED {
            match_weak_etag(&context.headers, response.headers_mut());
        }
        let mut form =
            Form::of(&context.headers, (response.status(), response.headers()), context.compress());
        let permit = self.permit();
        if permit.is_none() && form != Form::Only {
            form = Form::Identity;
        }
        form.describe(response.headers_mut());
        match form {
            Form::Coded(coding) if context.method != Method::HEAD => {
                response.map(|body| encode_body(body, coding, permit))
            }
            _ => response,
        }
    }

    fn permit(&self) -> Option<EncoderPermit> {
        Arc::clone(&self.encoder_permits).try_acquire_owned().ok()
    }
}

/// With the strong ETag the client could combine ranges of the uncompressed bytes with the
/// compressed ones.
fn match_weak_etag(request: &HeaderMap, headers: &mut HeaderMap) {
    let Some(strong) = headers.get(header::ETAG).filter(|tag| tag.as_bytes().starts_with(b"\"")) else {
        return;
    };
    let weak = [b"W/", strong.as_bytes()].concat();
    let known = request
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .flat_map(|tags| tags.as_bytes().split(|&byte| byte == b','));
    let (mut is_weak, mut is_strong) = (false, false);
    for tag in known.map(<[u8]>::trim_ascii) {
        is_weak |= tag == weak;
        is_strong |= tag == strong.as_bytes();
    }
    if is_weak
        && !is_strong
        && let Ok(weak) = HeaderValue::from_bytes(&weak)
    {
        headers.insert(header::ETAG, weak);
    }
}

pub(crate) fn default_form(context: &RequestContext, object: &Object) -> Form {
    Form::of(&context.headers, (object.stored.status, &object.stored.headers), context.compress())
}

#[expect(clippy::large_enum_variant, reason = "it is looked at where it is made, and never kept")]
enum EncodedSource {
    Memory,
    Disk(EncodedVariant),
    MaybeDisk,
    Encoder,
}

impl EncodedSource {
    fn of(found: Result<Option<EncodedVariant>, ::segment_store::Error>) -> (SharedBody, Self) {
        match found {
            Ok(Some(mut found)) => {
                let fill = std::mem::take(&mut found.body);
                let source = if found.rest.is_some() { Self::Disk(found) } else { Self::Memory };
                (fill, source)
            }
            Ok(None) => (SharedBody::default(), Self::Encoder),
            Err(_) => (SharedBody::default(), Self::MaybeDisk),
        }
    }
}

/// Blocking.
fn load(node: &Node, object: &Object, mut found: EncodedVariant, fill: &SharedBody) {
    if let Some(&id) = found.body.disk_id.get() {
        let _ = fill.disk_id.set(id);
    }
    let here = found.body.pieces().into_iter().map(Ok);
    let rest = found.rest.take().into_iter().flatten().map(|piece| piece.map(Bytes::from_owner));
    for piece in here.chain(rest) {
        match piece {
            Ok(piece) => fill.push(piece),
            Err(error) => {
                tracing::warn!(%error, key = %object.key, "a coded body on disk cannot be read");
                fill.finish(Err(Failure::Source));
                return found.remove();
            }
        }
    }
    fill.finish(Ok(()));
    node.store.recount(object);
}

/// Returns where the complete body is stored. If the object's body is not in memory, the coded body
/// is only passed on.
async fn store_encoded(object: &Object, fill: Arc<SharedBody>, mut body: Body) -> Retention {
    let ending = EndOnDrop(fill);
    let fill = &ending.0;
    loop {
        match body.data().await {
            Ok(Some(piece)) => fill.push(piece),
            Ok(None) => break,
            Err(failure) => {
                fill.finish(Err(failure));
                return Retention::PassThrough;
            }
        }
        if object.body.retention() != Retention::Memory {
            fill.stop_retaining();
        }
        if fill.wait_for_room().await.is_err() {
            return Retention::PassThrough;
        }
    }
    fill.finish(Ok(()));
    fill.retention()
}

/// Ends a body with an error if its encoder is dropped early, so that readers do not wait forever.
struct EndOnDrop(Arc<SharedBody>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.finish(Err(Failure::Source));
    }
}
