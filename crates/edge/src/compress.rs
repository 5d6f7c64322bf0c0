//! Text that visitors get in a content coding: made once of a body that is stored, and for each visitor of one that is not.

use std::sync::Arc;

use cache::{Coding, Form};
use http::{Body, Failure, HeaderMap, HeaderValue, Method, Response, StatusCode, header};

use crate::{
    centre::Edge,
    coder::{Permit, coded},
    fill::{Fill, Keeping},
    store::Object,
    visit::Visit,
};

impl Edge {
    /// The form in which an object is sent for this request.
    pub(crate) fn form(&self, visit: &Visit, object: &Object) -> Form {
        let can_be_had = |coding| match object.body.coded(coding) {
            Some(coded) if object.body.keeping() == Keeping::Memory => !coded.is_broken(),
            _ => self.coders.available_permits() > 0,
        };
        match usual_form(visit, object) {
            Form::Coded(coding) if visit.method != Method::HEAD && !can_be_had(coding) => Form::Identity,
            form => form,
        }
    }

    /// The body of an object in a coding, which is made while it is read, and even while the object's body is still coming. What has no
    /// room in memory has none there in a coding either: that is for one visitor alone.
    pub(crate) fn coded(self: &Arc<Self>, object: &Arc<Object>, coding: Coding) -> Arc<Fill> {
        let begin = |fill: &Arc<Fill>| {
            let body = coded(Body::stream(object.body.read()), coding, self.permit());
            tokio::spawn(pour(Arc::clone(self), Arc::clone(object), Arc::clone(fill), body));
        };
        if object.body.keeping() == Keeping::Memory {
            return object.body.coded_or(coding, begin);
        }
        let fill = Arc::default();
        begin(&fill);
        fill
    }

    /// A response that is not stored, for this request.
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

/// Gives a 304 the weak tag by which its visitor knows the response, if that was compressed: with the strong one parts of the origin's
/// bytes could be joined to it.
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

/// The form in which an object is sent for this request where there is no lack of anything.
pub(crate) fn usual_form(visit: &Visit, object: &Object) -> Form {
    Form::of(&visit.headers, (object.stored.status, &object.stored.headers), visit.compress())
}

/// Moves a coded body to where it is stored; or passes it on, if the object is not stored in memory.
async fn pour(edge: Arc<Edge>, object: Arc<Object>, fill: Arc<Fill>, mut body: Body) {
    let ending = Ending(fill);
    let fill = &ending.0;
    loop {
        match body.data().await {
            Ok(Some(piece)) => fill.push(piece),
            Ok(None) => break,
            Err(failure) => return fill.finish(Err(failure)),
        }
        if object.body.keeping() != Keeping::Memory {
            fill.pass_on();
        }
        if fill.room().await.is_err() {
            return;
        }
    }
    fill.finish(Ok(()));
    edge.store.recount(&object);
}

/// Ends a body whose coder is gone before its end, for those who wait for it.
struct Ending(Arc<Fill>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.finish(Err(Failure::Source));
    }
}
