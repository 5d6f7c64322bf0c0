//! The cache against a model of RFC 9111: after random sequences of requests, responses and purges,
//! no client may have received a byte or a field that the model does not permit. The same sequences
//! run in one data centre, in two tiers, and above a disk.
//!
//! `MODEL_STEPS=1000000 cargo test -p edge model` makes the sequences longer in total;
//! `MODEL_SEED=7 cargo test -p edge model` runs one sequence alone, and prints what happens.
//! `MODEL_FIRST=5001` begins with another seed.

mod body;
mod clients;
mod directives;
mod origin;
mod plan;
mod random;
mod rfc9111;
mod rfc9111_cases;
mod run;
mod topology;
mod traffic_theme;

use self::{
    run::{Fault, check},
    topology::{Arm, Kind},
};

#[tokio::test]
async fn one_data_centre_conforms_to_the_model() {
    check(Arm::new(Kind::Memory), Fault::None).await;
}

#[tokio::test]
async fn two_tiers_conform_to_the_model() {
    check(Arm::new(Kind::Tiers), Fault::None).await;
}

#[tokio::test]
async fn disk_tier_conforms_to_the_model() {
    check(Arm::new(Kind::Disk), Fault::None).await;
}

#[tokio::test]
async fn the_model_finds_planted_faults() {
    for fault in [Fault::AnotherResponse, Fault::AnotherCookie, Fault::AnotherBody, Fault::AnotherField] {
        check(Arm::new(Kind::Memory), fault).await;
    }
}
