//! The report that a page of the web platform tests sends at its end.

use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(super) struct Report {
    pub(super) page: String,
    pub(super) tests: Vec<Test>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Test {
    pub(super) name: String,
    pub(super) is_passed: bool,
    pub(super) message: Option<String>,
}
