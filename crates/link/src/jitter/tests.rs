//! Shapes against their moments and quantiles.

use super::*;
