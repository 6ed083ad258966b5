//! Good and bad programs.

use super::*;
use std::os::unix::fs::PermissionsExt;

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("raddle-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path.canonicalize().expect("it is there"))
    }

    fn file(&self, name: &str, content: &[u8], mode: u32) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).expect("a file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("its mode");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn patched(elf: &[u8], changes: &[(usize, &[u8])]) -> Vec<u8> {
    let mut elf = elf.to_vec();
    for (at, bytes) in changes {
        elf[*at..at + bytes.len()].copy_from_slice(bytes);
    }
    elf
}

#[test]
fn a_good_program_is_described() {
    let program = inspect(Path::new("sh")).expect("a shell");
    assert!(program.path.is_absolute());
    assert_eq!(program.interpreter, "/lib64/ld-linux-x86-64.so.2");
    assert!(program.identity.starts_with("build-id:") && program.identity.len() > 20);
    assert_eq!(program.needed, ["libc.so.6"]);
    assert!(!program.instrumented && !program.debug_info);
    let this = inspect(&std::env::current_exe().expect("a path")).expect("a program");
    assert!(this.debug_info);
    assert_eq!(
        inspect(&program.path).expect("again").identity,
        program.identity
    );
}

#[test]
fn a_program_without_build_id_is_known_by_its_content() {
    let folder = Folder::new("content");
    let shell = std::fs::read(inspect(Path::new("sh")).expect("a shell").path).expect("its bytes");
    let name = b".note.gnu.build-id";
    let at = shell
        .windows(name.len())
        .position(|w| w == name)
        .expect("the section's name");
    let first = folder.file("first", &patched(&shell, &[(at, b".nothing")]), 0o755);
    let second = folder.file("second", &patched(&shell, &[(at, b".another")]), 0o755);
    let identity = |path: &Path| inspect(path).expect("a program").identity;
    assert!(identity(&first).starts_with("fnv1a64:"));
    assert_eq!(identity(&first), identity(&first));
    assert_ne!(identity(&first), identity(&second));
}

#[test]
fn each_unsuitable_program_has_its_own_error() {
    let folder = Folder::new("unsuitable");
    let shell = std::fs::read(inspect(Path::new("sh")).expect("a shell").path).expect("its bytes");
    // PT_INTERP becomes PT_NULL: find its type word among the program headers.
    let interp = (64..4096)
        .step_by(8)
        .find(|&at| shell[at..at + 4] == 3u32.to_le_bytes())
        .expect("a program with an interpreter");
    let text = b"/lib64/ld-linux-x86-64.so.2";
    let named = shell
        .windows(text.len())
        .position(|w| w == text)
        .expect("its name");
    let foreign = patched(&shell, &[(named, b"/lib/ld-musl-x86_64.so.1\0")]);
    type Expected = fn(&Unsuitable) -> bool;
    let cases: &[(&str, Vec<u8>, u32, Expected)] = &[
        ("plain", shell.clone(), 0o644, |e| {
            matches!(e, Unsuitable::NotExecutable(_))
        }),
        ("empty", Vec::new(), 0o755, |e| {
            matches!(e, Unsuitable::NotElf { .. })
        }),
        ("text", b"hello".to_vec(), 0o755, |e| {
            matches!(e, Unsuitable::NotElf { .. })
        }),
        ("cut", shell[..60].to_vec(), 0o755, |e| {
            matches!(e, Unsuitable::NotElf { .. })
        }),
        ("half", shell[..shell.len() / 2].to_vec(), 0o755, |e| {
            matches!(e, Unsuitable::NotElf { .. })
        }),
        (
            "script",
            b"#!/bin/sh -e\necho\n".to_vec(),
            0o755,
            |e| matches!(e, Unsuitable::Script { interpreter, .. } if interpreter == "/bin/sh -e"),
        ),
        ("bits32", patched(&shell, &[(4, &[1])]), 0o755, |e| {
            matches!(e, Unsuitable::Bits32(_))
        }),
        ("arm", patched(&shell, &[(18, &[183, 0])]), 0o755, |e| {
            matches!(e, Unsuitable::Machine(_))
        }),
        ("big-endian", patched(&shell, &[(5, &[2])]), 0o755, |e| {
            matches!(e, Unsuitable::Machine(_))
        }),
        (
            "static",
            patched(&shell, &[(16, &[2, 0]), (interp, &[0; 4])]),
            0o755,
            |e| matches!(e, Unsuitable::Static(_)),
        ),
        (
            "object",
            patched(&shell, &[(16, &[1, 0]), (interp, &[0; 4])]),
            0o755,
            |e| matches!(e, Unsuitable::Library(_)),
        ),
        (
            "musl",
            foreign,
            0o755,
            |e| matches!(e, Unsuitable::Interpreter { interpreter, .. } if interpreter == "/lib/ld-musl-x86_64.so.1"),
        ),
        ("setuid", shell.clone(), 0o4755, |e| {
            matches!(e, Unsuitable::SetId(_))
        }),
        ("setgid", shell.clone(), 0o2755, |e| {
            matches!(e, Unsuitable::SetId(_))
        }),
    ];
    for (name, content, mode, expected) in cases {
        let path = folder.file(name, content, *mode);
        let error = inspect(&path).expect_err(name);
        assert!(expected(&error), "{name}: {error:?}");
        let text = error.to_string();
        assert!(text.starts_with(&path.display().to_string()), "{text}");
        assert!(!text.contains('\n'), "{text}");
    }
    let folder_error = inspect(&folder.0).expect_err("a folder");
    assert!(matches!(folder_error, Unsuitable::NotAFile(_)));
    let missing = [
        folder.0.join("missing"),
        "raddle-no-such-program".into(),
        PathBuf::new(),
    ];
    for path in missing {
        let error = inspect(&path).expect_err("missing");
        assert!(matches!(error, Unsuitable::NotFound(_)), "{error:?}");
    }
}

#[test]
fn damaged_programs_never_panic() {
    let folder = Folder::new("damaged");
    let path = inspect(Path::new("sh")).expect("a shell").path;
    let shell = std::fs::read(path).expect("its bytes");
    let table = u64::from_le_bytes(shell[40..48].try_into().expect("8 bytes")) as usize;
    let mut state = 12345u64;
    let mut next = |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % n
    };
    let mut refused = 0;
    for _ in 0..1500 {
        let mut elf = shell.clone();
        for _ in 0..1 + next(6) {
            let at = match next(3) {
                0 => 16 + next(48),
                1 => 64 + next(13 * 56),
                _ => table + next(elf.len() - table),
            };
            elf[at] = if next(2) == 0 { 0xff } else { next(256) as u8 };
        }
        let path = folder.file("damaged", &elf, 0o755);
        refused += usize::from(inspect(&path).is_err());
    }
    assert!(refused > 100, "{refused}");
}
