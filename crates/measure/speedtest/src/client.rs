//! The client of a speed test: executes a plan against a server and computes the result.

mod accumulator;
mod config;
mod load;
mod loss;
mod progress;
mod request;
mod session;
mod submit;
#[cfg(test)]
mod tests;
mod to_recording;
mod transfer;
mod upload_tcp_info;

use std::sync::Arc;

use http_stack::{ShutdownSignal, clock};
use tokio::runtime::Builder;

pub use self::{
    accumulator::Measurement,
    config::Config,
    progress::{Live, Progress},
    to_recording::header,
};
use self::{accumulator::Notes, session::TestSession, upload_tcp_info::Sender};
use crate::{
    Error,
    latency::{During, On},
    plan::Step,
    result::Loss,
    size_ramp::SizeRamp,
};

/// Runs a test. Blocks; call it outside of any tokio runtime. When stopped, it returns the partial
/// result.
///
/// # Errors
///
/// The server is unreachable, or fails during the test.
pub fn run(config: &Config, progress: &Progress, stop: &ShutdownSignal) -> Result<Measurement, Error> {
    // Two workers, so that a probe does not wait for a transfer being read.
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|source| Error::System { what: "start a runtime", source })?;
    let measured = runtime.block_on(test(config, progress, stop));
    runtime.shutdown_background();
    measured
}

async fn test(config: &Config, progress: &Progress, stop: &ShutdownSignal) -> Result<Measurement, Error> {
    let started = clock::wall();
    let line = Arc::new(TestSession::begin(config, progress).await?);
    if config.keep {
        submit::is_offered(&line).await?;
    }
    let sender = Sender::new();
    let mut notes = Notes::default();
    let interrupted = {
        let steps = walk(config, &line, progress, &mut notes);
        tokio::select! {
            biased;
            () = stop.asked() => true,
            walked = steps => {
                walked?;
                false
            }
        }
    };
    let limits = line.limits(&sender, notes.transferring).await;
    let mut measured = notes.conclude(config, &line, started, limits, interrupted);
    if config.keep && !interrupted {
        measured.left = Some(submit::leave(&line, &measured.outcome).await);
    }
    Ok(measured)
}

async fn walk(
    config: &Config,
    line: &Arc<TestSession>,
    progress: &Progress,
    notes: &mut Notes,
) -> Result<(), Error> {
    let plan = &config.plan;
    let mut course = SizeRamp::new(plan, line.largest);
    while let Some((step, left)) = course.next_step() {
        progress.step(step, plan.steps.len() - left, plan.steps.len());
        match step {
            Step::WarmUp { bytes } => {
                let warmed = transfer::download(line, bytes, 1, None).await;
                warmed.map_err(|refusal| line.broken_off("download", refusal))?;
            }
            Step::Latency { samples } => {
                for _ in 0..samples {
                    let look = line
                        .look(On::Same)
                        .await
                        .map_err(|failure| line.broken_off("latency test", failure))?;
                    progress.latency(look.ms());
                    notes.looked(During::Idle, On::Same, &look);
                }
            }
            Step::Transfer { direction, bytes, count } => {
                let took =
                    load::set(line, config, progress, notes, &course, (direction, bytes, count)).await?;
                course.finished((direction, bytes), &took, notes.round_trip());
            }
            Step::Loss { messages } => notes.loss = Some(loss(line, messages, progress).await),
        }
    }
    Ok(())
}

async fn loss(line: &TestSession, messages: u32, progress: &Progress) -> Result<Loss, String> {
    let server = line.loss_server().ok_or("the server sends no datagrams back")?;
    let came_back =
        loss::measure(server, line.test, messages, |came_back| progress.datagrams(came_back)).await;
    let came_back = came_back.map_err(|error| format!("no datagram could be sent: {error}"))?;
    Loss::of(messages, came_back).map_err(|why| format!("{why}, UDP port {}", server.port()))
}
