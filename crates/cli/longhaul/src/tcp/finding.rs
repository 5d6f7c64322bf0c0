//! The text output of a finding: its evidence, and the change that would help.

use std::fmt::Write;

use tcp::Finding;

use crate::output::{DIM, paint};

pub(super) fn details<Kind>(text: &mut String, finding: &Finding<Kind>) {
    for evidence in &finding.evidence {
        let _ = writeln!(text, "    seen:   {evidence}");
    }
    let inferred = if finding.is_inferred { paint(" (the cause is inferred)", DIM) } else { String::new() };
    let _ = writeln!(text, "    change: {}{inferred}", finding.advice);
}
