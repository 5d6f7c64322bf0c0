//! The session of a data centre with the purge stream. It is restarted after each failure.

use std::{
    convert::Infallible,
    sync::{Arc, Weak, atomic::Ordering::Relaxed},
    time::Duration,
};

use ::tiers::LogId;
use jetstream::{Bytes, Came, Place, Reader, Writer};
use tokio::{
    sync::watch,
    task::spawn_blocking,
    time::{Instant, sleep, sleep_until},
};

use super::{entry::Entry, talk::Talk};
use crate::{
    bus::{Heard, Message, Whose, digits},
    centre::Edge,
    exchange::between_exchanges,
    purging::Leaving,
};

/// Runs until the data centre is dropped.
pub(super) async fn run(edge: Weak<Edge>, talk: Arc<Talk>) {
    let mut place = Place::default();
    loop {
        let why = match converse(&edge, &talk, &mut place).await {
            Err(why) => why,
            Ok(never) => match never {},
        };
        let Some(edge) = edge.upgrade() else { return };
        talk.fails(why);
        // Requests must not wait for a stream that cannot be read.
        edge.bus.asked_stream();
        drop(edge);
        keep(&talk).await;
        sleep(BEFORE_AGAIN).await;
    }
}

/// Reads the stream from `place` and publishes missing entries, until an error occurs.
async fn converse(edge: &Weak<Edge>, talk: &Arc<Talk>, place: &mut Place) -> Result<Infallible, String> {
    let own = digits(there(edge)?.bus.last_own().0);
    let (writer, mut reader) = talk.journal.open(place, [ALL, &own]).await?;
    if place.is_anew() && begin_anew(&there(edge)?, talk).await? {
        place.begin();
    }
    talk.journal.reached(place);
    let is_current = watch::channel(false).0;
    tokio::select! {
        failed = listen(edge, talk, (&mut reader, &writer), place, &is_current) => failed,
        failed = tell(edge, talk, &writer, is_current.subscribe()) => failed,
    }
}

/// Makes everything stale, because the stream was recreated or restored to an earlier state and purges may be
/// lost. Returns whether this was written to disk, if there is a disk store.
async fn begin_anew(edge: &Arc<Edge>, talk: &Talk) -> Result<bool, String> {
    edge.bus.stream_is_anew();
    let here = Arc::clone(edge);
    let taken = spawn_blocking(move || here.make_everything_stale()).await.unwrap_or(Err(Leaving));
    let is_noted = taken.map_err(|Leaving| LEAVING.to_owned())?;
    talk.resets.fetch_add(1, Relaxed);
    let stream = talk.journal.address();
    tracing::warn!(stream, "the bus's stream was recreated or restored: everything is stale");
    Ok(is_noted)
}

async fn listen(
    edge: &Weak<Edge>,
    talk: &Talk,
    (reader, writer): (&mut Reader, &Writer),
    place: &mut Place,
    is_current: &watch::Sender<bool>,
) -> Result<Infallible, String> {
    loop {
        if reader.is_current() && !is_current.send_replace(true) {
            talk.works();
            there(edge)?.bus.asked_stream();
        }
        let came = reader.next().await.map_err(|why| failed(talk, &why))?;
        let edge = there(edge)?;
        match came {
            Came::Nothing => {}
            Came::Said { by, text } => hear(&edge, talk, &by, &text).await?,
            Came::Kept { part, text, sequence } => {
                let log = take(&edge, talk, &part, &text).await?;
                place.reach(sequence);
                talk.journal.reached(place);
                // Notify the writer, which may wait for this entry. Entries that are replayed at startup need
                // no notification.
                if let Some(log) = log.filter(|_| reader.is_current()) {
                    say(&edge, writer, &digits(log)).await.map_err(|why| failed(talk, &why))?;
                }
            }
        }
    }
}

/// Applies a message of the stream. Returns its log if the message is valid.
async fn take(edge: &Arc<Edge>, talk: &Talk, part: &str, text: &Bytes) -> Result<Option<LogId>, String> {
    let Some(entry) = Entry::read(part, text) else {
        talk.not_read(part, text.len());
        return Ok(None);
    };
    let (log, last) = (entry.piece.log, entry.last());
    let Entry { by, mut piece } = entry;
    if edge.bus.has_gap(&piece) {
        // The stream has dropped earlier entries. Peers that have them send them over links; otherwise
        // everything becomes stale.
        edge.bus.others_were_asked(LONGEST_WAIT).await;
        piece.forgets |= edge.bus.has_gap(&piece);
    }
    let doing = Arc::clone(edge);
    let take = move || doing.take_pieces(&by, vec![piece], |_| Heard::default());
    let taken =
        if edge.on_disk.is_some() { spawn_blocking(take).await.unwrap_or(Err(Leaving)) } else { take() };
    let new = taken.map_err(|Leaving| LEAVING.to_owned())?;
    talk.taken.fetch_add(new as u64, Relaxed);
    edge.bus.stream_has(log, last);
    Ok(Some(log))
}

async fn hear(edge: &Arc<Edge>, talk: &Talk, by: &str, text: &Bytes) -> Result<(), String> {
    let network = edge.network();
    let message = Message::read(text).filter(|message| message.network == network.name);
    let Some(mut message) = message else {
        talk.not_read(by, text.len());
        return Ok(());
    };
    let own = edge.bus.last_own().0;
    if by.eq_ignore_ascii_case(&edge.centre) {
        // During a handover, only the new process sends messages.
        if message.log != own && !*edge.is_leaving() {
            talk.meets(&edge.centre, message.log);
        }
        return Ok(());
    }
    let Some(others) = edge.others() else { return Ok(()) };
    let Some(centre) = others.id(by) else { return Ok(()) };
    (message.over, message.pieces) = edge.bus.ends_here(&message.over);
    let heard = edge.take_in(&others.peer(centre).name, message).await;
    heard.map_err(|Leaving| LEAVING.to_owned())
}

/// Publishes missing entries, and broadcasts the state of this data centre every few seconds.
async fn tell(
    edge: &Weak<Edge>,
    talk: &Arc<Talk>,
    writer: &Writer,
    mut is_current: watch::Receiver<bool>,
) -> Result<Infallible, String> {
    let _ = is_current.wait_for(|is_current| *is_current).await;
    let mut next = Instant::now();
    loop {
        let now = there(edge)?;
        let mut told = put(&now, talk, writer, Whose::Own).await;
        if next <= Instant::now() {
            if told.is_ok() {
                told = put(&now, talk, writer, Whose::All).await;
            }
            now.bus.look_at_stream();
            let others = now.network().data_centres.len().saturating_sub(1);
            if let Some(log) = now.bus.over_in_stream(others) {
                // A failure is ignored: it is retried later.
                if writer.forget(&digits(log)).await.is_ok() {
                    now.bus.stream_forgot(log);
                }
            }
            say(&now, writer, ALL).await.map_err(|why| failed(talk, &why))?;
            keep(talk).await;
            next = Instant::now() + between_exchanges(now.network().data_centres.len());
        }
        talk.takes(told.err().map(|why| failed(talk, &why)));
        let bus = Arc::clone(&now);
        drop(now);
        tokio::select! {
            () = bus.bus.moved() => {}
            () = sleep_until(next) => {}
        }
    }
}

async fn put(edge: &Arc<Edge>, talk: &Talk, writer: &Writer, whose: Whose) -> Result<(), jetstream::Error> {
    while let Some(piece) = edge.bus.stream_lacks(whose) {
        let entry = Entry::new(&edge.centre, piece);
        writer.keep(&entry.part(), &entry.id(), entry.write()).await?;
        talk.put.fetch_add(entry.piece.entries.len() as u64, Relaxed);
        edge.bus.stream_has(entry.piece.log, entry.last());
    }
    Ok(())
}

/// Sends the state of this data centre, except during a handover.
async fn say(edge: &Arc<Edge>, writer: &Writer, to: &str) -> Result<(), jetstream::Error> {
    if *edge.is_leaving() {
        return Ok(());
    }
    let word = edge.bus.word(&edge.network().name);
    writer.say(to, &edge.centre, word.write()).await
}

async fn keep(talk: &Arc<Talk>) {
    let talk = Arc::clone(talk);
    let _ = spawn_blocking(move || talk.journal.keep()).await;
}

fn there(edge: &Weak<Edge>) -> Result<Arc<Edge>, String> {
    edge.upgrade().ok_or_else(|| "this data centre is shutting down".to_owned())
}

fn failed(talk: &Talk, why: &dyn std::fmt::Display) -> String {
    format!("NATS at {} cannot be used: {why}", talk.journal.address())
}

const LEAVING: &str = "a handover to another process is in progress";
/// The recipient of broadcasts; never the name of a log.
const ALL: &str = "all";
const BEFORE_AGAIN: Duration = Duration::from_secs(1);
/// How long to wait for peers to supply entries that the stream has dropped: the time to detect a silent
/// peer, plus one exchange.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
