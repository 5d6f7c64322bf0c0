//! vegeta's CSV, which names no columns: start, code, latency, bytes out, bytes in, error, body,
//! attack, number, and in newer versions method, URL and headers (`NewCSVEncoder` in its
//! `lib/results.go`). Times are in nanoseconds; body and headers are in base64.

use super::{
    Hit,
    records::{Field, Records},
};
use crate::{
    Error, Event, Sample, Sink,
    read::{
        Frame, Input, Options,
        json::{self, Loose, Moment, Text},
    },
};

pub(in crate::read) fn read(
    input: Input<'_>,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<Frame, Error> {
    let mut records = Records::new(input.reader, input.path, &[BODY, HEADERS]);
    let (mut sample, mut columns, mut warnings) = (Sample::default(), None, Vec::new());
    while records.next()? {
        let fields = records.fields();
        let number = records.begins();
        let expected =
            *columns.get_or_insert(if fields.len() > WITHOUT_URL { WITH_URL } else { WITHOUT_URL });
        match hit(fields, expected) {
            Ok(hit) => {
                hit.fill(&mut sample, &options.labels);
                sink.event(&Event { number, sample: &sample, exact: &[] })?;
            }
            Err(_) if !records.is_whole() && number > 1 => warnings.push(json::cut_off(number)),
            Err(Wrong::Count) => {
                let surplus = fields.get(expected).or(fields.last());
                let place = surplus.map_or_else(
                    || records.place(number, 1),
                    |field| records.place(field.line, field.column),
                );
                return Err(Error::Columns { place, found: fields.len(), expected });
            }
            Err(Wrong::Field(index, expected)) => {
                let field = &fields[index];
                let short: String = String::from_utf8_lossy(&field.text).chars().take(SHOWN).collect();
                let place = records.place(field.line, field.column);
                return Err(Error::Number { place, found: format!("{short:?}"), expected });
            }
        }
    }
    Ok(Frame { warnings, ..Frame::default() })
}

enum Wrong {
    Count,
    Field(usize, &'static str),
}

fn hit(fields: &[Field], columns: usize) -> Result<Hit, Wrong> {
    if fields.len() != columns {
        return Err(Wrong::Count);
    }
    fn number<T: std::str::FromStr>(
        fields: &[Field],
        index: usize,
        expected: &'static str,
    ) -> Result<T, Wrong> {
        let text = std::str::from_utf8(&fields[index].text).ok();
        text.and_then(|text| text.trim().parse().ok()).ok_or(Wrong::Field(index, expected))
    }
    let text =
        |index: usize| fields.get(index).map(|field| String::from_utf8_lossy(&field.text).into_owned());
    Ok(Hit {
        timestamp: Some(Moment(number(fields, 0, "nanoseconds since 1970")?)),
        code: Some(number(fields, 1, "an HTTP status, or 0")?),
        latency: Some(number(fields, 2, "a number of nanoseconds from 0 to 1.8e19")?),
        bytes_in: Some(number(fields, 4, "a number of bytes")?),
        error: text(5).map(Text),
        attack: Loose(text(7)),
        method: Loose(text(9)),
        url: Loose(text(10)),
    })
}

const BODY: usize = 6;
const HEADERS: usize = 11;

const WITHOUT_URL: usize = 9;
const WITH_URL: usize = 12;

const SHOWN: usize = 40;
