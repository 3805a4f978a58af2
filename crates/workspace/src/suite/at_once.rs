//! Many at the same time.

use super::desk::Desk;
use super::{Ability, Case, Make};
use isolith_core::files::Room;
use serde_json::json;

pub(super) const CASES: &[Case] = &[
    Case { name: "edits at the same time are all made", needs: &[], run: edits_at_the_same_time_are_all_made },
    Case { name: "a read never sees half a file", needs: &[Ability::Whole], run: a_read_never_sees_half_a_file },
    Case {
        name: "writes at the same time share one room",
        needs: &[Ability::Room],
        run: writes_at_the_same_time_share_one_room,
    },
];

/// Does something in so many threads.
pub(super) fn at_once<T: Send>(times: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..times).map(|number| scope.spawn(move || work(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn edits_at_the_same_time_are_all_made(make: Make<'_>) {
    let desk = Desk::new(make);
    let lines = |to: usize| (0..30).map(|number| format!("{number}:{to};\n")).collect::<String>();
    desk.write("c", &lines(0));
    at_once(30, |number| {
        let edits = json!([{ "old": format!("\n{number}:0;"), "new": format!("\n{number}:1;") }]);
        let first = json!([{ "old": "0:0;\n1:", "new": "0:1;\n1:" }]);
        let said = desk.ask(json!({ "op": "edit", "path": "c", "edits": if number == 0 { first } else { edits } }));
        assert_eq!(said["replaced"], 1, "{said}");
    });
    assert_eq!(desk.text("c"), lines(1));
}

fn a_read_never_sees_half_a_file(make: Make<'_>) {
    let desk = Desk::new(make);
    let texts = ["A".repeat(10_000), "B".repeat(20_000)];
    at_once(9, |number| {
        for round in 0..20 {
            match number % 3 {
                0 => {
                    let said = desk.text("r");
                    let whole = texts.iter().any(|text| said == **text) || said == "! files.not_found";
                    assert!(whole, "{said:.60}");
                }
                1 => assert!(desk.write("r", &texts[round % 2]).is_u64()),
                _ => assert!(desk.ask(json!({ "op": "remove", "path": "r" })).is_boolean()),
            }
        }
    });
}

fn writes_at_the_same_time_share_one_room(make: Make<'_>) {
    let desk = Desk::with(make, Room { bytes: 1050, files: 100, file_bytes: 1000 });
    let written = at_once(30, |number| desk.write(&format!("q{number}"), &"x".repeat(100)));
    assert_eq!(written.iter().filter(|said| **said == 100).count(), 10, "{written:?}");
    assert_eq!(desk.tree.used().unwrap().0.bytes, 1000);
}
