//! What came of a bulk transfer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use traffic::transfer::Summary;

/// A transfer that is over: where it went, and what its sender says of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transferred {
    /// The side that it belongs to.
    pub side: String,
    /// The host that sent.
    pub from: String,
    /// The host that received.
    pub to: String,
    /// The sender's summary.
    #[serde(flatten)]
    pub summary: Summary,
}

impl Transferred {
    /// The longest time in which nothing arrived, in milliseconds; why nobody knows, if so.
    pub(crate) fn stall_ms(&self) -> Result<f64, String> {
        let stall = self.received(self.summary.stall)?;
        Ok(stall.longest_s * 1e3)
    }

    /// From the beginning of sending to the receipt, in milliseconds.
    pub(crate) fn took_ms(&self) -> Result<f64, String> {
        Ok(self.received(self.summary.took_s)? * 1e3)
    }

    /// The most memory that the sender's kernel held for it.
    pub(crate) fn memory_bytes(&self) -> Result<f64, String> {
        let memory = self.summary.memory;
        Ok(as_f64(memory.ok_or_else(|| self.because("its kernel tells nothing of its memory"))?.most_bytes))
    }

    /// Bits received a second.
    pub(crate) fn goodput_bps(&self) -> Result<f64, String> {
        Ok(self.received(self.summary.goodput_mbps)? * 1e6)
    }

    /// Bytes that did not arrive as they were sent.
    pub(crate) fn lost(&self) -> Result<u64, String> {
        Ok(self.received(self.summary.bytes_lost)? + self.received(self.summary.bytes_bad)?)
    }

    fn received<T>(&self, figure: Option<T>) -> Result<T, String> {
        let why = || self.summary.unfinished.as_deref().unwrap_or("too little arrived to tell");
        figure.ok_or_else(|| self.because(why()))
    }

    fn because(&self, why: &str) -> String {
        format!("the transfer of {} from {} to {}: {why}", self.side, self.from, self.to)
    }
}

#[expect(clippy::cast_precision_loss, reason = "2^53 bytes are 9 PB")]
fn as_f64(bytes: u64) -> f64 {
    bytes as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `longhaul transfer send --json` printed.
    fn printed(summary: &str) -> Transferred {
        let summary = serde_json::from_str(summary).unwrap();
        Transferred { side: "x".to_owned(), from: "phone".to_owned(), to: "server".to_owned(), summary }
    }

    #[test]
    fn lost_and_damaged_bytes_count_alike() {
        let transferred = printed(
            r#"{"schema":"longhaul.transfer/1","server":"10.0.0.2:5201","protocol":"mptcp","fell_back":false,
                "bytes_sent":1000,"bytes_received":990,"bytes_lost":10,"bytes_bad":3,"duration_s":2.0,
                "goodput_mbps":8.5,"stall":{"longest_s":0.5,"at_s":1.0},"intervals":[{"t_s":0.0,"bytes":990}],
                "subflows":2,"retransmits":4,
                "took_s":2.25,"memory":{"most_bytes":5000,"mean_bytes":1200.5,"looks":20}}"#,
        );
        assert_eq!(transferred.lost(), Ok(13));
        assert_eq!(transferred.stall_ms(), Ok(500.0));
        assert_eq!(transferred.goodput_bps(), Ok(8.5e6));
        assert_eq!((transferred.took_ms(), transferred.memory_bytes()), (Ok(2250.0), Ok(5000.0)));
        // The summary's fields stand beside the others.
        let json = serde_json::to_value(&transferred).unwrap();
        assert_eq!((&json["side"], &json["subflows"]), (&"x".into(), &2.into()));
        assert_eq!(serde_json::from_value::<Transferred>(json).unwrap(), transferred);
    }

    #[test]
    fn without_a_receipt_nobody_knows_what_was_lost() {
        let unfinished = printed(
            r#"{"schema":"longhaul.transfer/1","server":"10.0.0.2:5201","protocol":"tcp","fell_back":false,
                "unfinished":"the path carried nothing for 60 s","bytes_sent":1000,"intervals":[]}"#,
        );
        let why = "the transfer of x from phone to server: the path carried nothing for 60 s".to_owned();
        assert_eq!(unfinished.lost(), Err(why.clone()));
        assert_eq!((unfinished.stall_ms(), unfinished.took_ms()), (Err(why.clone()), Err(why)));
    }
}
