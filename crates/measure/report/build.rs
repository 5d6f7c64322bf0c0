//! Checks that the pages exist before they are compiled in, and prints how to build them if they do
//! not.

fn main() {
    for page in PAGES {
        println!("cargo::rerun-if-changed={page}");
        if !std::path::Path::new(page).exists() {
            println!("cargo::error={page} has not been built: run `make web` (it needs node and npm)");
        }
    }
}

const PAGES: [&str; 2] = ["../../../web/dist/report.html", "../../../web/dist/figures.html"];
