//! Figures as sentences have them.

/// A rate from bits a second.
pub(super) fn rate(bits: f64) -> String {
    match bits {
        _ if bits >= 1e9 => format!("{:.2} Gbit/s", bits / 1e9),
        _ if bits >= 1e6 => format!("{:.1} Mbit/s", bits / 1e6),
        _ => format!("{:.1} Kbit/s", bits / 1e3),
    }
}

/// An amount of data.
pub(super) fn bytes(bytes: impl Into<f64>) -> String {
    match bytes.into() {
        bytes if bytes >= 1e9 => format!("{:.1} GB", bytes / 1e9),
        bytes if bytes >= 1e6 => format!("{:.1} MB", bytes / 1e6),
        bytes if bytes >= 1e4 => format!("{:.1} KB", bytes / 1e3),
        bytes => format!("{bytes:.0} bytes"),
    }
}

/// A time from seconds.
pub(super) fn time(seconds: f64) -> String {
    match seconds {
        _ if seconds >= 10.0 => format!("{seconds:.0} s"),
        _ if seconds >= 0.9995 => format!("{seconds:.1} s"),
        _ if seconds >= 0.01 => format!("{:.0} ms", seconds * 1e3),
        _ => format!("{:.2} ms", seconds * 1e3),
    }
}

/// So many of something, of which the plural has an s.
pub(super) fn count(number: u32, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// A share.
pub(super) fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent > 0.0 && percent < 1.0 => format!("{percent:.2} %"),
        percent if percent < 10.0 => format!("{percent:.1} %"),
        percent => format!("{percent:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_a_unit() {
        assert_eq!([4.8e6, 1.25e9, 900.0].map(rate), ["4.8 Mbit/s", "1.25 Gbit/s", "0.9 Kbit/s"]);
        assert_eq!(
            [65_536, 1448, 2_760_000, 4_000_000_000_u32].map(bytes),
            ["65.5 KB", "1448 bytes", "2.8 MB", "4.0 GB"]
        );
        assert_eq!([0.11, 0.0003, 0.9996, 60.0].map(time), ["110 ms", "0.30 ms", "1.0 s", "60 s"]);
        assert_eq!([0.0, 0.0045, 0.05, 0.931].map(percent), ["0.0 %", "0.45 %", "5.0 %", "93 %"]);
    }
}
