//! Is `INTRINSICS.md` complete and true?

mod common;

use common::{CLANG, Workshop, file, llvm_header, plugin, succeed, symbolic_bodies};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Intrinsic, type of the result `%r`, body; the parameters are those of `operations.rs`.
const EXAMPLES: &[(&str, &str, &str)] = &[
    (
        "abs",
        "i32",
        "%r = call i32 @llvm.abs.i32(i32 %a, i1 false)",
    ),
    (
        "bitreverse",
        "i32",
        "%r = call i32 @llvm.bitreverse.i32(i32 %a)",
    ),
    ("bswap", "i32", "%r = call i32 @llvm.bswap.i32(i32 %a)"),
    (
        "ctlz",
        "i32",
        "%r = call i32 @llvm.ctlz.i32(i32 %a, i1 false)",
    ),
    (
        "cttz",
        "i32",
        "%r = call i32 @llvm.cttz.i32(i32 %a, i1 false)",
    ),
    ("ctpop", "i32", "%r = call i32 @llvm.ctpop.i32(i32 %a)"),
    (
        "fshl",
        "i32",
        "%r = call i32 @llvm.fshl.i32(i32 %a, i32 %b, i32 %a)",
    ),
    (
        "fshr",
        "i24",
        "%s = trunc i32 %a to i24\n %r = call i24 @llvm.fshr.i24(i24 %s, i24 %s, i24 %s)",
    ),
    (
        "smax",
        "i32",
        "%r = call i32 @llvm.smax.i32(i32 %a, i32 %b)",
    ),
    (
        "smin",
        "i32",
        "%r = call i32 @llvm.smin.i32(i32 %a, i32 %b)",
    ),
    (
        "umax",
        "i32",
        "%r = call i32 @llvm.umax.i32(i32 %a, i32 %b)",
    ),
    (
        "umin",
        "i32",
        "%r = call i32 @llvm.umin.i32(i32 %a, i32 %b)",
    ),
    (
        "scmp",
        "i8",
        "%r = call i8 @llvm.scmp.i8.i32(i32 %a, i32 %b)",
    ),
    (
        "ucmp",
        "i8",
        "%r = call i8 @llvm.ucmp.i8.i32(i32 %a, i32 %b)",
    ),
    (
        "sadd.sat",
        "i32",
        "%r = call i32 @llvm.sadd.sat.i32(i32 %a, i32 %b)",
    ),
    (
        "ssub.sat",
        "i32",
        "%r = call i32 @llvm.ssub.sat.i32(i32 %a, i32 %b)",
    ),
    (
        "uadd.sat",
        "i32",
        "%r = call i32 @llvm.uadd.sat.i32(i32 %a, i32 %b)",
    ),
    (
        "usub.sat",
        "i32",
        "%r = call i32 @llvm.usub.sat.i32(i32 %a, i32 %b)",
    ),
    (
        "sshl.sat",
        "i32",
        "%r = call i32 @llvm.sshl.sat.i32(i32 %a, i32 %b)",
    ),
    (
        "ushl.sat",
        "i32",
        "%r = call i32 @llvm.ushl.sat.i32(i32 %a, i32 %b)",
    ),
    (
        "sadd.with.overflow",
        "{ i32, i1 }",
        "%r = call { i32, i1 } @llvm.sadd.with.overflow.i32(i32 %a, i32 %b)",
    ),
    (
        "ssub.with.overflow",
        "{ i32, i1 }",
        "%r = call { i32, i1 } @llvm.ssub.with.overflow.i32(i32 %a, i32 %b)",
    ),
    (
        "smul.with.overflow",
        "{ i32, i1 }",
        "%r = call { i32, i1 } @llvm.smul.with.overflow.i32(i32 %a, i32 %b)",
    ),
    (
        "uadd.with.overflow",
        "{ i32, i1 }",
        "%r = call { i32, i1 } @llvm.uadd.with.overflow.i32(i32 %a, i32 %b)",
    ),
    (
        "usub.with.overflow",
        "{ i32, i1 }",
        "%r = call { i32, i1 } @llvm.usub.with.overflow.i32(i32 %a, i32 %b)",
    ),
    (
        "umul.with.overflow",
        "{ i32, i1 }",
        "%r = call { i32, i1 } @llvm.umul.with.overflow.i32(i32 %a, i32 %b)",
    ),
    (
        "ptrmask",
        "ptr",
        "%r = call ptr @llvm.ptrmask.p0.i64(ptr %p, i64 %n)",
    ),
    (
        "expect",
        "i32",
        "%s = call i32 @llvm.expect.i32(i32 %a, i32 1)\n %r = add i32 %s, 1",
    ),
    (
        "expect.with.probability",
        "i32",
        "%s = call i32 @llvm.expect.with.probability.i32(i32 %a, i32 1, double 0.5)\n %r = add i32 %s, 1",
    ),
    (
        "ssa.copy",
        "i32",
        "%s = call i32 @llvm.ssa.copy.i32(i32 %a)\n %r = add i32 %s, 1",
    ),
    (
        "launder.invariant.group",
        "i64",
        "%s = call ptr @llvm.launder.invariant.group.p0(ptr %p)\n %t = ptrtoint ptr %s to i64\n %r = add i64 %t, 1",
    ),
    (
        "strip.invariant.group",
        "i64",
        "%s = call ptr @llvm.strip.invariant.group.p0(ptr %p)\n %t = ptrtoint ptr %s to i64\n %r = add i64 %t, 1",
    ),
    (
        "annotation",
        "i32",
        "%s = call i32 @llvm.annotation.i32.p0(i32 %a, ptr null, ptr null, i32 0)\n %r = add i32 %s, 1",
    ),
    (
        "ptr.annotation",
        "i64",
        "%s = call ptr @llvm.ptr.annotation.p0.p0(ptr %p, ptr null, ptr null, i32 0, ptr null)\n %t = ptrtoint ptr %s to i64\n %r = add i64 %t, 1",
    ),
    (
        "var.annotation",
        "i32",
        "call void @llvm.var.annotation.p0.p0(ptr %p, ptr null, ptr null, i32 0, ptr null)\n %r = add i32 0, 1",
    ),
    (
        "arithmetic.fence",
        "i64",
        "%s = call double @llvm.arithmetic.fence.f64(double %x)\n %t = bitcast double %s to i64\n %r = add i64 %t, 1",
    ),
    (
        "fabs",
        "double",
        "%r = call double @llvm.fabs.f64(double %x)",
    ),
    (
        "copysign",
        "double",
        "%r = call double @llvm.copysign.f64(double %x, double %y)",
    ),
    (
        "is.fpclass",
        "i1",
        "%r = call i1 @llvm.is.fpclass.f64(double %x, i32 3)",
    ),
    (
        "is.constant",
        "i1",
        "%r = call i1 @llvm.is.constant.i32(i32 %a)",
    ),
    (
        "objectsize",
        "i64",
        "%r = call i64 @llvm.objectsize.i64.p0(ptr %p, i1 false, i1 true, i1 false)",
    ),
    (
        "load.relative",
        "ptr",
        "%r = call ptr @llvm.load.relative.i64(ptr %p, i64 %n)",
    ),
    (
        "memcpy",
        "i32",
        "call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %p, i64 %n, i1 false)\n %r = add i32 0, 1",
    ),
    (
        "memcpy.inline",
        "i32",
        "call void @llvm.memcpy.inline.p0.p0.i64(ptr %p, ptr %p, i64 8, i1 false)\n %r = add i32 0, 1",
    ),
    (
        "memmove",
        "i32",
        "call void @llvm.memmove.p0.p0.i64(ptr %p, ptr %p, i64 %n, i1 false)\n %r = add i32 0, 1",
    ),
    (
        "memset",
        "i32",
        "call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 %n, i1 false)\n %r = add i32 0, 1",
    ),
    (
        "memset.inline",
        "i32",
        "call void @llvm.memset.inline.p0.i64(ptr %p, i8 0, i64 8, i1 false)\n %r = add i32 0, 1",
    ),
    (
        "masked.load",
        "<4 x i32>",
        "%m = insertelement <4 x i1> zeroinitializer, i1 %c, i32 0\n %r = call <4 x i32> @llvm.masked.load.v4i32.p0(ptr %p, i32 4, <4 x i1> %m, <4 x i32> zeroinitializer)",
    ),
    (
        "masked.store",
        "i32",
        "%m = insertelement <4 x i1> zeroinitializer, i1 %c, i32 0\n call void @llvm.masked.store.v4i32.p0(<4 x i32> zeroinitializer, ptr %p, i32 4, <4 x i1> %m)\n %r = add i32 0, 1",
    ),
    (
        "masked.gather",
        "<4 x i32>",
        "%v = insertelement <4 x ptr> zeroinitializer, ptr %p, i32 0\n %m = insertelement <4 x i1> zeroinitializer, i1 %c, i32 0\n %r = call <4 x i32> @llvm.masked.gather.v4i32.v4p0(<4 x ptr> %v, i32 4, <4 x i1> %m, <4 x i32> zeroinitializer)",
    ),
    (
        "masked.scatter",
        "i32",
        "%v = insertelement <4 x ptr> zeroinitializer, ptr %p, i32 0\n %m = insertelement <4 x i1> zeroinitializer, i1 %c, i32 0\n call void @llvm.masked.scatter.v4i32.v4p0(<4 x i32> zeroinitializer, <4 x ptr> %v, i32 4, <4 x i1> %m)\n %r = add i32 0, 1",
    ),
    (
        "masked.expandload",
        "<4 x i32>",
        "%m = insertelement <4 x i1> zeroinitializer, i1 %c, i32 0\n %r = call <4 x i32> @llvm.masked.expandload.v4i32(ptr %p, <4 x i1> %m, <4 x i32> zeroinitializer)",
    ),
    (
        "masked.compressstore",
        "i32",
        "%m = insertelement <4 x i1> zeroinitializer, i1 %c, i32 0\n call void @llvm.masked.compressstore.v4i32(<4 x i32> zeroinitializer, ptr %p, <4 x i1> %m)\n %r = add i32 0, 1",
    ),
    (
        "vector.reduce.add",
        "i32",
        "%s = load <4 x i32>, ptr %p\n %r = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %s)",
    ),
    (
        "vector.reduce.fadd",
        "double",
        "%s = load <2 x double>, ptr %p\n %r = call double @llvm.vector.reduce.fadd.v2f64(double %x, <2 x double> %s)",
    ),
    (
        "vector.reduce.fmax",
        "double",
        "%s = load <2 x double>, ptr %p\n %r = call double @llvm.vector.reduce.fmax.v2f64(<2 x double> %s)",
    ),
    (
        "vector.reverse",
        "<2 x i32>",
        "%s = load <2 x i32>, ptr %p\n %r = call <2 x i32> @llvm.vector.reverse.v2i32(<2 x i32> %s)",
    ),
    (
        "vector.insert",
        "<4 x i32>",
        "%s = load <2 x i32>, ptr %p\n %r = call <4 x i32> @llvm.vector.insert.v4i32.v2i32(<4 x i32> zeroinitializer, <2 x i32> %s, i64 0)",
    ),
    (
        "vector.extract",
        "<2 x i32>",
        "%s = load <4 x i32>, ptr %p\n %r = call <2 x i32> @llvm.vector.extract.v2i32.v4i32(<4 x i32> %s, i64 0)",
    ),
    (
        "sqrt",
        "double",
        "%r = call double @llvm.sqrt.f64(double %x)",
    ),
    (
        "fma",
        "double",
        "%r = call double @llvm.fma.f64(double %x, double %y, double %x)",
    ),
    (
        "powi",
        "double",
        "%r = call double @llvm.powi.f64.i32(double %x, i32 %a)",
    ),
    (
        "ldexp",
        "double",
        "%r = call double @llvm.ldexp.f64.i32(double %x, i32 %a)",
    ),
    (
        "lround",
        "i64",
        "%r = call i64 @llvm.lround.i64.f64(double %x)",
    ),
    (
        "fptosi.sat",
        "i32",
        "%r = call i32 @llvm.fptosi.sat.i32.f64(double %x)",
    ),
    (
        "convert.to.fp16",
        "i16",
        "%r = call i16 @llvm.convert.to.fp16.f64(double %x)",
    ),
    (
        "convert.from.fp16",
        "double",
        "%s = trunc i32 %a to i16\n %r = call double @llvm.convert.from.fp16.f64(i16 %s)",
    ),
    (
        "experimental.constrained.fadd",
        "double",
        "%r = call double @llvm.experimental.constrained.fadd.f64(double %x, double %y, metadata !\"round.dynamic\", metadata !\"fpexcept.strict\")",
    ),
    (
        "experimental.constrained.sitofp",
        "double",
        "%r = call double @llvm.experimental.constrained.sitofp.f64.i32(i32 %a, metadata !\"round.dynamic\", metadata !\"fpexcept.strict\")",
    ),
    (
        "umul.fix",
        "i32",
        "%r = call i32 @llvm.umul.fix.i32(i32 %a, i32 %b, i32 2)",
    ),
    (
        "threadlocal.address",
        "ptr",
        "%r = call ptr @llvm.threadlocal.address.p0(ptr @tls)",
    ),
    (
        "matrix.multiply",
        "<4 x i32>",
        "%s = load <4 x i32>, ptr %p\n %r = call <4 x i32> @llvm.matrix.multiply.v4i32.v4i32.v4i32(<4 x i32> %s, <4 x i32> %s, i32 2, i32 2, i32 2)",
    ),
    (
        "matrix.column.major.load",
        "<4 x i32>",
        "%r = call <4 x i32> @llvm.matrix.column.major.load.v4i32.i64(ptr %p, i64 %n, i1 false, i32 2, i32 2)",
    ),
    (
        "eh.typeid.for",
        "i32",
        "%r = call i32 @llvm.eh.typeid.for.p0(ptr null)",
    ),
    (
        "type.test",
        "i1",
        "%r = call i1 @llvm.type.test(ptr %p, metadata !\"x\")",
    ),
    (
        "prefetch",
        "i32",
        "call void @llvm.prefetch.p0(ptr %p, i32 0, i32 3, i32 1)\n %r = add i32 0, 1",
    ),
    (
        "clear_cache",
        "i32",
        "call void @llvm.clear_cache(ptr %p, ptr %p)\n %r = add i32 0, 1",
    ),
    (
        "set.rounding",
        "i32",
        "call void @llvm.set.rounding(i32 %a)\n %r = add i32 0, 1",
    ),
    (
        "set.rounding",
        "i32",
        "call void @llvm.set.rounding(i32 2)\n %r = add i32 0, 1",
    ),
    (
        "set.fpmode",
        "i32",
        "call void @llvm.set.fpmode.i32(i32 0)\n %r = add i32 0, 1",
    ),
    (
        "reset.fpmode",
        "i32",
        "call void @llvm.reset.fpmode()\n %r = add i32 0, 1",
    ),
    (
        "returnaddress",
        "ptr",
        "%r = call ptr @llvm.returnaddress(i32 0)",
    ),
    (
        "frameaddress",
        "ptr",
        "%r = call ptr @llvm.frameaddress.p0(i32 0)",
    ),
    (
        "readcyclecounter",
        "i64",
        "%r = call i64 @llvm.readcyclecounter()",
    ),
    (
        "x86.sse42.crc32.32.32",
        "i32",
        "%r = call i32 @llvm.x86.sse42.crc32.32.32(i32 %a, i32 %b)",
    ),
    (
        "x86.sse2.pmovmskb.128",
        "i32",
        "%s = load <16 x i8>, ptr %p\n %r = call i32 @llvm.x86.sse2.pmovmskb.128(<16 x i8> %s)",
    ),
    (
        "vector.reduce.and",
        "i32",
        "%s = load <4 x i32>, ptr %p\n %r = call i32 @llvm.vector.reduce.and.v4i32(<4 x i32> %s)",
    ),
    (
        "vector.reduce.or",
        "i32",
        "%s = load <4 x i32>, ptr %p\n %r = call i32 @llvm.vector.reduce.or.v4i32(<4 x i32> %s)",
    ),
    (
        "vector.reduce.xor",
        "i32",
        "%s = load <4 x i32>, ptr %p\n %r = call i32 @llvm.vector.reduce.xor.v4i32(<4 x i32> %s)",
    ),
    (
        "vector.reduce.mul",
        "i32",
        "%s = load <4 x i32>, ptr %p\n %r = call i32 @llvm.vector.reduce.mul.v4i32(<4 x i32> %s)",
    ),
    (
        "vector.reduce.smax",
        "i32",
        "%s = load <4 x i32>, ptr %p\n %r = call i32 @llvm.vector.reduce.smax.v4i32(<4 x i32> %s)",
    ),
    (
        "vector.reduce.smin",
        "i32",
        "%s = load <4 x i32>, ptr %p\n %r = call i32 @llvm.vector.reduce.smin.v4i32(<4 x i32> %s)",
    ),
    (
        "vector.reduce.umax",
        "i32",
        "%s = load <4 x i32>, ptr %p\n %r = call i32 @llvm.vector.reduce.umax.v4i32(<4 x i32> %s)",
    ),
    (
        "vector.reduce.umin",
        "i32",
        "%s = load <4 x i32>, ptr %p\n %r = call i32 @llvm.vector.reduce.umin.v4i32(<4 x i32> %s)",
    ),
];

/// The names in LLVM's list.
fn intrinsics() -> BTreeSet<String> {
    let list = llvm_header("include/llvm/IR/IntrinsicEnums.inc");
    let names = list
        .lines()
        .filter_map(|line| line.split_once("// llvm.").map(|(_, name)| name.trim()));
    names.map(str::to_owned).collect()
}

/// The rows of the table: names, which may end in `*`, and the class.
fn rows() -> Vec<(Vec<String>, String)> {
    let text = include_str!("../INTRINSICS.md");
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let names = cells[1].split_whitespace();
        let names = names
            .map(|name| name.trim_matches('`').to_owned())
            .collect();
        (names, cells[2].to_owned())
    })
    .collect()
}

/// The row of each intrinsic of the list. The longest name that fits counts.
fn placed() -> BTreeMap<String, usize> {
    let fits = |pattern: &str, name: &str| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    };
    let rows = rows();
    let rank = |pattern: &str| (!pattern.ends_with('*'), pattern.len());
    let mut placed = BTreeMap::new();
    for name in intrinsics() {
        let all = rows.iter().enumerate().flat_map(|(row, (patterns, _))| {
            let fitting = patterns.iter().filter(|pattern| fits(pattern, &name));
            fitting.map(move |pattern| (rank(pattern), row))
        });
        let mut all: Vec<((bool, usize), usize)> = all.collect();
        all.sort_unstable();
        let row = all.last().unwrap_or_else(|| panic!("{name} is missing")).1;
        let again = all.iter().filter(|one| one.0 == all[all.len() - 1].0);
        assert_eq!(again.count(), 1, "{name} is there twice");
        placed.insert(name, row);
    }
    placed
}

#[test]
fn the_table_names_every_intrinsic_of_llvm() {
    let placed = placed();
    assert!(placed.len() > 400, "{}", placed.len());
    for (names, _) in rows() {
        for name in names.iter().filter(|name| !name.ends_with('*')) {
            assert!(placed.contains_key(name), "LLVM has no {name}");
        }
    }
}

#[test]
fn the_plugin_does_what_the_table_says() {
    let (rows, placed) = (rows(), placed());
    let head = "@tls = thread_local global i32 0\n";
    let bodies = symbolic_bodies(head, EXAMPLES.iter().map(|one| (one.1, one.2)));
    let mut wrong = Vec::new();
    for ((name, _, _), body) in EXAMPLES.iter().zip(&bodies) {
        let calls = |hook: &&str| body.contains(&format!("@raddle_sym_{hook}("));
        let builds = ["binary", "cast", "ite", "copy", "set"].iter().any(calls);
        let (lost, tried) = (calls(&"lost"), calls(&"number"));
        let class = match placed.get(*name) {
            Some(&row) => rows[row].1.as_str(),
            None => "counted",
        };
        let holds = match class {
            "symbolic" => builds && !lost,
            "tried" => tried && !lost,
            "nothing" => !builds && !lost && !tried,
            _ => lost,
        };
        if !holds {
            wrong.push(format!("{name} is not {class}:\n{body}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let shown: BTreeSet<&str> = EXAMPLES.iter().map(|example| example.0).collect();
    for (row, (_, class)) in rows.iter().enumerate() {
        let mut own = placed.iter().filter(|one| *one.1 == row).map(|one| one.0);
        let has = |name: &String| shown.contains(name.as_str());
        match class.as_str() {
            "symbolic" => assert!(own.all(has), "row {row} has no example of each"),
            "tried" | "counted" => assert!(own.any(has), "row {row} has no example"),
            _ => assert!(["nothing", "unused"].contains(&class.as_str()), "{class}"),
        }
    }
}

#[test]
fn what_the_table_calls_unused_is_not_used() {
    let (rows, placed) = (rows(), placed());
    for program in ["control.c", "types.c", "objects.cpp"] {
        for level in ["-O0", "-O3"] {
            let workshop = Workshop::new();
            let output = workshop.path("made.ll");
            let mut command = Command::new(CLANG);
            command.arg(format!("-fpass-plugin={}", plugin().display()));
            command.args([level, "-w", "-S", "-emit-llvm", "-I"]);
            command.arg(file("support"));
            if program.ends_with("cpp") {
                command.arg("-std=c++20");
            }
            command.arg(file(&format!("programs/{program}")));
            succeed(command.arg("-o").arg(&output));
            let made = std::fs::read_to_string(output).expect("clang wrote it");
            for part in made.split("@llvm.").skip(1) {
                let end = part.find(|c: char| !c.is_ascii_alphanumeric() && !"._".contains(c));
                let called = &part[..end.unwrap_or(part.len())];
                let fits = |name: &&String| {
                    let rest = called.strip_prefix(name.as_str());
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                };
                let name = placed.keys().filter(fits).max_by_key(|name| name.len());
                let class = name.map(|name| rows[placed[name]].1.as_str());
                assert_ne!(class, Some("unused"), "{called} in {program} {level}");
            }
        }
    }
}
