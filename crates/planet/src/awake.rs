//! Keeps processors from going to sleep while something is measured.
//!
//! A sleeping processor needs 20 to 130 us to wake up, and on a virtual machine milliseconds when somebody else has taken
//! its place. That would be added to every packet and every measurement. The price is power, so it is for the length of a
//! run and not of a planet.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use crate::sys::priority;

/// Processors stay awake while this exists.
#[derive(Debug)]
pub struct Awake {
    keeper: Keeper,
}

#[derive(Debug)]
enum Keeper {
    /// The kernel's own way, for root: the request holds while the file is open (Documentation/power/pm_qos_interface).
    Kernel(#[expect(dead_code, reason = "it is held, not used")] File),
    /// A thread for each processor that runs only when nothing else would, and gives way at once.
    Threads { stop: Arc<AtomicBool>, threads: Vec<JoinHandle<()>> },
}

impl Awake {
    /// From here on. Where nothing can be done about it, nothing is.
    pub fn hold() -> Self {
        let request = || {
            let mut file = OpenOptions::new().write(true).open("/dev/cpu_dma_latency")?;
            // The longest tolerable wake-up in us, as a native 32-bit number.
            file.write_all(&0_i32.to_ne_bytes())?;
            std::io::Result::Ok(file)
        };
        let keeper = request().map_or_else(|_| Self::threads(), Keeper::Kernel);
        Self { keeper }
    }

    fn threads() -> Keeper {
        let stop = Arc::new(AtomicBool::new(false));
        let spin = |stop: Arc<AtomicBool>| {
            move || {
                if priority::run_only_when_idle() {
                    while !stop.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                }
            }
        };
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = (0..count).map(|_| std::thread::spawn(spin(Arc::clone(&stop)))).collect();
        Keeper::Threads { stop, threads }
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        if let Keeper::Threads { stop, threads } = &mut self.keeper {
            stop.store(true, Ordering::Relaxed);
            for thread in threads.drain(..) {
                // A spinning loop has nothing to panic about.
                let _ = thread.join();
            }
        }
    }
}
