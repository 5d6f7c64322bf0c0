//! Every limit from observations that were made up.
