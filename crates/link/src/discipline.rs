//! Which discipline a queue has, and how a person writes it.

/// Who goes next, and who is dropped before the queue is full.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Discipline {
    /// First in, first out; what finds the queue full is dropped.
    #[default]
    DropTail,
}
