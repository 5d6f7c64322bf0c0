//! Keeps processors out of sleep states during a measurement.
//!
//! A sleeping processor needs 20 to 130 us to wake up, and milliseconds on a virtual machine.

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

/// Keeps processors awake until it is dropped.
#[derive(Debug)]
pub struct Awake {
    keeper: Keeper,
}

#[derive(Debug)]
enum Keeper {
    /// For root: the request holds while the file is open (Documentation/power/pm_qos_interface).
    Kernel(#[expect(dead_code, reason = "it is held, not used")] File),
    /// One for each processor with the lowest priority.
    Threads { stop: Arc<AtomicBool>, threads: Vec<JoinHandle<()>> },
}

impl Awake {
    /// Starts immediately. Does nothing where neither method is available.
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
                let _ = thread.join();
            }
        }
    }
}
