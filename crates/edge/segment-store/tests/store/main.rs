//! Tests of a store through its interface, with failures of the process, the disk and the files.

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
