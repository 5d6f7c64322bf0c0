//! Captures read back by a reader that knows nothing of the writer.
