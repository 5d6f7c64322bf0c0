//! A store over real sockets.
