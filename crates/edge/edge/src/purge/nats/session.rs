//! The session of a data centre with the purge stream. It is restarted after each failure.

use std::{
    convert::Infallible,
    sync::{Arc, Weak, atomic::Ordering::Relaxed},
    time::Duration,
};

use ::tier_routing::LogId;
use kv_nats::{Bytes, Came, Place, Reader, Writer};
use tokio::{
    sync::watch,
    task::spawn_blocking,
    time::{Instant, sleep, sleep_until},
};

use super::{record::NatsRecord, state::NatsSession};
use crate::{
    purge::{
        apply::HandoverInProgress,
        log::{PublishScope, SyncDelta, SyncMessage, format_log_id},
        sync::sync_interval,
    },
    server::node::Node,
};

pub(super) async fn run(node: Weak<Node>, session: Arc<NatsSession>) {
    let mut place = Place::default();
    loop {
        let why = match run_session(&node, &session, &mut place).await {
            Err(why) => why,
            Ok(never) => match never {},
        };
        let Some(node) = node.upgrade() else { return };
        session.mark_failed(why);
        // Requests must not wait for a stream that cannot be read.
        node.purge_log.mark_stream_synced();
        drop(node);
        save_position(&session).await;
        sleep(RETRY_DELAY).await;
    }
}

async fn run_session(
    node: &Weak<Node>,
    session: &Arc<NatsSession>,
    place: &mut Place,
) -> Result<Infallible, String> {
    let own = format_log_id(upgrade_node(node)?.purge_log.last_own_entry().0);
    let (writer, mut reader) = session.journal.open(place, [BROADCAST, &own]).await?;
    if place.is_anew() && reset_session(&upgrade_node(node)?, session).await? {
        place.begin();
    }
    session.journal.reached(place);
    let is_current = watch::channel(false).0;
    tokio::select! {
        failed = read_messages(node, session, (&mut reader, &writer), place, &is_current) => failed,
        failed = publish_loop(node, session, &writer, is_current.subscribe()) => failed,
    }
}

/// Makes everything stale: the stream was recreated or restored to an earlier state, so purges may
/// be lost. Returns whether this was written to disk, if there is a disk store.
async fn reset_session(node: &Arc<Node>, session: &NatsSession) -> Result<bool, String> {
    node.purge_log.reset_stream();
    let here = Arc::clone(node);
    let reset = spawn_blocking(move || here.make_everything_stale()).await.unwrap_or(Err(HandoverInProgress));
    let is_noted = reset.map_err(|HandoverInProgress| HANDOVER_MESSAGE.to_owned())?;
    session.resets.fetch_add(1, Relaxed);
    let stream = session.journal.address();
    tracing::warn!(stream, "the bus's stream was recreated or restored: everything is stale");
    Ok(is_noted)
}

async fn read_messages(
    node: &Weak<Node>,
    session: &NatsSession,
    (reader, writer): (&mut Reader, &Writer),
    place: &mut Place,
    is_current: &watch::Sender<bool>,
) -> Result<Infallible, String> {
    loop {
        if reader.is_current() && !is_current.send_replace(true) {
            session.mark_working();
            upgrade_node(node)?.purge_log.mark_stream_synced();
        }
        let message = reader.next().await.map_err(|why| error_message(session, &why))?;
        let node = upgrade_node(node)?;
        match message {
            Came::Nothing => {}
            Came::Said { by, text } => receive_position(&node, session, &by, &text).await?,
            Came::Kept { part, text, sequence } => {
                let log = apply_entry(&node, session, &part, &text).await?;
                place.reach(sequence);
                session.journal.reached(place);
                // The writer may wait for this entry, except when entries are replayed at startup.
                if let Some(log) = log.filter(|_| reader.is_current()) {
                    publish_position(&node, writer, &format_log_id(log))
                        .await
                        .map_err(|why| error_message(session, &why))?;
                }
            }
        }
    }
}

async fn apply_entry(
    node: &Arc<Node>,
    session: &NatsSession,
    part: &str,
    text: &Bytes,
) -> Result<Option<LogId>, String> {
    let Some(entry) = NatsRecord::read(part, text) else {
        session.record_unreadable(part, text.len());
        return Ok(None);
    };
    let (log, last) = (entry.piece.log, entry.last());
    let NatsRecord { publisher: by, mut piece } = entry;
    if node.purge_log.has_gap(&piece) {
        // The stream has dropped earlier entries. Peers may send them over links; otherwise
        // everything becomes stale.
        node.purge_log.peers_synced_within(MAX_LINK_WAIT).await;
        piece.forgets |= node.purge_log.has_gap(&piece);
    }
    let doing = Arc::clone(node);
    let take = move || doing.apply_pieces(&by, vec![piece], |_| SyncDelta::default());
    let reset = if node.disk.is_some() {
        spawn_blocking(take).await.unwrap_or(Err(HandoverInProgress))
    } else {
        take()
    };
    let new = reset.map_err(|HandoverInProgress| HANDOVER_MESSAGE.to_owned())?;
    session.received.fetch_add(new as u64, Relaxed);
    node.purge_log.record_in_stream(log, last);
    Ok(Some(log))
}

async fn receive_position(
    node: &Arc<Node>,
    session: &NatsSession,
    by: &str,
    text: &Bytes,
) -> Result<(), String> {
    let network = node.network();
    let message = SyncMessage::read(text).filter(|message| message.network == network.name);
    let Some(mut message) = message else {
        session.record_unreadable(by, text.len());
        return Ok(());
    };
    let own = node.purge_log.last_own_entry().0;
    if by.eq_ignore_ascii_case(&node.data_centre) {
        // During a handover, only the new process sends messages.
        if message.log != own && !*node.is_handing_over() {
            session.record_duplicate(&node.data_centre, message.log);
        }
        return Ok(());
    }
    let Some(peers) = node.peers() else { return Ok(()) };
    let Some(centre) = peers.id(by) else { return Ok(()) };
    (message.ended_logs, message.pieces) = node.purge_log.own_ended_logs(&message.ended_logs);
    let result = node.apply_message(&peers.peer(centre).name, message).await;
    result.map_err(|HandoverInProgress| HANDOVER_MESSAGE.to_owned())
}

async fn publish_loop(
    node: &Weak<Node>,
    session: &Arc<NatsSession>,
    writer: &Writer,
    mut is_current: watch::Receiver<bool>,
) -> Result<Infallible, String> {
    let _ = is_current.wait_for(|is_current| *is_current).await;
    let mut next = Instant::now();
    loop {
        let now = upgrade_node(node)?;
        let mut publish_result = publish_missing(&now, session, writer, PublishScope::Own).await;
        if next <= Instant::now() {
            if publish_result.is_ok() {
                publish_result = publish_missing(&now, session, writer, PublishScope::All).await;
            }
            now.purge_log.snapshot_for_stream();
            let peers = now.network().data_centres.len().saturating_sub(1);
            if let Some(log) = now.purge_log.removable_stream_log(peers)
                && writer.forget(&format_log_id(log)).await.is_ok()
            {
                now.purge_log.forget_stream_log(log);
            }
            publish_position(&now, writer, BROADCAST).await.map_err(|why| error_message(session, &why))?;
            save_position(session).await;
            next = Instant::now() + sync_interval(now.network().data_centres.len());
        }
        session.set_publish_error(publish_result.err().map(|why| error_message(session, &why)));
        let bus = Arc::clone(&now);
        drop(now);
        tokio::select! {
            () = bus.purge_log.advanced() => {}
            () = sleep_until(next) => {}
        }
    }
}

async fn publish_missing(
    node: &Arc<Node>,
    session: &NatsSession,
    writer: &Writer,
    scope: PublishScope,
) -> Result<(), kv_nats::Error> {
    while let Some(piece) = node.purge_log.missing_in_stream(scope) {
        let entry = NatsRecord::new(&node.data_centre, piece);
        writer.keep(&entry.partition(), &entry.id(), entry.write()).await?;
        session.published.fetch_add(entry.piece.entries.len() as u64, Relaxed);
        node.purge_log.record_in_stream(entry.piece.log, entry.last());
    }
    Ok(())
}

async fn publish_position(node: &Arc<Node>, writer: &Writer, to: &str) -> Result<(), kv_nats::Error> {
    if *node.is_handing_over() {
        return Ok(());
    }
    let word = node.purge_log.position_message(&node.network().name);
    writer.say(to, &node.data_centre, word.write()).await
}

async fn save_position(session: &Arc<NatsSession>) {
    let session = Arc::clone(session);
    let _ = spawn_blocking(move || session.journal.keep()).await;
}

fn upgrade_node(node: &Weak<Node>) -> Result<Arc<Node>, String> {
    node.upgrade().ok_or_else(|| "this data centre is shutting down".to_owned())
}

fn error_message(session: &NatsSession, why: &dyn std::fmt::Display) -> String {
    format!("NATS at {} cannot be used: {why}", session.journal.address())
}

const HANDOVER_MESSAGE: &str = "a handover to another process is in progress";
const BROADCAST: &str = "all";
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// The time to detect a silent peer, plus one exchange.
const MAX_LINK_WAIT: Duration = Duration::from_secs(5);
