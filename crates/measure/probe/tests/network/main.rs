//! The probe over real sockets: against its own origin, and against servers that misbehave.

#[cfg(test)]
mod bad;
#[cfg(test)]
mod bad_certificates;
#[cfg(test)]
mod bad_frames;
#[cfg(test)]
mod load;
#[cfg(test)]
mod origin;
#[cfg(test)]
mod responder;
#[cfg(test)]
mod support;
#[cfg(test)]
mod unix_socket;
