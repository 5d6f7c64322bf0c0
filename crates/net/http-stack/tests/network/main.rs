//! A server and a client over local sockets, and each of them against misbehaving peers.

#[cfg(test)]
mod bad_clients;
#[cfg(test)]
mod bad_clients_http3;
#[cfg(test)]
mod bad_http3;
#[cfg(test)]
mod certificates;
#[cfg(test)]
mod delivery;
#[cfg(test)]
mod early;
#[cfg(test)]
mod early_data;
#[cfg(test)]
mod failing;
#[cfg(test)]
mod http1;
#[cfg(test)]
mod http1_server;
#[cfg(test)]
mod http3;
#[cfg(test)]
mod interim;
#[cfg(test)]
mod members;
#[cfg(test)]
mod names;
#[cfg(test)]
mod nested;
#[cfg(test)]
mod no_body;
#[cfg(test)]
mod per_address;
#[cfg(test)]
mod pool;
#[cfg(test)]
mod request_heads;
#[cfg(test)]
mod seeds;
#[cfg(test)]
mod stop;
#[cfg(test)]
mod streaming;
#[cfg(test)]
mod support;
#[cfg(test)]
mod trust;
#[cfg(test)]
mod waited;
#[cfg(test)]
mod wire;
