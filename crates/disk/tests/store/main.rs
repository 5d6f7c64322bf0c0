//! A store as its caller has it: what it keeps, and what is left of it when its process, its disk or its files fail.

mod bodies;
mod damage;
mod failing;
mod keeping;
mod killed;
mod model;
