//! Checks claims against the measurements.

use claim::{Claim, Margin, Query, Relation, Statement, Subject};
use config_file::{Diagnostic, Document, suggestion};
use toml::Spanned;

use crate::{
    file,
    kind::{self, Measurement},
};

/// The sides must be measured, and the values have the unit of the subject.
pub(super) fn check(
    claim: file::Claim,
    measured: &[Measurement],
    document: &Document,
) -> Result<Claim, Diagnostic> {
    let subject =
        kind::subject(claim.at.get_ref()).map_err(|message| document.mistake(claim.at.span(), message))?;
    let check = Check { subject, measured, document };
    if let Query::FasterThan(side) = check.subject.query() {
        check.side(Spanned::new(claim.at.span(), side.clone()))?;
    }
    let limits = [(Relation::Below, claim.below), (Relation::Above, claim.above), (Relation::Is, claim.is)];
    let mut limits = limits.into_iter().filter_map(|(relation, limit)| Some((relation, limit?)));
    let pair = (claim.faster, claim.fewer, claim.than);
    let says = match (pair, claim.side, limits.next(), limits.next()) {
        ((Some(faster), None, Some(than)), None, None, None) => check.faster(faster, than, claim.by)?,
        ((None, Some(fewer), Some(than)), None, None, None) => check.fewer(fewer, than, claim.by)?,
        ((None, None, None), Some(side), Some((relation, limit)), None) if claim.by.is_none() => {
            check.limit(side, relation, &limit)?
        }
        _ => {
            let message = "a claim has either faster or fewer and than (and perhaps by), or side and one of below, above, is";
            return Err(document.mistake(claim.claim.span(), message));
        }
    };
    Ok(Claim { text: claim.claim.into_inner(), subject: check.subject, says })
}

struct Check<'c> {
    subject: Subject,
    measured: &'c [Measurement],
    document: &'c Document,
}

impl Check<'_> {
    fn faster(
        &self,
        faster: Spanned<String>,
        than: Spanned<String>,
        by: Option<Spanned<String>>,
    ) -> Result<Statement, Diagnostic> {
        if self.subject.unit().faster().is_none() {
            let message = format!(
                "{} does not decide which side is faster; expected fewer, or side and one of below, above, is",
                self.subject
            );
            return Err(self.document.mistake(faster.span(), message));
        }
        let by = by.map_or(Ok(Margin::Difference(0.0)), |by| self.margin(&by))?;
        Ok(Statement::Faster { side: self.side(faster)?, than: self.side(than)?, by })
    }

    fn fewer(
        &self,
        fewer: Spanned<String>,
        than: Spanned<String>,
        by: Option<Spanned<String>>,
    ) -> Result<Statement, Diagnostic> {
        if !self.subject.unit().is_counted() {
            let message = format!("{} is not counted; expected faster instead of fewer", self.subject);
            return Err(self.document.mistake(fewer.span(), message));
        }
        let by = by.map_or(Ok(Margin::Difference(0.0)), |by| self.margin(&by))?;
        Ok(Statement::Fewer { side: self.side(fewer)?, than: self.side(than)?, by })
    }

    /// "50ms", or "3x".
    fn margin(&self, text: &Spanned<String>) -> Result<Margin, Diagnostic> {
        let Some(times) = text.get_ref().strip_suffix('x') else {
            return self.value(text).map(Margin::Difference);
        };
        let times = times.parse().ok().filter(|times: &f64| times.is_finite() && *times >= 1.0);
        let message =
            || format!("\"{}\" is not a multiple; expected one from 1x on, such as 3x", text.get_ref());
        times.map(Margin::Times).ok_or_else(|| self.document.mistake(text.span(), message()))
    }

    fn limit(
        &self,
        side: Spanned<String>,
        relation: Relation,
        limit: &Spanned<String>,
    ) -> Result<Statement, Diagnostic> {
        if relation == Relation::Is && !self.subject.unit().is_counted() {
            let message =
                format!("{} is never exactly equal to a number; expected below or above", self.subject);
            return Err(self.document.mistake(limit.span(), message));
        }
        Ok(Statement::Limit { side: self.side(side)?, relation, limit: self.value(limit)? })
    }

    fn value(&self, text: &Spanned<String>) -> Result<f64, Diagnostic> {
        let parsed = self.subject.unit().parse(text.get_ref());
        parsed.map_err(|message| self.document.mistake(text.span(), message))
    }

    fn side(&self, name: Spanned<String>) -> Result<String, Diagnostic> {
        let source = self.subject.source();
        let of_source = self.measured.iter().filter(|one| one.source() == source);
        let known: Vec<&str> = of_source.map(|one| one.measures().side()).collect();
        if known.contains(&name.get_ref().as_str()) {
            return Ok(name.into_inner());
        }
        let hint = suggestion(name.get_ref(), known);
        let message = format!("no {} measures the side \"{}\"{hint}", source.name(), name.get_ref());
        Err(self.document.mistake(name.span(), message))
    }
}
