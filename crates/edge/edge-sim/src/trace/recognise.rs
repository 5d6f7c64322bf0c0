//! Detection of the file format: a table or an access log, and which of the usual log formats.

use recording::{AccessLog, Counts, Event, Options, Sink};

#[derive(Debug)]
pub(super) enum Found {
    Table,
    /// `None` if the format is detected later.
    Log(Option<AccessLog>),
}

pub(super) fn recognise(head: &[u8]) -> Found {
    let first = head.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii();
    let field = first.split(|&byte| byte == b',').next().unwrap_or_default().trim_ascii();
    // A time or a column name. Other files are JSON or compressed, or their lines contain words.
    let is_table = !first.starts_with(b"{")
        && field.iter().all(|byte| byte.is_ascii_graphic())
        && !field.starts_with(b"#");
    if is_table { Found::Table } else { Found::Log(usual_format(head)) }
}

fn usual_format(head: &[u8]) -> Option<AccessLog> {
    let whole = &head[..head.iter().rposition(|&byte| byte == b'\n').map_or(head.len(), |end| end + 1)];
    let formats = USUAL.into_iter().filter_map(|format| AccessLog::of_requests(format).ok());
    formats.into_iter().find(|format| {
        let options = Options { access_log: Some(format.clone()), ..Options::default() };
        recording::decode(whole, "log".as_ref(), &options, &mut Ignored).is_ok()
    })
}

struct Ignored;

impl Sink for Ignored {
    fn event(&mut self, _: &Event<'_>) -> Result<(), recording::Error> {
        Ok(())
    }

    fn counts(&mut self, _: &Counts) -> Result<(), recording::Error> {
        Ok(())
    }
}

/// `combined` of nginx, Apache and varnishncsa; `common`; `vhost_combined` of Debian's Apache;
/// `combined` and a duration. Debian's Apache logs `%O`, which includes the header, but the lines
/// do not show that.
const USUAL: [&str; 5] = [
    "combined",
    "common",
    "%v:%p %h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\"",
    "nginx",
    "apache",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_logs_are_told_apart() {
        for table in ["", "\n", "time,key,size\n", "0,/a,1\n", "0.5,/a b,1\n", "-1,a,1\n", "time"] {
            assert!(matches!(recognise(table.as_bytes()), Found::Table), "{table}");
        }
        let request = "192.0.2.1 - - [14/Mar/2025:09:30:00 +0000] \"GET /a?b=1 HTTP/1.1\" 200 512";
        for (log, is_usual) in [
            ("{\"schema\":\"longhaul.recording/1\"}\n".to_owned(), false),
            ("#Software: Microsoft Internet Information Services 10.0\n".to_owned(), false),
            ("\u{1f}\u{8b}\u{8}".to_owned(), false),
            (format!("{request}\n"), true),
            (format!("{request} \"-\" \"curl/8\"\n"), true),
            (format!("www.example:443 {request} \"-\" \"curl/8\"\n"), true),
            (format!("{request} \"-\" \"curl/8\" 0.250\n"), true),
            (format!("{request} \"-\" \"curl/8\" 250\n{request} \"-\""), true),
            (format!("{request} and more\n"), false),
        ] {
            let found = recognise(log.as_bytes());
            assert!(matches!(&found, Found::Log(format) if format.is_some() == is_usual), "{log}: {found:?}");
        }
    }
}
