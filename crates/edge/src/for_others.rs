//! Requests of peers over links: object requests, heartbeats, purges and KV requests.

use std::sync::Arc;

use http::{
    Body, Caller, Failure, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Whole, header,
    server::{Glance, Handler, Peer},
};

use crate::{
    came::{BULK, Came, KIND, LANE, LARGE, NODE, POSITION, REFUSED, SWITCH, TIER, VALUES, plain::Plain},
    core::Core,
    counts::Word,
    exchange::{Behind, is_exchange, not_taken},
    kept::Kept,
    log::AtOrigin,
    others::{Hello, Others},
    tunnel,
    visit::{Refusal, Visit},
};

pub(crate) struct ForOthers(pub(crate) Arc<Core>);

impl Handler for ForOthers {
    const ANSWERS_AT_ONCE: bool = true;

    type Note = ();

    fn at_once(&self, request: &Glance<'_>, head: &mut Vec<u8>) -> Option<(Whole, Option<()>)> {
        Some((self.0.glance_of_other(request, head)?, None))
    }

    async fn handle(&self, request: Request<Body>) -> Result<Response<Body>, Failure> {
        Ok(self.0.serve_other(request).await)
    }
}

impl Core {
    pub(crate) async fn serve_other(self: &Arc<Self>, request: Request<Body>) -> Response<Body> {
        let Some(others) = self.others() else { return denied("this data centre has no links") };
        if is_exchange(&request) {
            return self.hear(&others, request).await;
        }
        if request.headers().get(KIND).is_some_and(|kind| *kind == VALUES) {
            return self.serve_values(&others, request).await;
        }
        if request.headers().contains_key(KIND) {
            return self.greet(&others, &request);
        }
        let came = match Came::read(request.headers()) {
            Ok(came) => came,
            Err(wrong) => return denied(&wrong.to_string()),
        };
        if let Err(why) = is_known(&others, request.extensions().get(), came.sender()) {
            return denied(&why);
        }
        if came.through.iter().any(|name| name.eq_ignore_ascii_case(&self.centre)) {
            return refused(self.refuse(LOOP));
        }
        match self.edge.catch_up(&others, came.sender(), request.headers()).await {
            Ok(()) => {}
            Err(Behind::Lacks) => return refused(self.refuse(BEHIND)),
            Err(Behind::Unread) => return denied("its field lh-purge-epoch is malformed"),
        }
        let may_come_back =
            request.method() == Method::GET && request.headers().get(LANE).is_none_or(|lane| *lane != BULK);
        let [switch, position] = [SWITCH, POSITION].map(|name| request.headers().get(name).cloned());
        let (mut visit, body) = match Visit::admit_from_other(&self.network(), &self.centre, request, came) {
            Ok(admitted) => admitted,
            Err(refusal) => return refused(self.refuse(refusal)),
        };
        let at_origin: Arc<AtOrigin> = Arc::default();
        visit.at_origin = Some(Arc::clone(&at_origin));
        let mut response = match switch {
            Some(protocol) => {
                tunnel::answer(self.switch(&visit, Body::empty(), &protocol).await, protocol, body)
            }
            None => self.answer_visit(visit, body).await,
        };
        let is_large = announced(&response) > LARGE && response.extensions().get::<Kept>().is_some();
        if is_large && may_come_back {
            return elsewhere();
        }
        if let Some(tier) = at_origin.tier().or_else(|| at_origin.times().map(|_| "origin".to_owned())) {
            put(&mut response, TIER, &tier);
        }
        if let Some(done) = self.ahead_of(position.as_ref().map(HeaderValue::as_bytes)) {
            response.headers_mut().insert(POSITION, done);
        }
        refused(response)
    }

    /// The response to a peer's request that hits the synchronous hit path. The same checks apply as for
    /// other requests.
    fn glance_of_other(&self, request: &Glance<'_>, head: &mut Vec<u8>) -> Option<Whole> {
        let plain = Plain::read(request.fields())?;
        let others = self.others()?;
        let (sender, here) = (plain.sender(), others.here());
        let caller = request.caller?;
        let is_known = caller.is(sender) && others.id(sender).is_some_and(|id| id != here);
        // A data centre that lacks purges must catch up first. While it is cut off, it may have to
        // revalidate.
        let is_behind = plain.position.is_some_and(|told| !self.bus.is_at(told));
        if !is_known
            || !others.membership.trusts(caller)
            || plain.was_at(others.network_name(), &self.centre)
            || is_behind
            || self.bus.is_cut_off()
        {
            return None;
        }
        let mut of_visitor = *request;
        of_visitor.peer.scheme = plain.scheme;
        let now = self.now();
        let known_as = (plain.zone, plain.key);
        let found = self.hits(self.number()).find_for_others(&self.store, now, &of_visitor, known_as)?;
        let body = found.write(request, now, head)?;
        self.counted().add(Word::Hit);
        if let Some(done) = self.ahead_of(plain.position) {
            for part in [POSITION.as_str().as_bytes(), b": ", done.as_bytes(), b"\r\n"] {
                head.extend_from_slice(part);
            }
        }
        Some(body)
    }

    /// The purge position of this data centre, if it differs from the position of the peer.
    fn ahead_of(&self, there: Option<&[u8]>) -> Option<HeaderValue> {
        self.bus.done().filter(|done| Some(done.as_bytes()) != there)
    }

    async fn hear(&self, others: &Others, request: Request<Body>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let name = parts.headers.get(NODE).and_then(|node| node.to_str().ok()).unwrap_or_default();
        if let Err(why) = is_known(others, parts.extensions.get(), name) {
            return denied(&why);
        }
        // With the spelling of the network file.
        let name = others.id(name).map(|id| others.name(id)).unwrap_or_default();
        self.edge.answer_exchange(others, name, body).await.unwrap_or_else(|why| not_taken(&why))
    }

    async fn serve_values(&self, others: &Others, request: Request<Body>) -> Response<Body> {
        let node = request.headers().get(NODE).and_then(|node| node.to_str().ok()).unwrap_or_default();
        if let Err(why) = is_known(others, request.extensions().get(), node) {
            return denied(&why);
        }
        let Some(kv) = &self.kv else {
            return not_taken("this data centre has no [kv] in its network file");
        };
        let may_come_back =
            request.method() == Method::GET && request.headers().get(LANE).is_none_or(|lane| *lane != BULK);
        let response = kv.answer_other(request).await;
        if may_come_back && announced(&response) > LARGE { elsewhere() } else { response }
    }

    fn greet(&self, others: &Others, request: &Request<Body>) -> Response<Body> {
        let node = request.headers().get(NODE).and_then(|node| node.to_str().ok()).unwrap_or_default();
        if let Err(why) = is_known(others, request.extensions().get(), node) {
            return denied(&why);
        }
        let Some(hello) = request.uri().query().and_then(Hello::read) else {
            return denied("the heartbeat is malformed");
        };
        if hello.network != others.network_name() {
            return denied(&format!("this data centre belongs to the network \"{}\"", others.network_name()));
        }
        if let Some(peer) = request.extensions().get::<Peer>() {
            others.see(node, peer.address);
        }
        let text = serde_json::to_vec(&others.told(&hello)).unwrap_or_default();
        let mut response = Response::new(Body::whole(text));
        put(&mut response, header::CONTENT_TYPE, "application/json");
        response
    }
}

/// Checks that the certificate of a caller matches its claimed name, and that this is a peer in this network.
fn is_known(others: &Others, caller: Option<&Caller>, name: &str) -> Result<(), String> {
    let names = || caller.map(|caller| caller.names().collect::<Vec<_>>().join(", ")).unwrap_or_default();
    let why = match others.id(name) {
        _ if !caller.is_some_and(|caller| caller.is(name)) => {
            format!("it claims to be \"{name}\", but its certificate is for {}", names())
        }
        None => format!("the network has no data centre \"{name}\""),
        Some(id) if id == others.here() => format!("\"{name}\" is this data centre itself"),
        Some(_) if !caller.is_some_and(|caller| others.membership.trusts(caller)) => {
            format!("the certificate of \"{name}\" is revoked, or its authority is no longer trusted")
        }
        Some(_) => return Ok(()),
    };
    tracing::warn!("a request of a data centre is refused: {why}");
    Err(why)
}

/// Adds the internal reason to a refusal.
fn refused(mut response: Response<Body>) -> Response<Body> {
    if let Some(refusal) = response.extensions().get::<Refusal>().copied() {
        put(&mut response, REFUSED, refusal.word);
    }
    response
}

/// The response to a request that is malformed or not from a peer.
fn denied(why: &str) -> Response<Body> {
    let mut response = Response::new(Body::whole(format!("{why}\n")));
    *response.status_mut() = StatusCode::FORBIDDEN;
    put(&mut response, REFUSED, "denied");
    response
}

/// The response that makes the sender repeat the request on the lane for large bodies.
fn elsewhere() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response.headers_mut().insert(LANE, BULK);
    response
}

fn announced(response: &Response<Body>) -> u64 {
    let length = response.headers().get(header::CONTENT_LENGTH);
    length.and_then(|length| length.to_str().ok()?.parse().ok()).unwrap_or(0)
}

fn put<B>(response: &mut Response<B>, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

const LOOP: Refusal = Refusal {
    status: StatusCode::LOOP_DETECTED,
    word: "loop",
    sentence: "The request has already passed this data centre.",
};

const BEHIND: Refusal = Refusal {
    status: StatusCode::SERVICE_UNAVAILABLE,
    word: "behind",
    sentence: "This data centre could not receive all purges of the sender.",
};
