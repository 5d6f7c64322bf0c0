//! Content coding for clients: once for a stored body, and per request for other bodies.

use std::sync::Arc;

use ::disk::Wait;
use cache::{Coding, Form};
use http::{Body, Bytes, Failure, HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use tokio::task::spawn_blocking;

use crate::{
    centre::Edge,
    coder::{Permit, coded},
    fill::{Fill, Keeping},
    on_disk::OfCoded,
    store::Object,
    visit::Visit,
};

impl Edge {
    pub(crate) fn form(&self, visit: &Visit, object: &Object) -> Form {
        let is_on_disk =
            |coding| self.on_disk.as_ref().is_some_and(|disk| disk.may_have_coded(object, coding));
        let is_in_memory = object.body.keeping() == Keeping::Memory;
        let can_be_had = |coding| match object.body.coded(coding) {
            Some(coded) if is_in_memory => !coded.is_broken(),
            None if is_in_memory && is_on_disk(coding) => true,
            _ => self.coders.available_permits() > 0,
        };
        match usual_form(visit, object) {
            Form::Coded(coding) if visit.method != Method::HEAD && !can_be_had(coding) => Form::Identity,
            form => form,
        }
    }

    /// The body of an object in a coding: from the disk, or coded while it is read, even while the object's
    /// body is still arriving. For an object whose body is not in memory, the coded body is not stored but
    /// made for this request only.
    pub(crate) fn coded(self: &Arc<Self>, object: &Arc<Object>, coding: Coding) -> Arc<Fill> {
        if object.body.keeping() != Keeping::Memory {
            let fill = Arc::default();
            tokio::spawn(Arc::clone(self).code(Arc::clone(object), coding, Arc::clone(&fill)));
            return fill;
        }
        let mut source = None;
        let fill = object.body.coded_or(coding, || {
            let (fill, found) = Source::of(self.coded_on_disk(object, coding, Wait::Never));
            source = Some(found);
            Arc::new(fill)
        });
        if let Some(source) = source {
            self.bring(source, Arc::clone(object), coding, Arc::clone(&fill));
        }
        fill
    }

    fn bring(self: &Arc<Self>, source: Source, object: Arc<Object>, coding: Coding, fill: Arc<Fill>) {
        let edge = Arc::clone(self);
        match source {
            Source::Here => drop(self.store.recount(&object)),
            Source::Disk(found) => drop(spawn_blocking(move || load(&edge, &object, found, &fill))),
            Source::Coder => drop(tokio::spawn(edge.code(object, coding, fill))),
            Source::PerhapsDisk => drop(tokio::spawn(async move {
                let (searching, of) = (Arc::clone(&edge), Arc::clone(&object));
                let search = move || searching.coded_on_disk(&of, coding, Wait::ForDisk);
                let found = match &edge.on_disk {
                    Some(on_disk) => on_disk.wait_for(search).await,
                    None => None,
                };
                match found {
                    Some((Ok(Some(found)), place)) => drop(spawn_blocking(move || {
                        load(&edge, &object, found, &fill);
                        drop(place);
                    })),
                    _ => edge.code(object, coding, fill).await,
                }
            })),
        }
    }

    fn coded_on_disk(
        &self,
        object: &Object,
        coding: Coding,
        wait: Wait,
    ) -> Result<Option<OfCoded>, ::disk::Error> {
        let on_disk = self.on_disk.as_ref().filter(|disk| disk.may_have_coded(object, coding));
        on_disk.map_or(Ok(None), |disk| disk.coded(object, coding, wait))
    }

    /// Codes the body of an object. A complete coded body in memory is also written to the disk.
    async fn code(self: Arc<Self>, object: Arc<Object>, coding: Coding, fill: Arc<Fill>) {
        let body = coded(Body::stream(object.body.read()), coding, self.permit());
        if pour(&object, fill, body).await == Keeping::Memory
            && self.store.recount(&object)
            && let Some(on_disk) = &self.on_disk
        {
            on_disk.keep_coded(&object, coding);
        }
    }

    /// Codes a response that is not stored.
    pub(crate) fn compressed(&self, visit: &Visit, mut response: Response<Body>) -> Response<Body> {
        if response.status() == StatusCode::NOT_MODIFIED {
            name_as_known(&visit.headers, response.headers_mut());
        }
        let mut form = Form::of(&visit.headers, (response.status(), response.headers()), visit.compress());
        let permit = self.permit();
        if permit.is_none() && form != Form::Only {
            form = Form::Identity;
        }
        form.describe(response.headers_mut());
        match form {
            Form::Coded(coding) if visit.method != Method::HEAD => {
                response.map(|body| coded(body, coding, permit))
            }
            _ => response,
        }
    }

    fn permit(&self) -> Option<Permit> {
        Arc::clone(&self.coders).try_acquire_owned().ok()
    }
}

/// Replaces the strong ETag of a 304 by the client's weak one, if the client has a compressed response. With
/// the strong ETag the client could combine ranges of the uncompressed bytes with the compressed ones.
fn name_as_known(request: &HeaderMap, headers: &mut HeaderMap) {
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

/// The form in which an object is sent for this request if encoder permits are available.
pub(crate) fn usual_form(visit: &Visit, object: &Object) -> Form {
    Form::of(&visit.headers, (object.stored.status, &object.stored.headers), visit.compress())
}

#[expect(clippy::large_enum_variant, reason = "it is looked at where it is made, and never kept")]
enum Source {
    /// Already in memory.
    Here,
    Disk(OfCoded),
    /// Unknown until a blocking disk lookup.
    PerhapsDisk,
    Coder,
}

impl Source {
    /// The source after a non-blocking lookup on disk, and the part of the body that is already in memory.
    fn of(found: Result<Option<OfCoded>, ::disk::Error>) -> (Fill, Self) {
        match found {
            Ok(Some(mut found)) => {
                let fill = std::mem::take(&mut found.fill);
                let source = if found.rest.is_some() { Self::Disk(found) } else { Self::Here };
                (fill, source)
            }
            Ok(None) => (Fill::default(), Self::Coder),
            Err(_) => (Fill::default(), Self::PerhapsDisk),
        }
    }
}

/// Reads a coded body from the disk into memory. Blocking.
fn load(edge: &Edge, object: &Object, mut found: OfCoded, fill: &Fill) {
    if let Some(&id) = found.fill.on_disk.get() {
        let _ = fill.on_disk.set(id);
    }
    // A body of one block was read by the lookup.
    let here = found.fill.pieces().into_iter().map(Ok);
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
    edge.store.recount(object);
}

/// Moves a coded body into its fill, or only passes it on if the object's body is not in memory. Returns
/// where the complete body is stored.
async fn pour(object: &Object, fill: Arc<Fill>, mut body: Body) -> Keeping {
    let ending = Ending(fill);
    let fill = &ending.0;
    loop {
        match body.data().await {
            Ok(Some(piece)) => fill.push(piece),
            Ok(None) => break,
            Err(failure) => {
                fill.finish(Err(failure));
                return Keeping::Nowhere;
            }
        }
        if object.body.keeping() != Keeping::Memory {
            fill.pass_on();
        }
        if fill.room().await.is_err() {
            return Keeping::Nowhere;
        }
    }
    fill.finish(Ok(()));
    fill.keeping()
}

/// Ends a body with an error if its encoder is dropped early, so that readers do not wait forever.
struct Ending(Arc<Fill>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.finish(Err(Failure::Source));
    }
}
