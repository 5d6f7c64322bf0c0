//! The page: the built web code with a report inside, in one file.

use crate::model::Report;

/// A report as a page that needs no network and no other file.
///
/// # Errors
/// A number in the report is not finite, which JSON cannot say.
pub fn html(report: &Report) -> serde_json::Result<String> {
    // In a script element only "</script" and "<!--" could end or change it, and both begin with "<".
    let data = serde_json::to_string(report)?.replace('<', "\\u003c");
    Ok(PAGE.replacen(MARKER, &data, 1))
}

const PAGE: &str = include_str!("../../../web/dist/report.html");

/// Where the page's source leaves room for the data.
const MARKER: &str = "/*LONGHAUL-REPORT-DATA*/";

#[cfg(test)]
mod tests {
    use experience::{Distribution, Page};
    use recording::Metric;

    use super::*;
    use crate::{Question, SideInput, compare, of_comparison};

    fn report(label: &str) -> Report {
        let sides = [SideInput::bare(label, Distribution::new(vec![1.0, 2.0, 3.0]).unwrap())];
        let question = Question::new(Metric::Latency, Page::new(1, 1.0).unwrap());
        of_comparison("A title", &compare(&question, &sides).unwrap(), Vec::new()).unwrap()
    }

    #[test]
    fn the_page_has_room_for_the_data_once() {
        assert_eq!(PAGE.matches(MARKER).count(), 1);
    }

    #[test]
    fn a_label_cannot_leave_the_data() {
        let page = html(&report("</script><script>alert(1)</script>")).unwrap();
        assert!(!page.contains("</script><script>alert(1)"));
        assert!(page.contains("\\u003c/script>\\u003cscript>alert(1)"));
    }
}
