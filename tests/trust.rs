//! What may a witness from somebody else bring about, and what does one say to others?

mod common;

use common::{Compiler, LIMIT, Output, compile, empty, in_parallel, output, raddle};
use raddle_protocol::witness::{Bytes, Witness, decode, encode};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const FINDING: i32 = 66;
const BAD_WITNESS: i32 = 65;

/// A directory with a program, `./flaky`, and a witness of it, `w.raddle`.
fn tree(name: &str) -> PathBuf {
    let dir = empty(name);
    let program = compile(Compiler::Gcc, "examples/flaky.c", &[]);
    std::fs::copy(program, dir.join("flaky")).expect("the program can be copied");
    let mut run = Command::new(raddle());
    run.current_dir(&dir)
        .args(["run", "-q", "-o", "w.raddle", "--keep-env", "MODE"])
        .env("DATABASE_URL", "postgres://me:secret@host/db")
        .env("GITHUB_TOKEN", "secret")
        .env("LD_LIBRARY_PATH", "/nonexistent")
        .env("LC_MESSAGES", "C")
        .env("MODE", "fast");
    let found = output(run.args(["--", "./flaky", "--flag"]), LIMIT);
    assert_eq!(found.status, FINDING, "{}", found.all());
    dir
}

fn read(dir: &Path) -> Witness {
    let content = std::fs::read(dir.join("w.raddle")).expect("there is a witness");
    decode(&content).expect("it is one")
}

fn replay(from: &Path, witness: &Path, options: &[&str]) -> Output {
    let mut command = Command::new(raddle());
    command
        .current_dir(from)
        .args(["replay", "-q"])
        .args(options);
    output(command.arg(witness), LIMIT)
}

fn bytes(text: &str) -> Bytes {
    Bytes(text.as_bytes().to_vec())
}

#[test]
fn a_witness_does_not_choose_what_is_started() {
    let dir = tree("trust-programs");
    let below = dir.join("deeper");
    std::fs::create_dir_all(&below).expect("the directory can be made");
    let started = dir.join("started");
    let shell = |witness: &mut Witness, program: &str| {
        witness.command.program = bytes(program);
        witness.command.args = vec![bytes("-c"), bytes(&format!("touch {}", started.display()))];
        witness.modules[0].path = bytes("/bin/sh");
    };
    type Change<'a> = &'a dyn Fn(&mut Witness);
    // What is wrong with the witness, where the user is, options, exit code, what is said.
    let root = Path::new("/");
    let table: [(Change, &Path, &[&str], i32, &str); 12] = [
        (&|_| {}, &dir, &[], FINDING, "failed again"),
        (
            &|_| {},
            dir.parent().expect("a parent"),
            &[],
            FINDING,
            "failed again",
        ),
        (&|_| {}, &below, &[], BAD_WITNESS, "not below"),
        (&|_| {}, root, &[], BAD_WITNESS, "not below"),
        (&|_| {}, &below, &["--trust"], FINDING, "failed again"),
        (
            &|_| {},
            &below,
            &["--program", "../flaky"],
            FINDING,
            "failed again",
        ),
        (&|w| shell(w, "/bin/sh"), &dir, &[], BAD_WITNESS, "--trust"),
        (&|w| shell(w, "sh"), &dir, &[], BAD_WITNESS, "PATH"),
        (
            &|w| shell(w, "../../../../../../../bin/sh"),
            root,
            &[],
            BAD_WITNESS,
            "--trust",
        ),
        (
            &|w| w.modules[0].identity = "build-id:00".into(),
            &dir,
            &[],
            BAD_WITNESS,
            "not the build",
        ),
        (
            &|w| {
                w.command.program = bytes(&dir.join("flaky").to_string_lossy());
                w.command.cwd = bytes("/usr");
            },
            &dir,
            &[],
            BAD_WITNESS,
            "it starts in /usr",
        ),
        (
            &|w| w.command.cwd = bytes("/nonexistent"),
            &dir,
            &[],
            BAD_WITNESS,
            "its directory /nonexistent is not there",
        ),
    ];
    for (n, (change, from, options, status, says)) in table.into_iter().enumerate() {
        let mut witness = read(&dir);
        change(&mut witness);
        let file = dir.join(format!("changed-{n}.raddle"));
        std::fs::write(&file, encode(&witness)).expect("the file can be written");
        let said = replay(from, &file, options);
        assert_eq!(said.status, status, "row {n}: {}", said.all());
        assert!(said.stderr.contains(says), "row {n}: {}", said.all());
        assert!(!started.exists(), "row {n}: the shell was started");
    }
}

#[test]
fn loaders_take_nothing_from_a_witness() {
    let dir = tree("trust-loaders");
    let mark = dir.join("loaded");
    let source = dir.join("evil.c");
    let text = format!(
        "#include <fcntl.h>\n__attribute__((constructor)) static void in(void)\n\
         {{ open(\"{0}\", O_CREAT | O_WRONLY, 0600); }}\nunsigned la_version(unsigned v)\n\
         {{ open(\"{0}\", O_CREAT | O_WRONLY, 0600); return v; }}\n",
        mark.display()
    );
    std::fs::write(&source, text).expect("the source can be written");
    let library = dir.join("evil.so");
    let mut gcc = Command::new("gcc");
    gcc.args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(&source);
    let built = output(&mut gcc, LIMIT);
    assert_eq!(built.status, 0, "{}", built.all());
    for name in [
        "LD_PRELOAD",
        "LD_AUDIT",
        "LD_LIBRARY_PATH",
        "GLIBC_TUNABLES",
        "GCONV_PATH",
        "PATH",
    ] {
        let mut witness = read(&dir);
        let line = format!("{name}={}", library.display());
        witness.command.env.push(bytes(&line));
        let file = dir.join("changed.raddle");
        std::fs::write(&file, encode(&witness)).expect("the file can be written");
        for options in [&[][..], &["--trust"]] {
            let said = replay(&dir, &file, options);
            assert_eq!(said.status, FINDING, "{name}: {}", said.all());
            assert!(said.stderr.contains(name), "{name}: {}", said.all());
            assert!(!mark.exists(), "{name} was obeyed");
        }
    }
}

#[test]
fn a_witness_holds_no_secrets_and_shows_what_it_holds() {
    let dir = tree("trust-environment");
    let witness = read(&dir);
    let names: Vec<String> = witness.command.env.iter().map(Bytes::to_text).collect();
    let has = |line: &str| names.iter().any(|name| name == line);
    assert!(has("LC_MESSAGES=C") && has("MODE=fast"), "{names:?}");
    for name in [
        "DATABASE_URL",
        "GITHUB_TOKEN",
        "LD_LIBRARY_PATH",
        "PATH",
        "HOME",
    ] {
        assert!(!names.iter().any(|line| line.starts_with(name)), "{name}");
    }
    let mut show = Command::new(raddle());
    let shown = output(show.current_dir(&dir).args(["show", "w.raddle"]), LIMIT);
    for part in [
        "./flaky --flag",
        "MODE=fast",
        "LC_MESSAGES=C",
        &dir.to_string_lossy(),
    ] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.all());
    }
    // Only those that do no harm are taken unasked.
    let said = replay(&dir, &dir.join("w.raddle"), &[]);
    assert!(said.stderr.contains("MODE"), "{}", said.all());
    let mut refused = Command::new(raddle());
    refused.args(["run", "--keep-env", "LD_PRELOAD", "--", "true"]);
    let refused = output(&mut refused, LIMIT);
    assert_eq!(refused.status, 64, "{}", refused.all());
}

#[test]
fn files_are_for_their_owner() {
    let dir = tree("trust-modes");
    let mut run = Command::new(raddle());
    run.current_dir(&dir)
        .args(["run", "-q", "-n", "20", "--keep-going"]);
    run.args([
        "--corpus", "corpus", "--json", "a.json", "--junit", "a.xml", "--sarif", "a.sarif",
    ]);
    let found = output(run.args(["--", "./flaky"]), LIMIT);
    assert_eq!(found.status, FINDING, "{}", found.all());
    let entries = |dir: &Path| {
        let entries = std::fs::read_dir(dir).expect("it can be read");
        entries.map(|entry| entry.expect("an entry").path())
    };
    let made = entries(&dir).chain(entries(&dir.join("corpus")));
    let made: Vec<PathBuf> = made
        .filter(|path| path.is_file() && !path.ends_with("flaky"))
        .collect();
    assert!(made.len() >= 6, "{made:?}");
    for path in made {
        let mode = path.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
    }
}

/// The places of all texts in a value, those of one list counted as one.
fn texts(value: &Value, at: &str, found: &mut BTreeMap<String, String>) {
    match value {
        Value::String(_) => {
            let kind: Vec<&str> = at
                .split('/')
                .filter(|key| key.parse::<usize>().is_err())
                .collect();
            found.insert(kind.join("/"), at.to_string());
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(n, item)| texts(item, &format!("{at}/{n}"), found));
        }
        Value::Object(fields) => {
            let fields = fields.iter();
            fields.for_each(|(key, field)| texts(field, &format!("{at}/{key}"), found));
        }
        _ => {}
    }
}

/// Whichever text of a witness it stands in: a terminal does not obey it, and it makes no line that
/// looks like one of ours.
#[test]
fn no_text_of_a_witness_is_more_than_seen() {
    let dir = tree("trust-texts");
    let whole = serde_json::to_value(read(&dir)).expect("plain data");
    let mut places = BTreeMap::new();
    texts(&whole, "", &mut places);
    assert!(places.len() > 15, "{places:?}");
    let places: Vec<&String> = places.values().collect();
    in_parallel(&places, |place| {
        let mut changed = whole.clone();
        let text = changed.pointer_mut(place).expect("it is there");
        let before = text.as_str().unwrap_or_default();
        *text = format!("{before}\nraddle: evil\u{1b}[31m\u{1b}[8m").into();
        let Ok(witness) = serde_json::from_value::<Witness>(changed) else {
            return Ok(());
        };
        let file = dir.join(format!("{}.raddle", place.replace('/', "-")));
        std::fs::write(&file, encode(&witness)).expect("the file can be written");
        for words in [
            &["show"][..],
            &["replay"],
            &["replay", "--trust", "--program", "./flaky"],
        ] {
            let mut command = Command::new(raddle());
            command.current_dir(&dir).args(words).arg(&file);
            let said = output(&mut command, LIMIT);
            let lines = said.all();
            let evil =
                lines.contains('\u{1b}') || lines.lines().any(|l| l.starts_with("raddle: evil"));
            // 101: it panicked.
            if evil || said.status == 101 {
                return Err(format!("{place}: {words:?}: {}\n{lines}", said.status));
            }
        }
        Ok(())
    });
}
