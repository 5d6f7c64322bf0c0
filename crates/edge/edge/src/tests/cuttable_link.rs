//! A proxy in front of a data centre's link address, which can cut the link.

use std::{
    net::{SocketAddr, TcpListener as Listener},
    sync::{Arc, Mutex},
};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};

pub(super) struct CuttableLink {
    pub(super) address: SocketAddr,
    target: Arc<Mutex<SocketAddr>>,
    is_open: watch::Sender<bool>,
}

impl CuttableLink {
    pub(super) fn before(target: SocketAddr) -> Self {
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let (address, target) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(target)));
        let (is_open, _) = watch::channel(true);
        let (there, opened) = (Arc::clone(&target), is_open.clone());
        tokio::spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((mut here, _)) = listener.accept().await {
                let (there, mut opened) = (*there.lock().unwrap(), opened.subscribe());
                tokio::spawn(async move {
                    if !*opened.borrow() {
                        return;
                    }
                    let Ok(mut there) = TcpStream::connect(there).await else { return };
                    tokio::select! {
                        _ = copy_bidirectional(&mut here, &mut there) => {}
                        _ = opened.wait_for(|is_open| !is_open) => {}
                    }
                });
            }
        });
        Self { address, target, is_open }
    }

    pub(super) fn set(&self, is_open: bool) {
        self.is_open.send_replace(is_open);
    }

    pub(super) fn lead_to(&self, target: SocketAddr) {
        *self.target.lock().unwrap() = target;
    }
}
