//! Rule `shadows`: no module has the name of a crate that it uses, so that no import needs `::` at
//! its start.

use super::{ratchet::Finding, source::TextFile};

/// Imports that begin with `::`.
pub(super) fn findings(sources: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources {
        for (line, name) in source.product().map(imports).unwrap_or_default() {
            let text = format!("a module has the name of the crate `{name}`; rename the module");
            findings.push(Finding::new("shadows", source, line, text));
        }
    }
    findings
}

/// The lines of imports with `::` at their start, and the names of the crates.
fn imports(code: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (start, text) in code.match_indices("use ::") {
        let before = code[..start].rsplit('\n').next().unwrap_or_default().trim();
        let name = code[start + text.len()..].split([':', ';', ' ']).next();
        if before.is_empty() || before.starts_with("pub") {
            found.extend(name.map(|name| (code[..start].matches('\n').count() + 1, name)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn import_with_leading_colons_is_found() {
        let code = "    pub use ::tiers::Tier;\n// use ::disk\nuse tiers::Tier;\n";
        assert_eq!(imports(code), [(1, "tiers")]);
    }
}
