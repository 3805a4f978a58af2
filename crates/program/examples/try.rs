#![allow(warnings)]
use isolith_program::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let lang = match a.get(2).map(|s| s.as_str()) { Some("js") => Language::JavaScript, Some("ts") => Language::TypeScript, _ => Language::Auto };
    let src = if a[1] == "-" { std::io::read_to_string(std::io::stdin()).unwrap() } else { a[1].replace("\\n", "\n") };
    match prepare(&src, "main.ts", lang) { Ok(p) => println!("{}", p.program().code), Err(e) => println!("{}", e.render()) }
}
