//! What cannot be explained, and why.
