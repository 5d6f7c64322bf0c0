//! Reads a recording of any format into a [`Sink`]: decompresses it, recognises it by its content,
//! and streams it.

use std::{
    io::{Cursor, Read},
    path::{Path, PathBuf},
};

use file::Whole;

use crate::{End, Error, Header, Metric, Sink, Unit, standard_streams::shown};

mod ab;
mod access;
mod artillery;
mod atlas;
mod autocannon;
mod bombardier;
mod column_mapping;
mod container_log;
mod csv;
mod curl;
#[cfg(test)]
mod damaged_files;
mod detect;
pub(crate) mod file;
mod format;
mod fortio;
mod fping;
mod gatling;
mod ghz;
mod har;
mod hey;
mod hgrm;
mod hlog;
mod jmeter;
mod json;
mod k6;
mod lighthouse;
mod line_ends;
mod lines;
mod locust;
mod locust_history;
mod locust_json;
mod mtr;
pub(crate) mod native;
mod nighthawk;
mod number;
mod oha;
mod otlp;
mod ping;
mod prometheus;
mod seconds;
mod smokeping;
mod summary;
mod table;
mod time;
mod timing;
pub(crate) mod unpack;
mod unsupported;
mod utf16;
mod vegeta;
mod windows_ping;
mod wrk;

pub use access::{AccessFormat, AccessLog};
pub use column_mapping::ColumnMapping;
pub(crate) use detect::EXPECTED;
pub use format::Format;
pub(crate) use lines::LONGEST_LINE;
pub(crate) use time::rfc3339;
pub use time::unix_seconds;

/// Information for the reader that the file does not contain.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The requested metric, for formats with several columns.
    pub metric: Option<Metric>,
    /// The unit of plain numbers if the file does not specify it.
    pub unit: Option<Unit>,
    /// Meanings of columns of a CSV file.
    pub columns: Vec<ColumnMapping>,
    /// The format of the lines of an access log, required unless they are JSON.
    pub access_log: Option<AccessLog>,
    /// The labels that the sink uses.
    pub labels: Labels,
}

/// Which labels a decoder must fill in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Labels {
    /// None: the fastest.
    #[default]
    None,
    /// The label with this name.
    One(String),
    /// All labels.
    All,
}

impl Labels {
    pub(crate) fn wants(&self, name: &str) -> bool {
        match self {
            Self::None => false,
            Self::One(wanted) => wanted.eq_ignore_ascii_case(name),
            Self::All => true,
        }
    }
}

/// The metadata of a file, without its events.
#[derive(Debug, Clone, PartialEq)]
pub struct Origin {
    /// The format.
    pub format: Format,
    /// The first line of a native recording.
    pub header: Option<Header>,
    /// The last line of a native recording, unless it was cut off.
    pub end: Option<End>,
    /// Notes on the values for the user, as sentences.
    pub warnings: Vec<String>,
}

/// Reads a file into a sink.
///
/// # Errors
/// It cannot be opened or read, is not a recording, or breaks its format; each with the place. Or
/// the sink's own.
pub fn read(path: &Path, options: &Options, sink: &mut dyn Sink) -> Result<Origin, Error> {
    decode(Whole::open(path)?, shown(path), options, sink)
}

/// [`read`] from any reader, without a buffer. `path` stands for it in messages.
///
/// # Errors
/// As [`read`].
pub fn decode(
    input: impl Read,
    path: &Path,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<Origin, Error> {
    let (head, rest) = unpack::unpack(input, path)?;
    let (mut head, mut rest) = utf16::decode(head, rest, path)?;
    if line_ends::is_lone(&head) {
        line_ends::replace(&mut head);
        rest = Box::new(line_ends::LineFeeds(rest));
    }
    let (head, rest) = container_log::decode(head, rest, path)?;
    let format = match detect::detect(&head, path, options)? {
        // A mapping may give the columns of a known format other meanings.
        Format::OhaCsv | Format::K6Csv | Format::JmeterCsv | Format::Hey | Format::Ab
            if !options.columns.is_empty() =>
        {
            Format::Csv
        }
        format => format,
    };
    let input = Input { reader: Box::new(Cursor::new(head).chain(rest)), path: path.to_owned() };
    let read = match format {
        Format::Native => native::read,
        Format::Csv => csv::read,
        Format::Har => har::read,
        Format::Hlog => hlog::read,
        Format::Hgrm => hgrm::read,
        Format::Curl => curl::read,
        Format::OhaCsv => oha::read_csv,
        Format::OhaJson => oha::read_json,
        Format::K6 => k6::read,
        Format::K6Csv => k6::read_csv,
        Format::JmeterCsv => jmeter::read_csv,
        Format::JmeterXml => jmeter::read_xml,
        Format::Vegeta => vegeta::read,
        Format::VegetaCsv => vegeta::read_csv,
        Format::Timing => timing::read,
        Format::Hey => hey::read,
        Format::Ab => ab::read,
        Format::Wrk => wrk::read,
        Format::Autocannon => autocannon::read,
        Format::Bombardier => bombardier::read,
        Format::Locust => locust::read,
        Format::LocustHistory => locust_history::read,
        Format::LocustJson => locust_json::read,
        Format::Gatling => gatling::read,
        Format::Prometheus => prometheus::read,
        Format::Otlp => otlp::read,
        Format::Ping => ping::read,
        Format::WindowsPing => windows_ping::read,
        Format::Smokeping => smokeping::read,
        Format::Fping => fping::read,
        Format::Atlas => atlas::read,
        Format::Mtr => mtr::read,
        Format::K6Summary => k6::read_summary,
        Format::Fortio => fortio::read,
        Format::Ghz => ghz::read,
        Format::Nighthawk => nighthawk::read,
        Format::Artillery => artillery::read,
        Format::Lighthouse => lighthouse::read,
        Format::Access(log) => {
            return Ok(origin(format, options, access::read(log, input, options, sink)?));
        }
    };
    Ok(origin(format, options, read(input, options, sink)?))
}

fn origin(format: Format, options: &Options, mut frame: Frame) -> Origin {
    let takes_columns = match format {
        Format::Csv | Format::Prometheus => true,
        Format::Access(log) => log.has_names(),
        _ => false,
    };
    if !options.columns.is_empty() && !takes_columns {
        let name = format.name();
        frame.warnings.push(format!(
            "Only columns of CSV files and named variables of access logs can be given a meaning; the format of this file is {name}."
        ));
    }
    Origin { format, header: frame.header, end: frame.end, warnings: frame.warnings }
}

struct Input<'i> {
    reader: Box<dyn Read + 'i>,
    path: PathBuf,
}

#[derive(Debug, Default)]
struct Frame {
    header: Option<Header>,
    end: Option<End>,
    warnings: Vec<String>,
}

/// Times in ns above this count from 1970, because no measurement runs for three years.
pub const EPOCH_NS: u64 = 100_000_000_000_000_000;
