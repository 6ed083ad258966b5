//! Inline assembly: does it do the same in every execution?

use crate::ir::Value;

/// Instructions whose results follow from registers and memory alone, or that raddle controls (time
/// stamps and random numbers of the processor). Those with a suffix for the size of their operands are
/// here without it.
const KNOWN: &str = "mov movz movs movabs movq movd lea add sub adc sbb inc dec neg not and or xor andn \
    shl shr sar sal shld shrd rol ror rcl rcr shlx shrx sarx rorx mul imul div idiv mulx adcx adox \
    cmp test bt bts btr btc bsf bsr bswap popcnt lzcnt tzcnt blsi blsr blsmsk bextr bzhi pdep pext \
    xchg xadd cmpxchg cmpxchg8b cmpxchg16b push pop nop pause mfence lfence sfence cld std clc stc cmc \
    cltq cqto cltd cwtl cwtd cbtw cdq cqo cdqe cwde lods stos scas cmps rep repe repz repne repnz lock \
    crc32 prefetcht0 prefetcht1 prefetcht2 prefetchnta prefetchw clflush clflushopt clwb jmp call ret \
    ud2 int3 emms rdtsc rdtscp rdrand rdseed";

/// Their names go on with a condition.
const CONDITIONAL: [&str; 3] = ["j", "set", "cmov"];

const CONDITIONS: &str =
    "o no b c nae nb nc ae z e nz ne be na nbe a s ns p pe np po l nge nl ge le ng nle g";

/// May this inline assembly do something else in another execution? It may where it holds an instruction
/// that is not among the [`KNOWN`].
pub fn may_differ(call: Value) -> bool {
    let assembly = call.callee().as_inline_asm();
    assembly.is_some_and(|assembly| differs(&assembly.asm_text()))
}

fn differs(text: &str) -> bool {
    let statements = text.split(['\n', ';']);
    statements
        .flat_map(instructions)
        .any(|name| !is_known(&name.to_ascii_lowercase()))
}

/// The names of the instructions in a statement: prefixes, too, which stand before others.
fn instructions(statement: &str) -> Vec<&str> {
    let code = statement.split('#').next().unwrap_or_default();
    let mut words = code
        .split_whitespace()
        .skip_while(|word| word.ends_with(':'));
    let mut names = Vec::new();
    for word in words.by_ref() {
        names.push(word);
        let is_prefix = word == "lock" || word.starts_with("rep");
        if !is_prefix {
            break;
        }
    }
    names
}

fn is_known(name: &str) -> bool {
    let is_listed = |list: &str, name: &str| list.split_whitespace().any(|one| one == name);
    let without_size = name.strip_suffix(['b', 'w', 'l', 'q']);
    // An extending move has two sizes.
    let twice = without_size.and_then(|name| name.strip_suffix(['b', 'w', 'l']));
    let plain = [Some(name), without_size, twice];
    plain.into_iter().flatten().any(|name| {
        let mut rest = CONDITIONAL
            .iter()
            .filter_map(|start| name.strip_prefix(start));
        is_listed(KNOWN, name) || rest.any(|condition| is_listed(CONDITIONS, condition))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_differ_is_told_from_what_cannot() {
        for text in [
            "",
            "nop",
            "lock; incl $0",
            "lock cmpxchgq $1, $0",
            "1: movzbl $1, $0\n\tjne 1b",
            "rep stosb",
            "setne $0 # the flag: syscall",
            "cmovaeq $1, $0",
            "mfence",
            "rdtsc",
        ] {
            assert!(!differs(text), "{text}");
        }
        for text in [
            "syscall",
            "sysenter",
            "int $$0x80",
            "cpuid",
            "rdpid $0",
            "rdpmc",
            "xgetbv",
            "mov $1, %rax\n\tsyscall",
            "nop; syscall",
            "1: syscall",
            "vmovdqu (%rdi), %ymm0",
            "{rdpmc|rdpmc}",
            ".byte 0x0f, 0x05",
            "lock syscall",
            "SYSCALL",
        ] {
            assert!(differs(text), "{text}");
        }
    }
}
