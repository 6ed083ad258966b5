//! Is `OPERATIONS.md` complete and true?

mod common;

use common::{llvm_header, symbolic_bodies};
use std::collections::{BTreeMap, BTreeSet};

/// Where LLVM lists its instructions; the package that the build needs has it.
const LIST: &str = "include/llvm/IR/Instruction.def";

/// One example for each operation that the table says something of: operation, type of the
/// result, body. The parameters are `i32 %a, i32 %b, i1 %c, ptr %p, i64 %n, double %x, double %y`.
const EXAMPLES: &[(&str, &str, &str)] = &[
    ("add", "i32", "%r = add i32 %a, %b"),
    ("sub", "i32", "%r = sub i32 %a, %b"),
    ("mul", "i32", "%r = mul i32 %a, %b"),
    ("shl", "i32", "%r = shl i32 %a, %b"),
    ("lshr", "i32", "%r = lshr i32 %a, %b"),
    ("ashr", "i32", "%r = ashr i32 %a, %b"),
    ("and", "i32", "%r = and i32 %a, %b"),
    ("or", "i32", "%r = or i32 %a, %b"),
    ("xor", "i32", "%r = xor i32 %a, %b"),
    ("udiv", "i32", "%r = udiv i32 %a, %b"),
    ("sdiv", "i32", "%r = sdiv i32 %a, %b"),
    ("urem", "i32", "%r = urem i32 %a, %b"),
    ("srem", "i32", "%r = srem i32 %a, %b"),
    ("icmp", "i1", "%r = icmp slt i32 %a, %b"),
    ("trunc", "i8", "%r = trunc i32 %a to i8"),
    ("zext", "i64", "%r = zext i32 %a to i64"),
    ("sext", "i64", "%r = sext i32 %a to i64"),
    ("ptrtoint", "i32", "%r = ptrtoint ptr %p to i32"),
    ("inttoptr", "ptr", "%r = inttoptr i32 %a to ptr"),
    (
        "bitcast",
        "i32",
        "%s = bitcast double %x to i64\n %r = trunc i64 %s to i32",
    ),
    (
        "getelementptr",
        "ptr",
        "%r = getelementptr i32, ptr %p, i64 %n",
    ),
    ("select", "i32", "%r = select i1 %c, i32 %a, i32 %b"),
    (
        "phi",
        "i32",
        "br label %one\none:\n %q = phi i32 [ %a, %0 ], [ %s, %one ]\n %s = add i32 %q, 1\n \
         %t = icmp eq i32 %s, 9\n br i1 %t, label %two, label %one\ntwo:\n %r = add i32 %q, %b",
    ),
    ("freeze", "i32", "%s = freeze i32 %a\n %r = add i32 %s, %b"),
    (
        "insertvalue",
        "{ i32, i32 }",
        "%s = add i32 %a, %b\n %r = insertvalue { i32, i32 } zeroinitializer, i32 %s, 0",
    ),
    (
        "extractvalue",
        "i32",
        "%s = call { i32, i32 } @pair(i32 %a)\n %t = extractvalue { i32, i32 } %s, 1\n %r = add i32 %t, %b",
    ),
    ("load", "i32", "%r = load i32, ptr %p"),
    ("store", "i32", "store i32 %a, ptr %p\n %r = add i32 %a, %b"),
    (
        "atomicrmw",
        "i32",
        "%r = atomicrmw add ptr %p, i32 %a seq_cst",
    ),
    (
        "atomiccmpxchg",
        "i32",
        "%s = cmpxchg ptr %p, i32 %a, i32 %b seq_cst seq_cst\n %r = extractvalue { i32, i1 } %s, 0",
    ),
    (
        "call",
        "i32",
        "%r = call i32 @llvm.umax.i32(i32 %a, i32 %b)",
    ),
    (
        "invoke",
        "i32",
        "%s = invoke i32 @one(i32 %a) to label %fine unwind label %bad\nbad:\n \
         %l = landingpad { ptr, i32 } cleanup\n resume { ptr, i32 } %l\nfine:\n %r = add i32 %s, %b",
    ),
    ("ret", "i32", "%r = add i32 %a, %b"),
    (
        "br",
        "i32",
        "br i1 %c, label %one, label %two\none:\n call void @some()\n br label %two\ntwo:\n %r = add i32 0, 1",
    ),
    (
        "switch",
        "i32",
        "switch i32 %a, label %two [ i32 3, label %one\n i32 5, label %one ]\none:\n \
         call void @some()\n br label %two\ntwo:\n %r = add i32 0, 1",
    ),
    (
        "alloca",
        "i32",
        "%s = alloca i8, i64 %n\n call void @use(ptr %s)\n %r = add i32 0, 1",
    ),
    ("fneg", "double", "%r = fneg double %x"),
    ("fadd", "double", "%r = fadd double %x, %y"),
    ("fsub", "double", "%r = fsub double %x, %y"),
    ("fmul", "double", "%r = fmul double %x, %y"),
    ("fdiv", "double", "%r = fdiv double %x, %y"),
    ("frem", "double", "%r = frem double %x, %y"),
    ("fcmp", "i1", "%r = fcmp olt double %x, %y"),
    ("fptoui", "i32", "%r = fptoui double %x to i32"),
    ("fptosi", "i32", "%r = fptosi double %x to i32"),
    ("uitofp", "double", "%r = uitofp i32 %a to double"),
    ("sitofp", "double", "%r = sitofp i32 %a to double"),
    ("fptrunc", "float", "%r = fptrunc double %x to float"),
    (
        "fpext",
        "double",
        "%s = bitcast i32 %a to float\n %r = fpext float %s to double",
    ),
    (
        "insertelement",
        "<2 x i32>",
        "%s = add i32 %a, %b\n %r = insertelement <2 x i32> zeroinitializer, i32 %s, i32 0",
    ),
    (
        "extractelement",
        "i32",
        "%r = extractelement <2 x i32> <i32 1, i32 2>, i64 %n",
    ),
    (
        "shufflevector",
        "<2 x i32>",
        "%s = load <2 x i32>, ptr %p\n \
         %r = shufflevector <2 x i32> %s, <2 x i32> zeroinitializer, <2 x i32> <i32 1, i32 2>",
    ),
    // Wide integers.
    ("zext", "i128", "%r = zext i32 %a to i128"),
    ("load", "i128", "%r = load i128, ptr %p"),
    (
        "store",
        "i1",
        "%s = sext i64 %n to i128\n store i128 %s, ptr %p\n %r = icmp eq i128 %s, 9",
    ),
    (
        "mul",
        "i128",
        "%s = sext i64 %n to i128\n %r = mul i128 %s, 77",
    ),
    (
        "sdiv",
        "i128",
        "%s = sext i64 %n to i128\n %r = sdiv i128 77, %s",
    ),
    (
        "lshr",
        "i128",
        "%s = sext i64 %n to i128\n %r = lshr i128 1234, %s",
    ),
    (
        "icmp",
        "i1",
        "%s = zext i64 %n to i128\n %r = icmp ugt i128 %s, 77",
    ),
    (
        "trunc",
        "i32",
        "%s = sext i64 %n to i100\n %t = mul i100 %s, %s\n %r = trunc i100 %t to i32",
    ),
    (
        "add",
        "i32",
        "%s = zext i64 %n to i128\n call void @broad(i128 %s)\n %r = add i32 %a, %b",
    ),
    ("zext", "i256", "%r = zext i32 %a to i256"),
    // Wide atomics.
    (
        "load",
        "i128",
        "%r = load atomic i128, ptr %p seq_cst, align 16",
    ),
    (
        "store",
        "i1",
        "%s = sext i64 %n to i128\n store atomic i128 %s, ptr %p seq_cst, align 16\n \
         %r = icmp eq i128 %s, 9",
    ),
    (
        "atomicrmw",
        "i128",
        "%s = sext i64 %n to i128\n %r = atomicrmw umin ptr %p, i128 %s seq_cst",
    ),
    (
        "atomiccmpxchg",
        "i1",
        "%s = sext i64 %n to i128\n %t = cmpxchg ptr %p, i128 %s, i128 77 seq_cst seq_cst\n \
         %r = extractvalue { i128, i1 } %t, 1",
    ),
    (
        "call",
        "i64",
        "%s = alloca i64\n call void @__atomic_load(i64 8, ptr %p, ptr %s, i32 5)\n \
         %r = load i64, ptr %s",
    ),
    // Vectors.
    (
        "xor",
        "<2 x i64>",
        "%s = load <2 x i64>, ptr %p\n %r = xor <2 x i64> %s, <i64 5, i64 7>",
    ),
    (
        "bitcast",
        "i128",
        "%s = load <16 x i8>, ptr %p\n %r = bitcast <16 x i8> %s to i128",
    ),
    (
        "fadd",
        "<2 x double>",
        "%s = load <2 x double>, ptr %p\n %r = fadd <2 x double> %s, %s",
    ),
    (
        "call",
        "i32",
        "%s = load <4 x i32>, ptr %p\n %r = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %s)",
    ),
    (
        "call",
        "<4 x i32>",
        "%s = load <4 x i32>, ptr %p\n %r = call <4 x i32> @llvm.smax.v4i32(<4 x i32> %s, <4 x i32> %s)",
    ),
    (
        "call",
        "<4 x i32>",
        "%s = load <4 x i32>, ptr %p\n %r = call <4 x i32> @lanes(<4 x i32> %s)",
    ),
    // Intrinsics.
    ("call", "i32", "%r = call i32 @llvm.bswap.i32(i32 %a)"),
    ("call", "i32", "%r = call i32 @llvm.bitreverse.i32(i32 %a)"),
    ("call", "i32", "%r = call i32 @llvm.ctpop.i32(i32 %a)"),
    (
        "call",
        "i32",
        "%r = call i32 @llvm.ctlz.i32(i32 %a, i1 false)",
    ),
    (
        "call",
        "i32",
        "%r = call i32 @llvm.cttz.i32(i32 %a, i1 false)",
    ),
    (
        "call",
        "i32",
        "%r = call i32 @llvm.abs.i32(i32 %a, i1 false)",
    ),
    (
        "call",
        "i32",
        "%r = call i32 @llvm.fshl.i32(i32 %a, i32 %b, i32 %a)",
    ),
    (
        "call",
        "i32",
        "%r = call i32 @llvm.fshr.i32(i32 %a, i32 %b, i32 %a)",
    ),
    (
        "call",
        "i32",
        "%r = call i32 @llvm.smin.i32(i32 %a, i32 %b)",
    ),
    (
        "call",
        "i32",
        "%r = call i32 @llvm.sadd.sat.i32(i32 %a, i32 %b)",
    ),
    (
        "call",
        "i32",
        "%r = call i32 @llvm.usub.sat.i32(i32 %a, i32 %b)",
    ),
    (
        "call",
        "{ i64, i1 }",
        "%r = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %n, i64 %n)",
    ),
    (
        "call",
        "{ i64, i1 }",
        "%r = call { i64, i1 } @llvm.uadd.with.overflow.i64(i64 %n, i64 %n)",
    ),
    (
        "call",
        "{ i128, i1 }",
        "%s = sext i64 %n to i128\n \
         %r = call { i128, i1 } @llvm.smul.with.overflow.i128(i128 %s, i128 %s)",
    ),
    (
        "call",
        "i32",
        "%r = call i32 @llvm.sshl.sat.i32(i32 %a, i32 %b)",
    ),
    (
        "call",
        "i32",
        "%r = call i32 @llvm.ushl.sat.i32(i32 %a, i32 %b)",
    ),
];

/// Operations without an example: their function has no symbolic body, or nothing to compare.
const WITHOUT: [&str; 3] = ["indirectbr", "callbr", "vaarg"];

/// The class of each operation, by the table.
fn table() -> BTreeMap<String, String> {
    let text = include_str!("../OPERATIONS.md");
    let mut classes = BTreeMap::new();
    for row in text.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        for name in cells[1].split_whitespace() {
            let name = name.trim_matches('`').to_owned();
            let before = classes.insert(name.clone(), cells[2].to_owned());
            assert_eq!(before, None, "{name} is there twice");
        }
    }
    classes
}

#[test]
fn the_table_names_every_instruction_of_llvm() {
    let list = llvm_header(LIST);
    let instructions: BTreeSet<String> = list
        .lines()
        .filter(|line| line.starts_with("HANDLE_"))
        .filter_map(|line| {
            let (_, arguments) = line.split_once('(')?;
            let name = arguments.split(',').nth(1)?.trim();
            Some(name.to_lowercase())
        })
        .collect();
    assert!(instructions.len() > 60, "{instructions:?}");
    let named: BTreeSet<String> = table().into_keys().collect();
    assert_eq!(named, instructions);
}

/// What the examples call.
const HEAD: &str = "declare { i32, i32 } @pair(i32)\n\
    declare void @broad(i128)\ndeclare void @__atomic_load(i64, ptr, ptr, i32)\n\
    declare <4 x i32> @lanes(<4 x i32>)\n\
    declare i32 @one(i32)\ndeclare void @some()\ndeclare void @use(ptr)\n";

#[test]
fn the_plugin_does_what_the_table_says() {
    let classes = table();
    let bodies = symbolic_bodies(HEAD, EXAMPLES.iter().map(|one| (one.1, one.2)));
    let mut wrong = Vec::new();
    for ((name, ty, _), body) in EXAMPLES.iter().zip(&bodies) {
        let calls = |hook: &str| body.contains(&format!("@raddle_sym_{hook}("));
        let builds = [
            "binary",
            "cast",
            "ite",
            "read",
            "write",
            "atomic_rmw",
            "atomic_cas",
            "call",
        ];
        // More bits than an expression has.
        let class = match classes[*name].as_str() {
            _ if *ty == "i256" => "counted",
            class => class,
        };
        let holds = match class {
            "symbolic" => builds.iter().any(|hook| calls(hook)) && !calls("lost"),
            "decided" => calls("branch") && !calls("lost"),
            "checked" => calls("binary") && calls("branch") && calls("lost"),
            "counted" => calls("lost"),
            "tried" => calls("number") && !calls("lost"),
            _ => !builds.iter().any(|hook| calls(hook)) || calls("lost"),
        };
        if !holds {
            wrong.push(format!("{name} ({ty}) is not {class}:\n{body}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let shown: BTreeSet<&str> = EXAMPLES.iter().map(|example| example.0).collect();
    for (name, class) in &classes {
        let has_example = shown.contains(name.as_str());
        let expected = class != "nothing" && !WITHOUT.contains(&name.as_str());
        assert_eq!(has_example, expected, "{name}");
    }
}
