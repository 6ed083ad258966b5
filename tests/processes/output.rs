// A test that asks a child for its output: when that comes is not under control.
#[test]
fn a_child_says_what_it_was_told() {
    let child = std::process::Command::new("echo").arg("hi").output().unwrap();
    assert_eq!(child.stdout, b"hi\n");
}

#[test]
fn another() {}
