//! The probe over real sockets: against its own origin, and against servers that misbehave.

#[cfg(test)]
mod load;
#[cfg(test)]
mod origin;
#[cfg(test)]
mod responder;
#[cfg(test)]
mod support;
