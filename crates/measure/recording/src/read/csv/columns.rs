//! Finds the relevant columns of a CSV file by the names in its first row.

use std::{collections::BTreeSet, io::Read};

use super::{
    A_CLOSING_QUOTE, UNCLOSED, delimiter,
    fields::{fields, unclosed_quote},
    units::{named_unit, unit_of, with_units},
};
use crate::{
    Error, Metric, Unit,
    read::{
        EXPECTED, Options,
        column_mapping::{ColumnMapping, Field},
        lines::Lines,
        number,
        time::date,
    },
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    pub delimiter: u8,
    /// Each row must have as many.
    pub roles: Vec<Role>,
    /// The metric of the column with [`Role::Value`], or else the one that the others are parts of.
    pub metric: Metric,
    pub unit: Unit,
    /// False for a lone column of numbers, whose first row is data.
    pub has_header: bool,
    pub has_units: Vec<bool>,
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Role {
    Value,
    Metric(Metric, Unit),
    Started(Unit),
    Moment { header: String, is_label: bool },
    Date,
    Intended(Unit),
    Error,
    Status,
    Page,
    // Whether the connection had carried a request before.
    Reused,
    Bytes,
    Label(String),
    None,
}

impl Columns {
    /// `given` is the delimiter, if the file specifies it, and `next` the second row.
    pub(super) fn find<R: Read>(
        first: &[u8],
        next: &[u8],
        given: Option<u8>,
        lines: &Lines<R>,
        options: &Options,
    ) -> Result<Self, Error> {
        let delimiter = given.unwrap_or_else(|| delimiter::of_header(first));
        if let Some(at) = unclosed_quote(first, delimiter) {
            let (found, expected) = (UNCLOSED.to_owned(), A_CLOSING_QUOTE);
            return Err(Error::Number { place: lines.place(lines.number(), at + 1), found, expected });
        }
        let mut options = options.clone();
        let mut names: Vec<String> = fields(first, delimiter)
            .map(|(_, name)| String::from_utf8_lossy(name).trim().to_ascii_lowercase())
            .collect();
        if names.iter().all(|name| looks_like_data(name)) {
            return Self::without_header(&names, lines, &options);
        }
        let has_units = with_units(&mut names, &mut options, fields(next, delimiter), delimiter);
        let options = &options;
        check_mappings(&names, lines, options)?;
        let headers =
            fields(first, delimiter).map(|(_, name)| String::from_utf8_lossy(name).trim().to_owned());
        let mut roles: Vec<Role> = names
            .iter()
            .zip(headers)
            .map(|(name, header)| role(name, header, options).unwrap_or(Role::None))
            .collect();
        keep_one_start(&mut roles);
        if let Some(twice) = twice(&roles) {
            return Err(undecided(&names, lines, format!("one column {twice}, not several")));
        }
        let made = match options.metric.or_else(|| only_mapped_metric(options)) {
            None if is_ttfb(&roles) => Some(Metric::Ttfb),
            wanted => wanted.filter(|&metric| is_made_of(&roles, metric)),
        };
        let (metric, unit, warning) = match made {
            Some(metric) => (metric, Unit::Ms, None),
            None => {
                let (value, metric, unit, warning) = choose(&names, &has_units, lines, options)?;
                roles[value] = Role::Value;
                (metric, unit, warning)
            }
        };
        let warnings = warning.into_iter().collect();
        Ok(Self { delimiter, roles, metric, unit, has_header: true, has_units, warnings })
    }

    fn without_header<R: Read>(names: &[String], lines: &Lines<R>, options: &Options) -> Result<Self, Error> {
        if let Some(mapping) = options.columns.first() {
            let expected = format!("a header row, in which a column has the name {}", shown(&mapping.header));
            let found = "a first row of numbers".to_owned();
            return Err(Error::Metric { place: lines.place(lines.number(), 1), found, expected });
        }
        if names.len() > 1 {
            let found = format!("found {} columns of numbers and no header row", names.len());
            return Err(Error::NotARecording {
                place: lines.place(lines.number(), 1),
                found,
                expected: EXPECTED,
            });
        }
        let metric = options.metric.unwrap_or(Metric::Latency);
        let warning = options
            .unit
            .is_none()
            .then(|| format!("There is no header row; the numbers are read as {metric} in milliseconds."));
        Ok(Self {
            delimiter: b',',
            roles: vec![Role::Value],
            metric,
            unit: options.unit.unwrap_or(Unit::Ms),
            has_header: false,
            has_units: vec![false],
            warnings: warning.into_iter().collect(),
        })
    }
}

/// `None` if it could only be a label that is not requested.
fn role(name: &str, header: String, options: &Options) -> Option<Role> {
    if let Some(mapping) = options.columns.iter().find(|mapping| mapping.matches(name)) {
        return mapped_role(mapping, header, options);
    }
    match timed(name, options) {
        Some((STARTED, unit)) => return Some(Role::Started(unit)),
        Some((INTENDED, unit)) => return Some(Role::Intended(unit)),
        Some((stem, unit)) => {
            if let Some(metric) = Metric::from_name(stem) {
                return Some(Role::Metric(metric, unit));
            }
        }
        None => {}
    }
    let means = |field: Field| field.is_called(name) || field == Field::Started && MOMENTS.contains(&name);
    let label = |header| options.labels.wants(name).then_some(Role::Label(header));
    if options.columns.iter().any(|mapping| means(mapping.field)) {
        return label(header);
    }
    match name {
        _ if MOMENTS.contains(&name) => Some(Role::Moment { header, is_label: options.labels.wants(name) }),
        "error" => Some(Role::Error),
        "status" => Some(Role::Status),
        "page" => Some(Role::Page),
        "reused" if options.labels.wants(name) => Some(Role::Reused),
        "body_bytes" if options.labels.wants(name) => Some(Role::Bytes),
        _ => label(header),
    }
}

fn mapped_role(mapping: &ColumnMapping, header: String, options: &Options) -> Option<Role> {
    let unit = unit_of(mapping, options);
    Some(match mapping.field {
        Field::Metric(metric) => Role::Metric(metric, unit?),
        Field::Started => match unit {
            Some(unit) => Role::Started(unit),
            None => Role::Moment { header, is_label: false },
        },
        Field::Intended => Role::Intended(unit?),
        Field::Page => Role::Page,
        Field::Status => Role::Status,
        Field::Error => Role::Error,
    })
}

fn twice(roles: &[Role]) -> Option<String> {
    let mut seen = BTreeSet::new();
    roles.iter().find_map(|role| {
        let purpose = match role {
            Role::Metric(metric, _) if Metric::PHASES.contains(metric) => format!("of {metric}"),
            Role::Started(_) => "of started".to_owned(),
            Role::Intended(_) => "of intended".to_owned(),
            Role::Error => "of error".to_owned(),
            Role::Status => "of status".to_owned(),
            Role::Page => "of page".to_owned(),
            Role::Label(name) if !name.is_empty() => {
                format!("with the name {}", shown(&name.to_ascii_lowercase()))
            }
            _ => return None,
        };
        seen.replace(purpose)
    })
}

/// Each mapping must be for one column and one field, and its unit must be known.
fn check_mappings<R: Read>(names: &[String], lines: &Lines<R>, options: &Options) -> Result<(), Error> {
    for (index, mapping) in options.columns.iter().enumerate() {
        let header = shown(&mapping.header);
        let before = &options.columns[..index];
        if before.iter().any(|other| other.header == mapping.header) {
            return Err(undecided(names, lines, format!("one --column for {header}, not several")));
        }
        if before.iter().any(|other| other.field == mapping.field) {
            let field = mapping.field.name();
            return Err(undecided(names, lines, format!("one --column for the field {field}, not several")));
        }
        match names.iter().filter(|name| mapping.matches(name)).count() {
            1 => {}
            0 => return Err(undecided(names, lines, format!("one with the name {header}"))),
            _ => {
                return Err(undecided(
                    names,
                    lines,
                    format!("one column with the name {header}, not several"),
                ));
            }
        }
        let has_unit = matches!(mapping.field, Field::Metric(_) | Field::Intended);
        if has_unit && unit_of(mapping, options).is_none() {
            return Err(undecided(
                names,
                lines,
                format!("the unit of {header}, as in {}:ms", mapping.header),
            ));
        }
    }
    Ok(())
}

fn keep_one_start(roles: &mut [Role]) {
    let has_unit = roles.iter().any(|role| matches!(role, Role::Started(_)));
    let moments = roles.iter_mut().filter(|role| matches!(role, Role::Moment { .. }));
    moments.skip(usize::from(!has_unit)).for_each(Role::give_up_time);
}

impl Role {
    /// Makes a label of a column of times, if the sink looks at that.
    pub(super) fn give_up_time(&mut self) {
        if let Self::Moment { header, is_label } = self {
            *self = if *is_label { Self::Label(std::mem::take(header)) } else { Self::None };
        }
    }

    /// Dates, or numbers since 1970 whose magnitude determines their unit.
    pub(super) fn of_time(text: &str) -> Option<Self> {
        if date(text).is_some() {
            return Some(Self::Date);
        }
        match number::parse(text.as_bytes())? {
            1e17.. => Some(Self::Started(Unit::Ns)),
            1e14.. => Some(Self::Started(Unit::Us)),
            1e11.. => Some(Self::Started(Unit::Ms)),
            1e8.. => Some(Self::Started(Unit::S)),
            _ => None,
        }
    }
}

/// Whether TTFB is the default metric: its phases exist, and neither a latency nor a TTFB column. A
/// wait alone is a wait.
fn is_ttfb(roles: &[Role]) -> bool {
    let metrics = || {
        roles.iter().filter_map(|role| if let Role::Metric(metric, _) = role { Some(*metric) } else { None })
    };
    metrics().count() > 1
        && !metrics().any(|metric| metric == Metric::Latency)
        && is_made_of(roles, Metric::Ttfb)
}

fn is_made_of(roles: &[Role], metric: Metric) -> bool {
    let has = |wanted: Metric| {
        roles.iter().any(|role| matches!(role, Role::Metric(metric, _) if *metric == wanted))
    };
    match metric {
        _ if has(metric) => false,
        Metric::Ttfb | Metric::TtfbWithoutDns => has(Metric::Wait),
        Metric::Response => {
            let started = roles.iter().any(|role| matches!(role, Role::Started(_)));
            let intended = roles.iter().any(|role| matches!(role, Role::Intended(_)));
            started && intended && (has(Metric::Total) || has(Metric::Latency))
        }
        _ => false,
    }
}

/// The user may give the unit if the name has none.
fn timed<'n>(name: &'n str, options: &Options) -> Option<(&'n str, Unit)> {
    if let Some(mapping) = options.columns.iter().find(|mapping| mapping.matches(name)) {
        let Field::Metric(metric) = mapping.field else { return None };
        return Some((metric.name(), unit_of(mapping, options)?));
    }
    let given = || {
        let is_time = Metric::from_name(name).is_some() || [STARTED, INTENDED].contains(&name);
        options.unit.filter(|_| is_time).map(|unit| (name, unit))
    };
    // A mapping replaces columns that have its meaning by their names.
    named_unit(name)
        .or_else(given)
        .filter(|(stem, _)| !options.columns.iter().any(|mapping| mapping.field.is_called(stem)))
}

/// Numbers, and wrong values in place of numbers, are not names.
fn looks_like_data(name: &str) -> bool {
    let unsigned = name.trim_start_matches(['-', '+']);
    number::parse(unsigned.as_bytes()).is_some() || name.is_empty() || unsigned.parse::<f64>().is_ok()
}

type Choice = (usize, Metric, Unit, Option<String>);

fn choose<R: Read>(
    names: &[String],
    has_units: &[bool],
    lines: &Lines<R>,
    options: &Options,
) -> Result<Choice, Error> {
    let wanted = options.metric.or_else(|| only_mapped_metric(options));
    let measured: Vec<(usize, &str, Unit)> = names
        .iter()
        .enumerate()
        .filter_map(|(index, name)| timed(name, options).map(|(stem, unit)| (index, stem, unit)))
        .filter(|(_, stem, _)| ![STARTED, INTENDED].contains(stem))
        .collect();
    let metrics: Vec<(usize, Metric, Unit)> = measured
        .iter()
        .filter_map(|&(index, stem, unit)| Metric::from_name(stem).map(|metric| (index, metric, unit)))
        .collect();
    let of = |metric| metrics.iter().find(|(_, found, _)| *found == metric);
    let chosen = match wanted {
        Some(metric) => of(metric),
        None => of(Metric::Latency).or_else(|| of(Metric::Ttfb)).or_else(|| of(Metric::Total)).or(
            match metrics.as_slice() {
                // A phase whose header does not end with a unit may be one number of many.
                [only]
                    if !Metric::PHASES.contains(&only.1)
                        || (Unit::of(&names[only.0]).is_some() && !has_units[only.0]) =>
                {
                    Some(only)
                }
                _ => None,
            },
        ),
    };
    if let Some(&(index, metric, unit)) = chosen {
        if metrics.iter().filter(|(_, found, _)| *found == metric).count() > 1 {
            return Err(undecided(names, lines, format!("one column of {metric}")));
        }
        return Ok((index, metric, unit, None));
    }
    if let ([(index, _, unit)], [], None | Some(Metric::Latency)) =
        (measured.as_slice(), metrics.as_slice(), wanted)
    {
        let warning = format!("The column \"{}\" is read as the latency.", names[*index]);
        return Ok((*index, Metric::Latency, *unit, Some(warning)));
    }
    let example = wanted.unwrap_or(if metrics.len() < 2 { Metric::Latency } else { metrics[0].1 });
    let rule =
        if metrics.is_empty() || wanted.is_some() { "a column" } else { "a choice of metric, or one column" };
    Err(undecided(
        names,
        lines,
        format!(
            "{rule} such as {example}_ms (or _us, _s, _ns; or the unit given with --unit), or --column {example}=HEADER:ms"
        ),
    ))
}

fn only_mapped_metric(options: &Options) -> Option<Metric> {
    let mut metrics = options.columns.iter().filter_map(|mapping| match mapping.field {
        Field::Metric(metric) => Some(metric),
        _ => None,
    });
    metrics.next().filter(|_| metrics.next().is_none())
}

fn shown(header: &str) -> String {
    super::quoted(header.as_bytes())
}

fn undecided<R: Read>(names: &[String], lines: &Lines<R>, expected: String) -> Error {
    let noun = if names.len() == 1 { "the column" } else { "the columns" };
    let mut listed: Vec<String> =
        names.iter().take(SHOWN).map(|name| super::quoted(name.as_bytes())).collect();
    if names.len() > SHOWN {
        listed.push(format!("and {} more", names.len() - SHOWN));
    }
    let found = format!("{noun} {}", listed.join(", "));
    // Names are no numbers.
    let data = names.iter().filter(|name| !name.is_empty() && looks_like_data(name)).count();
    let is_data = names.len() > 1 && data * MOST_NAMES_A_NUMBER >= names.len();
    let found = if is_data { format!("a first row that is data and no header row: {found}") } else { found };
    Error::Metric { place: lines.place(lines.number(), 1), found, expected }
}

const STARTED: &str = "started";
const INTENDED: &str = "intended";

/// Without a unit in their names.
const MOMENTS: [&str; 9] =
    ["started", "timestamp", "@timestamp", "time", "datetime", "date", "ts", "start_time", "started_at"];

const MOST_NAMES_A_NUMBER: usize = 4;

const SHOWN: usize = 20;
