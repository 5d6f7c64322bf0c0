//! Makes sure that the page exists before it is compiled in, and says how to make it if it does not.

fn main() {
    println!("cargo::rerun-if-changed={PAGE}");
    if !std::path::Path::new(PAGE).exists() {
        println!("cargo::error=the report page has not been built: run `make web` (it needs node and npm)");
    }
}

const PAGE: &str = "../../web/dist/report.html";
