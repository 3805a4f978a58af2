//! In and out as archives.

use super::desk::{Desk, path};
use super::{Ability, Case, Make};
use crate::Scope;
use crate::archive::{Format, Progress, export, import};
use isolith_core::FilesError;
use isolith_core::files::Room;
use serde_json::json;
use std::io::Cursor;
use tar::{EntryType, Header};

const LINKS: &[Ability] = &[Ability::Links];
const ALL: [Format; 3] = [Format::Tar, Format::TarGz, Format::Zip];

pub(super) const CASES: &[Case] = &[
    Case { name: "what goes out comes in again", needs: LINKS, run: what_goes_out_comes_in_again },
    Case {
        name: "archives that lead out are refused",
        needs: &[Ability::Whole],
        run: archives_that_lead_out_are_refused,
    },
    Case { name: "archives keep to the room", needs: &[Ability::Room, Ability::Whole], run: archives_keep_to_the_room },
    Case { name: "archives keep to what is open", needs: LINKS, run: archives_keep_to_what_is_open },
];

fn out(desk: &Desk, from: &str, format: Format) -> Result<Vec<u8>, FilesError> {
    let mut bytes = Vec::new();
    export(&*desk.tree, &desk.scope, &path(from), format, &mut bytes, &mut |_| {})?;
    Ok(bytes)
}

fn into(desk: &Desk, to: &str, format: Format, bytes: &[u8]) -> Result<Progress, FilesError> {
    let mut last = Progress::default();
    let done = import(&*desk.tree, &desk.scope, &path(to), format, &mut Cursor::new(bytes), &mut |far| last = *far)?;
    assert_eq!(done, last, "the last that is told is all of it");
    Ok(done)
}

fn what_goes_out_comes_in_again(make: Make<'_>) {
    let desk = Desk::new(make);
    let long = format!("{}/{}", "n".repeat(150), "m".repeat(200));
    for (path, text) in [("d/a.txt", "hello"), ("d/empty", ""), ("d/caf\u{e9}/x", "x"), (&*format!("d/{long}"), "long")]
    {
        desk.write(path, text);
    }
    desk.ask_with(json!({ "op": "write", "path": "d/large" }), &vec![7; 3 << 20]);
    desk.ask(json!({ "op": "make_folder", "path": "d/nothing" }));
    desk.link("d/link", "a.txt");
    desk.link("d/nothing/up", "../a.txt");
    desk.ask(json!({ "op": "set", "path": "d/a.txt", "mode": 0o755, "modified": 1_600_000_000_000u64 }));
    desk.ask(json!({ "op": "set", "path": "d/nothing", "mode": 0o700, "modified": 1_500_000_000_000u64 }));
    let below = |from: &str| {
        let found = desk.ask(json!({ "op": "glob", "path": from, "pattern": "**" }))["paths"].clone();
        let paths: Vec<String> = serde_json::from_value(found).unwrap();
        paths.iter().map(|path| path[from.len()..].to_owned()).collect::<Vec<_>>()
    };
    for (format, to) in ALL.into_iter().zip(["tar", "gz", "zip"]) {
        let bytes = out(&desk, "d", format).unwrap();
        assert_eq!(bytes, out(&desk, "d", format).unwrap(), "the same tree is the same bytes");
        let done = into(&desk, &format!("new/{to}"), format, &bytes).unwrap();
        assert_eq!(done, Progress { entries: 10, bytes: (3 << 20) + 10 });
        let to = format!("new/{to}");
        assert_eq!(below(&to), below("d"));
        for name in ["a.txt", "empty", "caf\u{e9}/x", &long, "link", "nothing/up"] {
            assert_eq!(desk.text(&format!("{to}/{name}")), desk.text(&format!("d/{name}")), "{format:?} {name}");
        }
        for name in ["a.txt", "nothing"] {
            let stat = |from: &str| desk.ask(json!({ "op": "stat", "path": format!("{from}/{name}") }));
            assert_eq!(stat(&to), stat("d"), "{format:?} {name}");
        }
        assert_eq!(into(&desk, &to, format, &bytes).unwrap_err().code(), "files.exists", "no link is replaced");
    }
}

/// One entry of a tape: what it is, its name, and its bytes or where it leads.
type Entry<'a> = (EntryType, &'a [u8], &'a [u8]);

fn tape(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut tape = tar::Builder::new(Vec::new());
    for (kind, name, content) in entries {
        let mut header = Header::new_ustar();
        header.set_entry_type(*kind);
        header.as_mut_bytes()[..name.len()].copy_from_slice(name);
        header.set_mode(0o644);
        let is_link = matches!(kind, EntryType::Symlink | EntryType::Link);
        if is_link {
            header.as_mut_bytes()[157..157 + content.len()].copy_from_slice(content);
        }
        header.set_size(if is_link { 0 } else { content.len() as u64 });
        header.set_cksum();
        tape.append(&header, if is_link { &b""[..] } else { content }).unwrap();
    }
    tape.into_inner().unwrap()
}

fn archives_that_lead_out_are_refused(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.write("before", "x");
    let file = EntryType::Regular;
    let fine = (file, &b"fine"[..], &b"x"[..]);
    let rows: &[(&[Entry<'_>], &str)] = &[
        (&[fine, (file, b"../out", b"x")], "files.denied"),
        (&[fine, (file, b"a/../../out", b"x")], "files.denied"),
        (&[fine, (file, b"a/../b", b"x")], "files.denied"),
        (&[fine, (file, b"/etc/passwd", b"x")], "files.denied"),
        (&[fine, (file, b"a\\b", b"x")], "files.invalid"),
        (&[fine, (file, b"a\nb", b"x")], "files.invalid"),
        (&[fine, (file, b"n\xff", b"x")], "files.invalid"),
        (&[fine, (file, b"fine", b"y")], "files.invalid"),
        (&[fine, (file, b"./fine", b"y")], "files.invalid"),
        (&[fine, (file, b"fine/x", b"y")], "files.not_a_folder"),
        (&[fine, (EntryType::Directory, b"fine/", b"")], "files.exists"),
        (&[fine, (EntryType::Link, b"hard", b"fine")], "files.denied"),
        (&[fine, (EntryType::Char, b"device", b"")], "files.denied"),
        (&[fine, (EntryType::Fifo, b"pipe", b"")], "files.denied"),
        (&[fine, (EntryType::Symlink, b"l", b"/etc/passwd")], "files.denied"),
        (&[fine, (EntryType::Symlink, b"l", b"../x")], "files.denied"),
        (&[fine, (EntryType::Symlink, b"l", b"\xff")], "files.invalid"),
        (&[fine, (EntryType::Symlink, b"l", b"")], "files.invalid"),
        (&[(EntryType::Symlink, b"l", b"."), (file, b"l/x", b"x")], "files.denied"),
        (&[fine, (EntryType::XHeader, b"h", b"16 size=9999999\n"), (file, b"x", b"x")], "files.invalid"),
        (&[fine, (EntryType::XHeader, b"h", b"99 path=x\n"), (file, b"x", b"x")], "files.invalid"),
        (&[fine, (EntryType::XHeader, b"h", b"15 path=../../x\n"), (file, b"x", b"x")], "files.invalid"),
        (&[fine, (EntryType::XHeader, b"h", b"16 path=../../x\n"), (file, b"x", b"x")], "files.denied"),
        (&[fine, (EntryType::GNULongName, b"h", b"../x\0"), (file, b"x", b"x")], "files.denied"),
        (&[fine, (EntryType::GNULongName, b"h", &[b'x'; 70_000]), (file, b"x", b"x")], "files.limit"),
    ];
    for (entries, code) in rows {
        let said = into(&desk, ".", Format::Tar, &tape(entries));
        let shown = entries.last().map(|(kind, name, _)| (kind, String::from_utf8_lossy(name)));
        assert_eq!(said.map_err(|error| error.code()), Err(*code), "{shown:?}");
        assert_eq!(desk.all(), ["before"], "{shown:?}");
    }
    let whole = tape(&[fine, (file, b"other", &[b'x'; 2000])]);
    for (format, bytes) in [
        (Format::Tar, &whole[..2000]),
        (Format::TarGz, b"not a tape"),
        (Format::Zip, b"PK\x05\x06 no"),
        (Format::Zip, b""),
    ] {
        assert_eq!(into(&desk, ".", format, bytes).map_err(|error| error.code()), Err("files.invalid"), "{format:?}");
        assert_eq!(desk.all(), ["before"]);
    }
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("../out", zip::write::SimpleFileOptions::default()).unwrap();
    let zip = zip.finish().unwrap().into_inner();
    assert_eq!(into(&desk, ".", Format::Zip, &zip).map_err(|error| error.code()), Err("files.denied"));
    assert_eq!(desk.all(), ["before"]);
}

fn archives_keep_to_the_room(make: Make<'_>) {
    let large = Desk::with(make, Room { bytes: 1 << 30, files: 1000, file_bytes: 64 << 20 });
    large.ask_with(json!({ "op": "write", "path": "zeros" }), &vec![0; 20 << 20]);
    for format in [Format::TarGz, Format::Zip] {
        let bomb = out(&large, ".", format).unwrap();
        assert!(bomb.len() < 100_000);
        assert_eq!(into(&large, "x", format, &bomb).map_err(|error| error.code()), Err("files.limit"), "{format:?}");
        let small = Desk::with(make, Room { bytes: 100, files: 10, file_bytes: 1 << 20 });
        let said = into(&small, ".", format, &bomb).map_err(|error| error.code());
        assert_eq!(said, Err("files.too_large"), "{format:?}");
        assert_eq!(small.all(), [""; 0]);
    }
    let many = Desk::new(make);
    for number in 0..20 {
        many.write(&format!("f{number}"), "x");
    }
    for format in ALL {
        let bytes = out(&many, ".", format).unwrap();
        let small = Desk::with(make, Room { bytes: 100, files: 10, file_bytes: 100 });
        assert_eq!(into(&small, ".", format, &bytes).map_err(|error| error.code()), Err("files.quota"), "{format:?}");
        assert_eq!(small.all(), [""; 0], "nothing is left of what was begun");
        let narrow = Desk::with(make, Room { bytes: 19, files: 100, file_bytes: 100 });
        assert_eq!(into(&narrow, ".", format, &bytes).map_err(|error| error.code()), Err("files.quota"), "{format:?}");
    }
}

fn archives_keep_to_what_is_open(make: Make<'_>) {
    let whole = Desk::new(make);
    for path in ["docs/a", "docs/shut/secret", "private"] {
        whole.write(path, "x");
    }
    whole.link("docs/alias", "a");
    let desk = whole.only("docs", &["docs/shut"]);
    for format in ALL {
        assert_eq!(out(&desk, ".", format).map_err(|error| error.code()), Err("files.denied"));
        let bytes = out(&desk, "docs", format).unwrap();
        let empty = Desk::new(make);
        into(&empty, ".", format, &bytes).unwrap();
        assert_eq!(empty.all(), ["a", "alias"], "{format:?}");
        assert_eq!(into(&desk, "private", format, &bytes).map_err(|error| error.code()), Err("files.denied"));
        assert_eq!(into(&desk, "docs/shut", format, &bytes).map_err(|error| error.code()), Err("files.denied"));
        let secret = out(&Desk { scope: Scope::whole(), ..whole.clone() }, "docs", format).unwrap();
        assert_eq!(into(&desk, "docs", format, &secret).map_err(|error| error.code()), Err("files.exists"), "a link");
    }
    whole.link("docs/far", "../private");
    assert_eq!(
        out(&whole, "docs", Format::Tar).map_err(|error| error.code()),
        Err("files.denied"),
        "it would lead out there"
    );
}
