//! Rules of a zone: conditions on requests and responses, and the actions of the rules that match.
//!
//! No file here reads a socket, a file or a clock. Start at `rule_set.rs`: it decides about one
//! request. `rule.rs` lists the parts of a rule, and each action has one file.

pub(crate) mod address_list;
pub(crate) mod answer;
pub(crate) mod conditions;
pub(crate) mod cors;
pub(crate) mod header_changes;
pub(crate) mod match_list;
mod match_result;
pub(crate) mod path_pattern;
mod pattern;
pub(crate) mod response_changes;
pub(crate) mod rule;
pub(crate) mod rule_set;
pub(crate) mod site;
pub(crate) mod target;
pub(crate) mod template;

pub use self::{
    conditions::{RuleInput, normal},
    pattern::Pattern,
    rule::Rule,
    rule_set::RuleSet,
};
