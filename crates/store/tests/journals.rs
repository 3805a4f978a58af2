//! A journal is found as it was written, or what is wrong with it is said.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

use isolith_core::{Recorder as _, RunId};
use isolith_store::{DataFolder, Journals, Lines};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

struct Kept {
    folder: tempfile::TempDir,
    journals: Journals,
    run: RunId,
}

fn kept(records: &[&str]) -> Kept {
    let folder = tempfile::tempdir().unwrap();
    let journals = DataFolder::open(folder.path()).unwrap().journals().unwrap();
    let run = RunId("a-1".into());
    let mut file = journals.create(&run).unwrap();
    records.iter().for_each(|record| file.append(record).unwrap());
    file.sync().unwrap();
    Kept { folder, journals, run }
}

impl Kept {
    fn path(&self) -> PathBuf {
        self.folder.path().join("journals/a-1.jsonl")
    }

    fn read(&self) -> Result<Lines, String> {
        self.journals.read(&self.run).map(Option::unwrap).map_err(|error| error.to_string())
    }

    fn change(&self, change: impl Fn(String) -> String) {
        let text = std::fs::read_to_string(self.path()).unwrap();
        std::fs::write(self.path(), change(text)).unwrap();
    }
}

fn lines(records: &[&str], torn: bool) -> Lines {
    Lines { records: records.iter().map(|record| (*record).to_owned()).collect(), torn }
}

#[test]
fn records_come_back_in_order_and_only_their_owner_can_read_them() {
    let kept = kept(&["[1]", "\"two\"", "{}"]);
    assert_eq!(kept.read(), Ok(lines(&["[1]", "\"two\"", "{}"], false)));
    assert_eq!(std::fs::metadata(kept.path()).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(kept.journals.list().unwrap(), [RunId("a-1".into())]);
    assert!(kept.journals.create(&kept.run).is_err(), "a journal is never begun twice");
    assert!(kept.journals.remove(&kept.run).unwrap());
    assert_eq!(kept.journals.read(&kept.run).unwrap(), None);
}

#[test]
fn a_torn_tail_is_dropped_and_written_over() {
    let whole = ["[1]", "[2]", "[3]"];
    let length = std::fs::read(kept(&whole).path()).unwrap().len();
    let line = length / 3;
    for cut in 1..line {
        let kept = kept(&whole);
        kept.change(|text| text[..length - cut].to_owned());
        assert_eq!(kept.read(), Ok(lines(&whole[..2], true)), "{cut} bytes short");
        let (mut file, found) = kept.journals.append_to(&kept.run).unwrap().unwrap();
        assert_eq!(found, lines(&whole[..2], true));
        file.append("[4]").unwrap();
        file.sync().unwrap();
        assert_eq!(kept.read(), Ok(lines(&["[1]", "[2]", "[4]"], false)));
    }
}

#[test]
fn a_changed_record_is_named() {
    type Change = fn(String) -> String;
    let rows: [(&str, Change, usize); 5] = [
        ("a value", |text| text.replace("[2]", "[7]"), 2),
        ("the last value", |text| text.replace("[3]", "[7]"), 3),
        (
            "a line left out",
            |text| text.lines().filter(|line| !line.ends_with("[2]")).map(|l| format!("{l}\n")).collect(),
            2,
        ),
        ("lines in another order", |text| text.lines().rev().map(|line| format!("{line}\n")).collect(), 1),
        ("a checksum", |text| format!("{}{}", if text.starts_with('0') { '1' } else { '0' }, &text[1..]), 1),
    ];
    for (what, change, record) in rows {
        let kept = kept(&["[1]", "[2]", "[3]"]);
        kept.change(change);
        let said = kept.read().unwrap_err();
        assert!(said.contains(&format!("record {record} does not fit its checksum")), "{what}: {said}");
    }
}

#[test]
fn all_records_are_rewritten_or_none() {
    let kept = kept(&["[1]"]);
    let (mut file, _) = kept.journals.append_to(&kept.run).unwrap().unwrap();
    file.append("[2]").unwrap();
    file.rewrite(&mut |_| None).unwrap();
    file.rewrite(&mut |record| (record == "[1]").then(|| "[0]".into())).unwrap();
    file.append("[3]").unwrap();
    file.sync().unwrap();
    assert_eq!(kept.read(), Ok(lines(&["[0]", "[2]", "[3]"], false)));
    let second = kept.journals.append_to(&kept.run).unwrap_err().to_string();
    assert!(second.contains("another process is writing to it"), "{second}");
}

#[test]
fn a_name_cannot_lead_elsewhere() {
    let kept = kept(&[]);
    for name in ["", "../a", "a/b", ".", "é", "a.b", &"a".repeat(65)] {
        assert!(kept.journals.read(&RunId(name.into())).is_err(), "{name}");
    }
}

#[test]
fn a_journal_has_an_end() {
    let kept = kept(&[]);
    let (mut file, _) = kept.journals.append_to(&kept.run).unwrap().unwrap();
    let record = format!("\"{}\"", "x".repeat(32 << 20));
    let taken = (0..10).take_while(|_| file.append(&record).is_ok()).count();
    assert_eq!(taken, 7);
}
