//! A request to a peer, and its response.

use std::{fmt, pin::pin, sync::Arc, time::Duration};

use ::tiers::{CentreId, Role};
use http::{
    Body, Client, Failure, HeaderMap, Method, Request, Response,
    body::Frames,
    client::{Informed, Trace},
};
use tokio::time::timeout;

use crate::{
    came::{BULK, Came, LANE, MOST_HOPS, POSITION, REFUSED, SWITCH, TIER},
    core::Core,
    origins::pass_on,
    others::{Gone, Lane, Others, Peer, is_of_link, until_gone},
    visit::Visit,
};

/// Why a peer returned no usable response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// It refused the request, for this reason.
    Refused(String),
    Failed(Failure),
    /// It does not respond to heartbeats.
    Gone,
    /// It responds to heartbeats, but not to this request in time.
    Late,
    /// The path of the request has too many hops.
    Far,
    /// The purge position of this data centre is too long for a field.
    Unsayable,
    /// This process has just started and has not yet received earlier purges.
    Early,
}

impl Unanswered {
    /// Whether the request was not processed: it may be sent elsewhere, and the route is not at fault.
    pub(crate) fn was_not_sent(&self) -> bool {
        match self {
            Self::Failed(failure) => failure.is_want_of_room(),
            Self::Far | Self::Unsayable | Self::Early => true,
            Self::Refused(_) | Self::Gone | Self::Late => false,
        }
    }
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(word) => f.write_str(word),
            Self::Failed(failure) => failure.fmt(f),
            Self::Gone => f.write_str("it does not respond"),
            Self::Late => f.write_str("it did not respond in time"),
            Self::Far => f.write_str("the request passed too many data centres"),
            Self::Early => f.write_str("this data centre has not received earlier purges yet"),
            Self::Unsayable => f.write_str("the purge position of this data centre is too long for a field"),
        }
    }
}

impl Core {
    pub(crate) async fn ask_other(
        &self,
        others: &Arc<Others>,
        (centre, role): (CentreId, Role),
        visit: &Visit,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<Response<Body>, Unanswered> {
        let through: Vec<_> = visit.through().iter().cloned().chain([self.centre.clone()]).collect();
        if through.len() > MOST_HOPS {
            return Err(Unanswered::Far);
        }
        let came = Came {
            role,
            through,
            zone: visit.zone().name.clone(),
            key: visit.key_hash(),
            visitor: visit.peer.address,
            scheme: visit.peer.scheme,
        };
        // A new process may lack purges that the previous one has acknowledged.
        if timeout(BEGINNING, self.bus.begun()).await.is_err() {
            return Err(Unanswered::Early);
        }
        let reached = self.bus.reached().ok_or(Unanswered::Unsayable)?;
        let told = || {
            let mut told = headers.clone();
            told.reserve(PEER_FIELDS);
            came.write(&mut told);
            told.insert(POSITION, reached.clone());
            told
        };
        let peer = others.peer(centre);
        peer.asked();
        let mut asked = pin!(async {
            let again = body.again().filter(|_| visit.method == Method::GET);
            let client = if headers.contains_key(SWITCH) {
                others.lanes.of(Lane::Tunnels)
            } else {
                others.lanes.small_of(self.number(), &peer.origin, !body.is_end_stream())
            };
            let response = send(client, peer, visit, told(), body).await?;
            match again {
                // It is large, and must be requested on the other lane.
                Some(body) if response.headers().get(LANE).is_some_and(|lane| *lane == BULK) => {
                    let mut told = told();
                    told.insert(LANE, BULK);
                    Box::pin(send(others.lanes.of(Lane::Bulk), peer, visit, told, body)).await
                }
                _ => Ok(response),
            }
        });
        // The sender waits longer than the receiver, which may try several routes and has fewer hops left.
        let hops_left = u32::try_from(MOST_HOPS + 1 - came.through.len()).unwrap_or(1);
        let patience = visit.zone().first_byte.saturating_mul(WAYS) + MARGIN * hops_left;
        let mut gone = peer.is_gone();
        let answered = tokio::select! {
            biased;
            answered = timeout(patience, asked.as_mut()) => match answered {
                Ok(answered) => answered,
                Err(_) => {
                    peer.failed();
                    others.lanes.leave(&peer.origin);
                    return Err(Unanswered::Late);
                }
            },
            () = gone.as_mut() => {
                peer.failed();
                return Err(Unanswered::Gone);
            }
        };
        match answered {
            Ok(mut response) => {
                others.heard(centre);
                if let Some(done) = response.headers_mut().remove(POSITION) {
                    self.edge.look_after(others, centre, &done);
                }
                accepted(response, visit, peer, gone)
            }
            Err(failure) => {
                // Neither a client that aborts its request nor a lack of capacity here is the fault of the
                // peer.
                if failure != Failure::Source && !failure.is_want_of_room() {
                    peer.failed();
                    others.lanes.leave(&peer.origin);
                }
                if is_of_link(failure) {
                    others.lost(centre, &failure.to_string());
                }
                Err(Unanswered::Failed(failure))
            }
        }
    }
}

async fn send(
    client: &Client,
    peer: &Peer,
    visit: &Visit,
    headers: HeaderMap,
    body: Body,
) -> Result<Response<Body>, Failure> {
    let mut request = Request::new(body);
    *request.method_mut() = visit.method.clone();
    *request.uri_mut() = visit.url.clone();
    *request.headers_mut() = headers;
    if let Some(interim) = visit.interim.clone() {
        let tell = Informed::new(move |code, fields: &HeaderMap| pass_on(&interim, code, fields));
        request.extensions_mut().insert(tell);
    }
    let mut trace = Trace::start(client.clock().now());
    client.send(&peer.origin, request, &mut trace).await
}

/// Removes internal fields, and makes the body fail when the peer is lost. Returns an error if the peer
/// refused.
fn accepted(
    mut response: Response<Body>,
    visit: &Visit,
    peer: &Peer,
    gone: Gone,
) -> Result<Response<Body>, Unanswered> {
    let headers = response.headers_mut();
    headers.remove(LANE);
    if let Some(word) = headers.remove(REFUSED) {
        return Err(Unanswered::Refused(word.to_str().unwrap_or_default().to_owned()));
    }
    let tier = headers.remove(TIER);
    if let Some(at_origin) = &visit.at_origin {
        let tier = tier.as_ref().and_then(|tier| tier.to_str().ok());
        at_origin.came_from(tier.unwrap_or(&peer.name));
    }
    Ok(response.map(|body| until_gone(body, gone)))
}

/// Header fields that a request to a peer has in addition.
const PEER_FIELDS: usize = 4;

/// Routes that a data centre may try, each with the timeout of the zone's origin.
const WAYS: u32 = 4;

const MARGIN: Duration = Duration::from_secs(2);
/// How long a request waits until peers have reported purges from before this process started; then it is
/// sent to the origin. Longer than one exchange with a peer that does not respond.
const BEGINNING: Duration = Duration::from_secs(8);
