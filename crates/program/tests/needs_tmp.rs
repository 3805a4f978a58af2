mod needs_support;
#[test]
fn print() {
    let text = std::fs::read_to_string("/tmp/sources.txt").unwrap();
    for part in text.split("\n## ").flat_map(|s| s.split_once('\n').unwrap().1.split("\n---\n")) {
        println!("=== {}\n{}", part.trim_end(), needs_support::show(part.trim_end()));
    }
}
