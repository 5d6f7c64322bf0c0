//! Requests that were made: a CSV file, or an access log.

mod csv;
mod log;
mod recognise;

use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Seek},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use edge::network::Zone;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use self::{
    csv::Csv,
    log::{AccessLog, Of},
    recognise::{Found, recognise},
};
use crate::{Error, LeftOut, Plan, Request, Source, places::Crowd, request::BLOCK};

/// A file of requests, read while it is simulated.
#[derive(Debug)]
pub struct Trace<R: Read = File> {
    path: PathBuf,
    format: Format<R>,
    crowd: Crowd,
    random: Xoshiro256PlusPlus,
    fresh_ns: u64,
    /// When the last request of the block before was.
    before_ns: u64,
    requests: u64,
}

#[derive(Debug)]
enum Format<R: Read> {
    Csv(Csv<BufReader<R>>),
    Log(AccessLog),
}

/// A request as a file has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Written {
    at_ns: u64,
    key: u64,
    bytes: u64,
    /// Where the visitor was, if the file says it.
    city: Option<u16>,
    /// What a zone's rule says of it.
    fresh_ns: Option<u64>,
}

impl Trace {
    /// Opens a table, or an access log, whose lines have this format if one is given. `fresh_ns` is how long responses are fresh of which no
    /// rule says it.
    ///
    /// # Errors
    /// When it cannot be read, or does not begin as either does.
    pub fn open(
        path: &Path,
        plan: &Plan,
        format: Option<recording::AccessLog>,
        fresh_ns: u64,
        seed: u64,
    ) -> Result<Self, Error> {
        let unreadable = |source| Error::Unreadable { path: path.to_owned(), source };
        let mut file = File::open(path).map_err(unreadable)?;
        let mut head = Vec::new();
        file.by_ref().take(HEAD).read_to_end(&mut head).map_err(unreadable)?;
        file.rewind().map_err(unreadable)?;
        let format = match (format, recognise(&head)) {
            (None, Found::Table) => return Self::csv(file, path, fresh_ns, seed),
            (None, Found::Log(format)) => format,
            (Some(given), _) => Some(given),
        };
        let of = Of { network: Arc::new(plan.network.clone()), zone: plan.zone };
        Ok(Self::of(path, Format::Log(AccessLog::new(path, format, of)?), fresh_ns, seed))
    }
}

impl<R: Read> Trace<R> {
    /// A table from any input; `path` stands for it in messages.
    ///
    /// # Errors
    /// When its first line is wrong.
    pub fn csv(input: R, path: &Path, fresh_ns: u64, seed: u64) -> Result<Self, Error> {
        let csv = Csv::new(BufReader::new(input), path)?;
        Ok(Self::of(path, Format::Csv(csv), fresh_ns, seed))
    }

    fn of(path: &Path, format: Format<R>, fresh_ns: u64, seed: u64) -> Self {
        Self {
            path: path.to_owned(),
            format,
            crowd: Crowd::world(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            fresh_ns,
            before_ns: 0,
            requests: 0,
        }
    }

    /// Visitors of whom the file does not say where they are, are in this city; else they are where the world's Internet users are.
    ///
    /// # Errors
    /// When the gazetteer does not have it.
    pub fn from_city(mut self, name: &str) -> Result<Self, Error> {
        self.crowd = Crowd::city(name)?;
        Ok(self)
    }

    fn next(&mut self) -> Result<Option<Written>, Error> {
        let written = match &mut self.format {
            Format::Csv(csv) => csv.next()?,
            Format::Log(log) => log.next()?,
        };
        if let Some(written) = written {
            self.check_order(written.at_ns)?;
        }
        Ok(written)
    }

    /// Requests of one block are put in order. One that belongs into an earlier block makes the result wrong, unless it is in an access log, which
    /// has requests in the order of their ends, and took long.
    fn check_order(&self, at_ns: u64) -> Result<(), Error> {
        let late = Duration::from_nanos(self.before_ns.saturating_sub(at_ns));
        match &self.format {
            Format::Csv(csv) if !late.is_zero() => Err(csv.wrong(format!(
                "its time is {:.3} s before that of an earlier request, and more than {BLOCK} requests are between them: \
                 sort the file by time, such as with `sort -t, -g`",
                late.as_secs_f64()
            ))),
            Format::Log(log) if late > LONGEST_REQUEST => Err(log.wrong(format!(
                "its time is {} before that of an earlier request: join the log's files in the order of their times, the oldest first",
                units::show::span(late.as_secs_f64())
            ))),
            Format::Csv(_) | Format::Log(_) => Ok(()),
        }
    }
}

impl<R: Read> Source for Trace<R> {
    fn next_block(&mut self) -> Result<Option<Vec<Request>>, Error> {
        let mut block = Vec::new();
        while block.len() < BLOCK
            && let Some(written) = self.next()?
        {
            let bits = self.random.next_u64();
            block.push(Request {
                at_ns: written.at_ns,
                key: written.key,
                bytes: written.bytes,
                fresh_ns: written.fresh_ns.unwrap_or(self.fresh_ns),
                city: written.city.unwrap_or_else(|| self.crowd.draw(bits)),
            });
        }
        self.requests += block.len() as u64;
        if block.is_empty() {
            let empty = Error::Empty { path: self.path.clone(), left_out: self.left_out() };
            return if self.requests == 0 { Err(empty) } else { Ok(None) };
        }
        // An access log has requests in the order in which they ended.
        block.sort_by_key(|request| request.at_ns);
        for request in &mut block {
            request.at_ns = request.at_ns.max(self.before_ns);
        }
        self.before_ns = block[block.len() - 1].at_ns;
        Ok(Some(block))
    }

    fn expected(&self) -> Option<u64> {
        None
    }

    fn left_out(&self) -> LeftOut {
        match &self.format {
            Format::Csv(_) => LeftOut::default(),
            Format::Log(log) => log.left_out,
        }
    }

    fn notes(&self) -> Vec<String> {
        match &self.format {
            Format::Csv(_) => Vec::new(),
            Format::Log(log) => log.notes.clone(),
        }
    }
}

/// What a zone's first fitting rule makes of a URL: its key, and how long it is fresh if the rule says that; 0 is never stored.
fn by_rule(zone: &Zone, url: &str) -> Option<(u64, Option<u64>)> {
    let url: http::Uri = url.parse().ok()?;
    let url = edge::network::normal(&url)?;
    let headers = http::HeaderMap::new();
    let asked = edge::network::Asked { method: &http::Method::GET, url: &url, headers: &headers };
    let rule = zone.rule_for(asked);
    let usual = cache::KeyRule::default();
    let key = cache::Key::of(&url, &headers, rule.map_or(&usual, |rule| &rule.key));
    let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let fresh = rule.and_then(|rule| if rule.is_bypass { Some(0) } else { rule.edge_ttl.map(nanoseconds) });
    Some((tiers::KeyHash::of(key.as_str().as_bytes()).0, fresh))
}

/// One line without its end. Of one that is too long there are more than [`LONGEST_LINE`] bytes, but not all. `None` at the end of the input.
fn line<'b>(input: &mut impl BufRead, buffer: &'b mut Vec<u8>) -> std::io::Result<Option<&'b [u8]>> {
    buffer.clear();
    let read = input.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', buffer)?;
    let is_whole = read as u64 <= LONGEST_LINE;
    Ok((read > 0).then(|| if is_whole { buffer.trim_ascii_end() } else { buffer }))
}

/// A response that took longer is rarer than a log of which files were joined in the wrong order.
const LONGEST_REQUEST: Duration = Duration::from_secs(3600);

/// Bytes of a file in which a hundred lines are looked for.
const HEAD: u64 = 65_536;

/// A URL of any browser fits in several times.
const LONGEST_LINE: u64 = 65_536;

#[cfg(test)]
mod tests;
