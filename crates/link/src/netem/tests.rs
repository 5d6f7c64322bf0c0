//! Netem lines and what they say.

use super::*;
