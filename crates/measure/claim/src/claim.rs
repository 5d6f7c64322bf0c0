//! Claims: statements about a result. Pure.

use crate::subject::Subject;

/// A statement about a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// The statement in words, as the reports print it.
    pub text: String,
    /// The number that the claim is about.
    pub subject: Subject,
    /// The condition on that number.
    pub says: Statement,
}

/// The condition of a claim. Values are in the unit of its subject.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// One side is faster than another: its time is smaller, or its rate larger.
    Faster {
        /// The faster side.
        side: String,
        /// The slower side.
        than: String,
        /// By more than this.
        by: Margin,
    },
    /// One side has a lower count than another.
    Fewer {
        /// The side with the lower count.
        side: String,
        /// The side with the higher count.
        than: String,
        /// By more than this.
        by: Margin,
    },
    /// A side keeps a limit.
    Limit {
        /// The side.
        side: String,
        /// Below, above or equal.
        relation: Relation,
        /// The limit.
        limit: f64,
    },
}

/// The required difference between two sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Margin {
    /// An absolute difference.
    Difference(f64),
    /// A factor.
    Times(f64),
}

/// The relation of a value to a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// Smaller.
    Below,
    /// Larger.
    Above,
    /// Equal.
    Is,
}

impl Claim {
    /// Whether the claim involves this side.
    pub fn is_about(&self, name: &str) -> bool {
        match &self.says {
            Statement::Faster { side, than, .. } | Statement::Fewer { side, than, .. } => {
                side == name || than == name
            }
            Statement::Limit { side, .. } => side == name,
        }
    }
}
