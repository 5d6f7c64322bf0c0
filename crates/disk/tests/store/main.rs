//! A store as its caller has it: what it keeps, and what is left of it when its process, its disk or its files fail.

#[cfg(test)]
mod bodies;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod failing;
#[cfg(test)]
mod keeping;
#[cfg(test)]
mod killed;
#[cfg(test)]
mod model;
#[cfg(test)]
mod short;
#[cfg(test)]
mod written;
