//! What is told of inline assembly, and of instructions by intrinsics.

mod common;

use common::{Workshop, compile_only, succeed};
use std::fmt::Write;

/// What is told of a statement.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Told {
    Nothing,
    Fence,
    Memory,
    /// It may differ, by this name.
    Differs(&'static str),
    /// What it asks for decides.
    Asks,
    /// It became a call of `syscall`.
    Call,
}

use Told::{Asks, Call, Differs, Fence, Memory, Nothing};

/// Another dialect than the compiler's default.
const INTEL: &[&str] = &["-masm=intel"];

/// The statement sees `long n, m; long *p; char *q; double d; __m128i x; int i`.
const CASES: &[(&str, Told)] = &[
    // Barriers and hints.
    (r#"asm volatile("" ::: "memory");"#, Nothing),
    (r#"asm volatile("" : "+r"(n));"#, Nothing),
    (r#"asm volatile("nop" ::: "memory");"#, Nothing),
    (r#"asm volatile("pause" ::: "memory");"#, Nothing),
    (r#"asm volatile("rep; nop" ::: "memory");"#, Nothing),
    (r#"asm volatile("rep nop");"#, Nothing),
    (r#"asm volatile("nopl 0(%%rax,%%rax,1)");"#, Nothing),
    (r#"asm volatile("prefetcht0 %0" :: "m"(*p));"#, Nothing),
    (r#"asm volatile("prefetchnta (%0)" :: "r"(p));"#, Nothing),
    (r#"asm volatile("mfence" ::: "memory");"#, Fence),
    (r#"asm volatile("lfence\n\t" ::: "memory");"#, Fence),
    (r#"asm volatile("sfence" ::: "memory");"#, Fence),
    (
        r#"asm volatile("lock; addl $0,0(%%rsp)" ::: "memory", "cc");"#,
        Fence,
    ),
    (
        r#"asm volatile("lock; addl $0,-4(%%rsp)" ::: "memory", "cc");"#,
        Fence,
    ),
    (
        r#"asm volatile("lock orl $0, (%%rsp)" ::: "memory", "cc");"#,
        Fence,
    ),
    (
        r#"asm volatile("lfence; rdtsc" : "=a"(i) :: "edx");"#,
        Fence,
    ),
    // Registers alone: headers of the C library, hashes, big numbers.
    (r#"asm("bswap %0" : "=r"(n) : "0"(n));"#, Nothing),
    (r#"asm("bswapl %k0" : "+r"(n));"#, Nothing),
    (r#"asm("rorw $8, %w0" : "+r"(n) :: "cc");"#, Nothing),
    (r#"asm("xchgb %b0, %h0" : "+Q"(n));"#, Nothing),
    (r#"asm("bsrq %1, %0" : "=r"(n) : "rm"(m));"#, Nothing),
    (
        r#"asm("bsfl %k1, %k0\n\tcmovz %k2, %k0" : "=&r"(n) : "r"(m), "r"(-1));"#,
        Nothing,
    ),
    (r#"asm("tzcntq %1, %0" : "=r"(n) : "r"(m));"#, Nothing),
    (r#"asm("crc32q %1, %0" : "+r"(n) : "r"(m));"#, Nothing),
    (
        r#"asm("mulq %3" : "=a"(n), "=d"(m) : "a"(n), "r"(m));"#,
        Nothing,
    ),
    (
        r#"asm("divq %4" : "=a"(n), "=d"(m) : "0"(n), "1"(m), "r"(m | 1));"#,
        Nothing,
    ),
    (
        r#"asm("addq %2, %0\n\tadcq $0, %1" : "+r"(n), "+r"(m) : "r"(n) : "cc");"#,
        Nothing,
    ),
    (
        r#"asm("add{q}\t{%1, %0|%0, %1}" : "+r"(n) : "r"(m));"#,
        Nothing,
    ),
    (
        r#"asm("cmpq %1, %0; setae %b0; movzbl %b0, %k0" : "+q"(n) : "r"(m));"#,
        Nothing,
    ),
    (
        r#"asm("movzbl %b1, %k0; movsbq %b1, %q0; movslq %k1, %0" : "=&r"(n) : "q"(m));"#,
        Nothing,
    ),
    (r#"asm("leaq 3(%1,%1,4), %0" : "=r"(n) : "r"(m));"#, Nothing),
    (r#"asm("pushfq; popq %0" : "=r"(n));"#, Nothing),
    (r#"asm("movq %%rsp, %0" : "=r"(n));"#, Nothing),
    (r#"asm("movq %%fs:0, %0" : "=r"(n));"#, Nothing),
    (r#"asm("rdfsbase %0" : "=r"(n));"#, Nothing),
    (r#"asm("leaq 1f(%%rip), %0; 1:" : "=r"(n));"#, Nothing),
    (r#"asm volatile("ud2");"#, Nothing),
    (r#"asm volatile("int3");"#, Nothing),
    // Time and chance, which are under control.
    (r#"asm volatile("rdtsc" : "=a"(i) :: "edx");"#, Nothing),
    (
        r#"asm volatile("rdtscp" : "=a"(i) :: "edx", "ecx");"#,
        Nothing,
    ),
    (
        r#"asm volatile("rdrand %0; setc %b1" : "=r"(n), "=q"(m));"#,
        Nothing,
    ),
    // Vectors and floating point.
    (r#"asm("paddd %1, %0" : "+x"(x) : "x"(x));"#, Nothing),
    (r#"asm("vpaddd %1, %0, %0" : "+x"(x) : "x"(x));"#, Nothing),
    (
        r#"asm("pshufd $0x1b, %1, %0; punpcklqdq %1, %0" : "+x"(x) : "x"(x));"#,
        Nothing,
    ),
    (
        r#"asm("aesenc %1, %0; pclmulqdq $0x10, %1, %0" : "+x"(x) : "x"(x));"#,
        Nothing,
    ),
    (
        r#"asm("movd %%xmm0, %k0; movsd %%xmm1, %%xmm2" : "=r"(n) :: "xmm2");"#,
        Nothing,
    ),
    (
        r#"asm("sqrtsd %1, %0; addsd %1, %0; cvttsd2si %0, %2" : "=x"(d) : "x"(d), "r"(n));"#,
        Nothing,
    ),
    (
        r#"asm("cmpltsd %1, %0; roundsd $1, %0, %0" : "+x"(d) : "x"(d));"#,
        Nothing,
    ),
    (r#"asm("vzeroupper");"#, Nothing),
    (
        r#"asm("vpaddd %%zmm1, %%zmm2, %%zmm3%{%%k1%}%{z%}" ::: "xmm3");"#,
        Nothing,
    ),
    (r#"asm("fsqrt" : "+t"(d));"#, Nothing),
    (r#"asm("fldpi; fstp %%st(0)" ::: "st");"#, Nothing),
    // Comments, directives, labels.
    (r#"asm(" # syscall");"#, Nothing),
    (r#"asm("nop # cpuid; syscall\n\tnop");"#, Nothing),
    (r#"asm("nop /* syscall */");"#, Nothing),
    (
        r#"asm volatile(".p2align 4\n1: dec %0\n\tjnz 1b" : "+r"(n));"#,
        Nothing,
    ),
    (
        r#"asm volatile("again%=: decq %0; jnz again%=" : "+r"(n));"#,
        Nothing,
    ),
    (
        r#"asm volatile(".Lover%=: loop .Lover%=" : "+c"(n));"#,
        Nothing,
    ),
    (
        r#"asm goto("testq %0, %0; jne %l[there]" :: "r"(n) : "cc" : there);"#,
        Nothing,
    ),
    (
        r#"asm goto("1: jmp %l0\n.pushsection __jumps, \"aw\"\n.quad 1b, %l0\n.popsection" :::: there);"#,
        Nothing,
    ),
    (
        r#"asm volatile("990: nop\n.pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n.4byte 1f-0f, 3f-2f, 3\n0: .asciz \"stapsdt\"\n1: .balign 4\n2: .8byte 990b\n3: .popsection");"#,
        Nothing,
    ),
    (
        r#"asm volatile(".intel_syntax noprefix; mov eax, 5; .att_syntax" ::: "eax");"#,
        Nothing,
    ),
    // Memory.
    (
        r#"asm volatile("xchg %0, %1" : "+r"(n), "+m"(*p) :: "memory");"#,
        Memory,
    ),
    (r#"asm volatile("lock; incl %0" : "+m"(i));"#, Memory),
    (
        r#"asm volatile("lock cmpxchgq %2, %1" : "+a"(n), "+m"(*p) : "r"(m));"#,
        Memory,
    ),
    (
        r#"asm volatile("movq %1, (%0)" :: "r"(p), "r"(n));"#,
        Memory,
    ),
    (
        r#"asm volatile("rep movsb" : "+D"(p), "+S"(q), "+c"(n) :: "memory");"#,
        Memory,
    ),
    (
        r#"asm volatile("cld; rep; stosq" : "+D"(p), "+c"(n) : "a"(0L));"#,
        Memory,
    ),
    (
        r#"asm volatile("repne scasb" : "+D"(q), "+c"(n) : "a"(0));"#,
        Memory,
    ),
    (
        r#"asm volatile("vmovdqu (%0), %%ymm0" :: "r"(p) : "xmm0");"#,
        Memory,
    ),
    (
        r#"asm volatile("movntiq %1, %0" : "=m"(*p) : "r"(n));"#,
        Memory,
    ),
    (
        r#"asm volatile("maskmovdqu %%xmm1, %%xmm0" :: "D"(p));"#,
        Memory,
    ),
    (r#"asm volatile("incl shared(%%rip)");"#, Memory),
    (r#"asm volatile("incl shared");"#, Memory),
    (r#"asm volatile("movq %%fs:0x28, %0" : "=r"(n));"#, Memory),
    (r#"asm volatile("ldmxcsr %0" :: "m"(i));"#, Memory),
    (
        r#"asm volatile("mfence; movq %1, (%0)" :: "r"(p), "r"(n));"#,
        Memory,
    ),
    // What may differ.
    (
        r#"asm volatile("int $0x80" : "+a"(i) :: "memory");"#,
        Differs("a system call by inline assembly"),
    ),
    (
        r#"asm volatile("mov $39, %%eax\n\tsyscall" : "=a"(n) :: "rcx", "r11");"#,
        Differs("a system call by inline assembly"),
    ),
    (
        r#"asm volatile("1: SYSCALL" : "=a"(n) : "a"(39L) : "rcx", "r11");"#,
        Differs("a system call by inline assembly"),
    ),
    (
        r#"asm volatile("sysenter");"#,
        Differs("a system call by inline assembly"),
    ),
    (
        r#"asm volatile("syscall" : "=a"(n), "=c"(m) : "a"(39L) : "r11");"#,
        Differs("a system call by inline assembly"),
    ),
    (
        r#"asm volatile("rdpid %0" : "=r"(n));"#,
        Differs("inline assembly: rdpid"),
    ),
    (
        r#"asm volatile("rdpmc" : "=a"(i) : "c"(0) : "edx");"#,
        Differs("inline assembly: rdpmc"),
    ),
    (
        r#"asm volatile("sgdt %0" : "=m"(*p));"#,
        Differs("inline assembly: sgdt"),
    ),
    (
        r#"asm volatile("nop; str %0" : "=r"(n));"#,
        Differs("inline assembly: str"),
    ),
    (
        r#"asm volatile("xbegin 1f; 1:" ::: "eax");"#,
        Differs("inline assembly: xbegin"),
    ),
    (r#"asm volatile("{nop|rdpid eax}" ::);"#, Nothing),
    (
        r#"asm volatile("call other" ::: "memory");"#,
        Differs("inline assembly: call"),
    ),
    (
        r#"asm volatile("jmp *%0" :: "r"(p));"#,
        Differs("inline assembly: jmp"),
    ),
    (
        r#"asm volatile(".byte 0x0f, 0x05");"#,
        Differs("inline assembly: .byte"),
    ),
    (
        r#"asm volatile("lock; .byte 0x90");"#,
        Differs("inline assembly: .byte"),
    ),
    (
        r#"asm volatile("cpuid" : "=a"(i) :: "ebx", "ecx", "edx");"#,
        Differs("inline assembly: cpuid"),
    ),
    (
        r#"asm volatile("cpuid" : "+a"(i) :: "ebx", "ecx", "edx");"#,
        Asks,
    ),
    (r#"{ unsigned a, b, c, e; __cpuid(1, a, b, c, e); }"#, Asks),
    (
        r#"{ unsigned a, b, c, e; __cpuid_count(7, 0, a, b, c, e); }"#,
        Asks,
    ),
    (
        r#"asm volatile("xgetbv" : "=a"(i) : "c"(0) : "edx");"#,
        Asks,
    ),
    (
        r#"asm volatile(".byte 0x0f, 0x01, 0xd0" : "=a"(i) : "c"(0) : "edx");"#,
        Differs("inline assembly: .byte"),
    ),
    // Intrinsics.
    (r#"n = __builtin_ia32_rdpid();"#, Differs("rdpid")),
    (r#"n = __builtin_ia32_rdpmc(0);"#, Differs("rdpmc")),
    (r#"n = __builtin_ia32_xbegin();"#, Differs("xbegin")),
    (r#"n = __builtin_ia32_xgetbv(0);"#, Asks),
    (r#"n = __builtin_ia32_rdtsc();"#, Nothing),
    (r#"__builtin_ia32_pause();"#, Nothing),
    // System calls.
    (
        r#"asm volatile("syscall" : "=a"(n) : "a"(39L) : "rcx", "r11");"#,
        Call,
    ),
    (
        r#"asm volatile("syscall\n\t" : "+a"(n) : "D"(1), "S"(q), "d"(m) : "rcx", "r11", "memory");"#,
        Call,
    ),
    (
        r#"asm volatile("syscall" : "=a"(q) : "a"(9), "D"(q), "S"(n) : "rcx", "r11");"#,
        Call,
    ),
    (
        r#"asm volatile("syscall" :: "a"(39) : "rcx", "r11");"#,
        Call,
    ),
    (
        r#"{ register long r10 asm("r10") = n, r8 asm("r8") = m; asm volatile("syscall" : "=a"(n) : "a"(9L), "r"(r10), "r"(r8) : "rcx", "r11"); }"#,
        Call,
    ),
];

/// Statements in the other dialect.
const IN_INTEL: &[(&str, Told)] = &[
    (
        r#"asm volatile("mov eax, 5; add rax, rbx; xor r8d, r8d" ::: "rax", "r8");"#,
        Nothing,
    ),
    (r#"asm volatile("mov %0, rsp" : "=r"(n));"#, Nothing),
    (r#"asm volatile("paddd xmm0, xmm1" ::: "xmm0");"#, Nothing),
    (r#"asm volatile("{rdpid %%rax|nop}" ::: "rax");"#, Nothing),
    (r#"asm volatile("1: dec %0; jnz 1b" : "+r"(n));"#, Nothing),
    (
        r#"asm volatile("lock or dword ptr [rsp], 0" ::: "memory");"#,
        Fence,
    ),
    (
        r#"asm volatile("mov eax, dword ptr [rdi]" ::: "rax");"#,
        Memory,
    ),
    (
        r#"asm volatile("inc dword ptr shared" ::: "memory");"#,
        Memory,
    ),
    (
        r#"asm volatile("rep stosb" ::: "memory", "rdi", "rcx");"#,
        Memory,
    ),
    (
        r#"asm volatile("rdpid rax" ::: "rax");"#,
        Differs("inline assembly: rdpid"),
    ),
    (
        r#"asm volatile("syscall" : "=a"(n) : "a"(39L) : "rcx", "r11");"#,
        Call,
    ),
];

/// What the listing says of each of so many functions.
fn told(listing: &str, count: usize) -> Vec<Vec<String>> {
    let of = |name: &str| {
        let head = format!("@{name}(");
        let body = listing.split("\n}\n").find_map(|part| {
            part.lines()
                .position(|line| line.starts_with("define") && line.contains(&head))
                .map(|at| (part, at))
        });
        let (part, at) = body.unwrap_or_else(|| panic!("no {name} in {listing}"));
        let lines = part.lines().skip(at);
        let calls =
            lines.filter(|line| line.contains("@raddle_asm(") || line.contains("@syscall("));
        calls.map(str::to_owned).collect::<Vec<String>>()
    };
    (0..count).map(|n| of(&format!("f{n}"))).collect()
}

fn agrees(expected: Told, calls: &[String]) -> bool {
    let is = |text: &str| matches!(calls, [one] if one.contains(text));
    match expected {
        Nothing => calls.is_empty(),
        Fence => is("@raddle_asm(i32 0,"),
        Memory => is("@raddle_asm(i32 1,"),
        Differs(name) => is("@raddle_asm(i32 2,") && is(&format!("raddle_text.{name}")),
        Asks => is("@raddle_asm(i32 3,") || is("@raddle_asm(i32 4,"),
        // Some stay where they are, unless the number is known.
        Call => {
            let is_call = |call: &&String| call.contains("@syscall(");
            let stays = |call: &&String| call.contains("a system call by inline assembly");
            let (made, stay) = (calls.iter().filter(is_call), calls.iter().filter(stays));
            made.count() == 1 && stay.count() == calls.len() - 1
        }
    }
}

#[test]
fn what_may_differ_is_told_from_what_cannot() {
    let mut wrong = Vec::new();
    for (cases, options) in [(CASES, &[][..]), (IN_INTEL, INTEL)] {
        for level in ["-O0", "-O1"] {
            let mut text = "#include <cpuid.h>\n#include <immintrin.h>\nint shared;\n".to_owned();
            for (number, (statement, _)) in cases.iter().enumerate() {
                let _ = writeln!(
                    text,
                    "void f{number}(long n, long m, long *p, char *q, double d, __m128i x, int i) \
                     {{ {statement} there:; }}"
                );
            }
            let workshop = Workshop::new();
            let (source, output) = (workshop.write("text.c", &text), workshop.path("text.ll"));
            let mut command = compile_only(&source);
            command.args([
                "-S",
                "-emit-llvm",
                "-w",
                "-mrtm",
                "-mrdpid",
                "-mxsave",
                level,
            ]);
            succeed(command.args(options).arg("-o").arg(&output));
            let listing = std::fs::read_to_string(output).expect("clang wrote it");
            // Quoted, where it holds more than letters.
            let listing = listing.replace("\\22", "\"");
            for ((statement, expected), calls) in cases.iter().zip(told(&listing, cases.len())) {
                if !agrees(*expected, &calls) {
                    wrong.push(format!("{level} {statement}: {expected:?}, {calls:#?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
