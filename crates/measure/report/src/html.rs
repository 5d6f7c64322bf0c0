//! The pages: the built web code with a report or figures inside, in one file each.

use serde::Serialize;

use crate::model::{Report, figures::Figures};

/// A report as a page that needs neither network nor other files.
///
/// # Errors
/// A number in the report is not finite, which JSON cannot represent.
pub fn html(report: &Report) -> serde_json::Result<String> {
    filled(REPORT_PAGE, report)
}

/// Figures as a page that needs neither network nor other files.
///
/// # Errors
/// The figures cannot be written as JSON.
pub fn figures_html(figures: &Figures) -> serde_json::Result<String> {
    filled(FIGURES_PAGE, figures)
}

fn filled(page: &str, document: &impl Serialize) -> serde_json::Result<String> {
    // In a script element only "</script" and "<!--" can end or change it, and both begin with "<".
    let data = serde_json::to_string(document)?.replace('<', "\\u003c");
    Ok(page.replacen(MARKER, &data, 1))
}

const REPORT_PAGE: &str = include_str!("../../../../web/dist/report.html");
const FIGURES_PAGE: &str = include_str!("../../../../web/dist/figures.html");

const MARKER: &str = "/*LONGHAUL-REPORT-DATA*/";

#[cfg(test)]
mod tests {
    use recording::Metric;
    use statistics::{Distribution, Page};

    use super::*;
    use crate::{Question, SideInput, compare, of_comparison};

    fn report(label: &str) -> Report {
        let sides = [SideInput::bare(label, Distribution::new(vec![1.0, 2.0, 3.0]).unwrap())];
        let question = Question::new(Metric::Latency, Page::new(1, 1.0).unwrap());
        of_comparison("A title", &compare(&question, &sides).unwrap(), &[]).unwrap()
    }

    #[test]
    fn a_page_has_room_for_the_data_once() {
        for page in [REPORT_PAGE, FIGURES_PAGE] {
            assert_eq!(page.matches(MARKER).count(), 1);
        }
    }

    #[test]
    fn a_label_cannot_leave_the_data() {
        let label = "</script><script>alert(1)</script>";
        for page in [html(&report(label)), figures_html(&Figures::new(label, ""))] {
            let page = page.unwrap();
            assert!(!page.contains("</script><script>alert(1)"));
            assert!(page.contains("\\u003c/script>\\u003cscript>alert(1)"));
        }
    }
}
