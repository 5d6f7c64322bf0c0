//! Claims: statements about a result. Pure.

use crate::subject::Subject;

/// A statement about a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// The statement as people read it.
    pub text: String,
    /// What it speaks of.
    pub subject: Subject,
    /// What it says of that.
    pub says: Statement,
}

/// A statement of a claim. Values are in the unit of its subject.
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
    /// One side has less of what is counted than another.
    Fewer {
        /// The side with less.
        side: String,
        /// The side with more.
        than: String,
        /// By more than this.
        by: Margin,
    },
    /// A side keeps a limit.
    Limit {
        /// The side.
        side: String,
        /// On which side of the limit.
        relation: Relation,
        /// The limit.
        limit: f64,
    },
}

/// By how much one side must be faster than another, or have less of something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Margin {
    /// This much less time or more rate; so many fewer.
    Difference(f64),
    /// So many times as fast; one so-many-th.
    Times(f64),
}

/// How a value stands to a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// It is smaller.
    Below,
    /// It is larger.
    Above,
    /// It is the same.
    Is,
}

impl Claim {
    /// Whether it speaks of this side.
    pub fn is_about(&self, name: &str) -> bool {
        match &self.says {
            Statement::Faster { side, than, .. } | Statement::Fewer { side, than, .. } => {
                side == name || than == name
            }
            Statement::Limit { side, .. } => side == name,
        }
    }
}
