//! Checks that the built web page exists before it is compiled in, and prints how to build it.

fn main() {
    for part in PAGE {
        println!("cargo::rerun-if-changed={part}");
        if !std::path::Path::new(part).exists() {
            println!("cargo::error={part} has not been built: run `make web` (it needs node and npm)");
        }
    }
}

const PAGE: [&str; 6] = [
    "../../../web/dist/speed.html",
    "../../../web/dist/speed.js",
    "../../../web/dist/speed.css",
    "../../../web/dist/operator.html",
    "../../../web/dist/operator.js",
    "../../../web/dist/operator.css",
];
