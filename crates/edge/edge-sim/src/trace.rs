//! Recorded requests: a CSV file or an access log.

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

use edge::config::Zone;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use self::{
    csv::Csv,
    log::{AccessLog, Of},
    recognise::{Found, recognise},
};
use crate::{Error, LeftOut, Plan, Request, Source, geography::Population, request::BLOCK};

/// A file of requests, which is read during the simulation.
#[derive(Debug)]
pub struct Trace<R: Read = File> {
    path: PathBuf,
    format: Format<R>,
    crowd: Population,
    random: Xoshiro256PlusPlus,
    fresh_ns: u64,
    /// In the previous block.
    before_ns: u64,
    requests: u64,
}

#[derive(Debug)]
enum Format<R: Read> {
    Csv(Csv<BufReader<R>>),
    Log(AccessLog),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Written {
    at_ns: u64,
    key: u64,
    bytes: u64,
    city: Option<u16>,
    /// From the zone's rule.
    fresh_ns: Option<u64>,
}

impl Trace {
    /// Opens a table or an access log. `format` is the format of the log's lines, if given.
    /// `fresh_ns` is the freshness lifetime of responses without a rule.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or is of neither kind.
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
    /// Reads a table from any input. Messages refer to it as `path`.
    ///
    /// # Errors
    /// Fails if the first line is invalid.
    pub fn csv(input: R, path: &Path, fresh_ns: u64, seed: u64) -> Result<Self, Error> {
        let csv = Csv::new(BufReader::new(input), path)?;
        Ok(Self::of(path, Format::Csv(csv), fresh_ns, seed))
    }

    fn of(path: &Path, format: Format<R>, fresh_ns: u64, seed: u64) -> Self {
        Self {
            path: path.to_owned(),
            format,
            crowd: Population::world(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            fresh_ns,
            before_ns: 0,
            requests: 0,
        }
    }

    /// Places visitors without a known city in this city. By default, they are distributed like the
    /// world's Internet users.
    ///
    /// # Errors
    /// Fails if the gazetteer does not contain the city.
    pub fn from_city(mut self, name: &str) -> Result<Self, Error> {
        self.crowd = Population::city(name)?;
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

    /// An access log has requests in the order of their ends, so a late request is accepted if it
    /// may have taken long.
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

/// Returns the key, and the freshness lifetime if the rule sets one; 0 means never stored.
fn by_rule(zone: &Zone, url: &str) -> Option<(u64, Option<u64>)> {
    let url: http_stack::Uri = url.parse().ok()?;
    let url = edge::config::normal(&url)?;
    let headers = http_stack::HeaderMap::new();
    let method = http_stack::Method::GET;
    let asked = edge::config::RuleInput { method: &method, url: &url, headers: &headers, client: None };
    let rule = zone.rules.rule_for(asked);
    let usual = http_cache::KeyRule::default();
    let rewritten = zone.rules.rewritten_url(asked);
    let key = http_cache::Key::of(
        rewritten.as_ref().unwrap_or(&url),
        &headers,
        rule.map_or(&usual, |rule| &rule.key),
    );
    let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let fresh = rule.and_then(|rule| if rule.is_bypass { Some(0) } else { rule.edge_ttl.map(nanoseconds) });
    Some((tier_routing::KeyHash::of(key.as_str().as_bytes()).0, fresh))
}

/// A line that is too long is truncated to more than [`LONGEST_LINE`] bytes. `None` at the end of
/// the input.
fn line<'b>(input: &mut impl BufRead, buffer: &'b mut Vec<u8>) -> std::io::Result<Option<&'b [u8]>> {
    buffer.clear();
    let read = input.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', buffer)?;
    let is_whole = read as u64 <= LONGEST_LINE;
    Ok((read > 0).then(|| if is_whole { buffer.trim_ascii_end() } else { buffer }))
}

/// Longer responses are less likely than a log whose files were joined in the wrong order.
const LONGEST_REQUEST: Duration = Duration::from_secs(3600);

/// About a hundred lines, from which the format is detected.
const HEAD: u64 = 65_536;

/// Several times the longest URL of browsers.
const LONGEST_LINE: u64 = 65_536;

#[cfg(test)]
mod tests;
