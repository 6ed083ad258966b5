//! What the text of inline assembly (x86-64, either dialect) does.

/// What inline assembly does, the later the more.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Does {
    /// Its results follow from registers alone, or from what raddle controls (time stamps and random
    /// numbers of the processor), and it accesses no memory but its own stack.
    Nothing,
    /// The same, and it keeps accesses of memory in order.
    Fence,
    /// It may access memory that others see.
    Accesses,
    /// `xgetbv`: which number is asked for decides.
    AsksState,
    /// `cpuid`: the same.
    AsksProcessor,
    /// It may do something else in another execution: this instruction may, or nobody knows what it does.
    Differs(String),
}

/// Instructions whose results follow from registers and memory alone, without the suffix for the size of
/// operands.
const KNOWN: &str = "mov movd movz movs movabs movbe movsx movsxd movzx add sub adc sbb inc dec neg not and or \
    xor andn shl shr sar sal shld shrd rol ror rcl rcr shlx shrx sarx rorx mul imul div idiv mulx adcx adox \
    cmp test bt bts btr btc bsf bsr bswap popcnt lzcnt tzcnt blsi blsr blsmsk bextr bzhi pdep pext xchg \
    xadd cmpxchg cmpxchg8b cmpxchg16b crc32 cld std clc stc cmc clt lahf sahf cqto cltq cltd cwtl cwtd cbtw \
    cbw cwd cwde cdq cdqe cqo ud2 int3 lock rep repe repz repne repnz notrack data16 emms leave push pop \
    pushf rdtsc rdtscp rdrand rdseed rdfsbase rdgsbase ldmxcsr stmxcsr";

/// The same of floating point on its stack, with the suffix `s`, `l`, `ll`, `t` or `q`.
const FLOATING: &str = "fld fst fstp fild fist fistp fisttp fbld fbstp fadd faddp fiadd fsub fsubp fsubr fsubrp \
    fisub fmul fmulp fimul fdiv fdivp fdivr fdivrp fidiv fsqrt fsin fcos fsincos fptan fpatan fprem fprem1 \
    fscale fxtract f2xm1 fyl2x fyl2xp1 frndint fabs fchs fxch fcom fcomp fcompp fcomi fcomip fucom fucomp \
    fucompp fucomi fucomip ftst fxam fnop fincstp fdecstp ffree fldz fld1 fldpi fldl2e fldl2t fldlg2 fldln2 \
    fcmovb fcmove fcmovbe fcmovu fcmovnb fcmovne fcmovnbe fcmovnu fstsw fnstsw fstcw fnstcw fldcw fwait wait";

/// Those that do nothing where their operands lead.
const WITHOUT_ACCESS: &str = "lea nop pause endbr64 prefetch prefetcht0 prefetcht1 prefetcht2 prefetchnta \
    prefetchw prefetchwt1 clflush clflushopt clwb cldemote";

/// Those that go on at a label.
const JUMPS: &str = "jmp loop loope loopne loopz loopnz jcxz jecxz jrcxz";

const FENCES: &str = "mfence lfence sfence";

/// Those that access memory without an operand that shows it.
const STRINGS: &str = "movs stos lods cmps scas";

/// Names that go on with a condition.
const CONDITIONAL: [&str; 2] = ["set", "cmov"];

const CONDITIONS: &str =
    "o no b c nae nb nc ae z e nz ne be na nbe a s ns p pe np po l nge nl ge le ng nle g";

/// How instructions on vectors begin that work on registers, or on the memory of their operands. All that
/// begin with a v are, but for [`OTHER_THAN_VECTORS`].
const VECTORS: &str = "v padd psub pmul pmadd pcmp pack punpck pand por pxor psll psrl psra pshuf palign \
    pabs psign phadd phsub phmin pmax pmin pmov pextr pinsr pavg psad ptest pblend pclmul movap movup movdq \
    movhlp movlhp movhp movlp movmsk movnt movss movsd movddup movshdup movsldup cvt aes sha gf2p8 kmov kand \
    kor kxor kxnor knot kadd ktest kshift kunpck mpsadbw lddqu comis ucomis unpck shuf blend round insertps \
    extractps insertq extrq pi2f pf2i pfadd pfsub pfmul pfcmp pfmax pfmin pfrcp pfrsq pswap";

/// Those with a suffix for the kind of numbers (`ss`, `sd`, `ps`, `pd`).
const ARITHMETIC: &str =
    "add sub mul div sqrt rcp rsqrt max min and andn or xor cmp hadd hsub addsub dp";

const OTHER_THAN_VECTORS: &str = "verr verw vmcall vmlaunch vmresume vmread vmwrite vmxoff vmxon vmclear \
    vmptrld vmptrst vmfunc vmrun vmload vmsave vmmcall vmgexit vmaskmovdqu";

/// Directives that neither are code nor change what follows.
const DIRECTIVES: &str = "align balign p2align globl global local weak hidden protected internal type size \
    symver set equ loc file ident if ifdef ifndef ifc ifnc ifb ifnb else endif altmacro noaltmacro endm endr \
    purgem rept irp irpc comdat addrsig addrsig_sym subsection";

/// Directives that put bytes there, which are instructions where code is.
const BYTES: &str = "byte word short value hword long int quad octa 2byte 4byte 8byte ascii asciz string \
    zero skip space fill org reloc uleb128 sleb128 float double single";

/// What this text does. `operands`: those of its operands that are memory, by number.
pub fn does(text: &str, intel: bool, operands: &[bool]) -> Does {
    let text = variant(text, intel);
    let text = without_modifiers(&text);
    let lines = without_comments(&text);
    let statements = lines.split(['\n', ';', '\r']).map(str::trim);
    let statements: Vec<&str> = statements.collect();
    let mut reader = Reader {
        intel,
        operands,
        data: false,
        around: Vec::new(),
        labels: statements.iter().filter_map(|one| label(one)).collect(),
        macros: statements.iter().filter_map(|one| defined(one)).collect(),
        prefix: None,
    };
    let all = statements
        .iter()
        .map(|statement| reader.statement(statement));
    let all: Vec<Does> = all.collect();
    let asks = |one: &Does| matches!(one, Does::AsksState | Does::AsksProcessor);
    let questions = all.iter().filter(|one| asks(one)).count();
    match all.iter().find(|one| matches!(one, Does::Differs(_))) {
        Some(first) => first.clone(),
        // Which numbers are asked for is known of the only question.
        None if questions > 1 || questions > 0 && all.contains(&Does::Accesses) => Does::Differs(
            if all.contains(&Does::AsksProcessor) {
                "cpuid"
            } else {
                "xgetbv"
            }
            .into(),
        ),
        None => all.into_iter().max().unwrap_or(Does::Nothing),
    }
}

/// The text for one dialect: of `$(a$|b$)` one part.
fn variant(text: &str, intel: bool) -> String {
    let (mut kept, mut rest) = (String::new(), text);
    // `None`: outside.
    let mut part = None;
    while let Some(c) = rest.chars().next() {
        let is = |sign: &str| rest.starts_with(sign);
        let wanted = part.is_none_or(|part| part == usize::from(intel));
        let taken = match part {
            _ if is("$$") => 2,
            None if is("$(") => {
                part = Some(0);
                rest = &rest[2..];
                continue;
            }
            Some(n) if is("$|") => {
                part = Some(n + 1);
                rest = &rest[2..];
                continue;
            }
            Some(_) if is("$)") => {
                part = None;
                rest = &rest[2..];
                continue;
            }
            _ => c.len_utf8(),
        };
        if wanted {
            kept.push_str(&rest[..taken]);
        }
        rest = &rest[taken..];
    }
    kept
}

/// `${0:q}` is `$0`, and a number of its own (`${:uid}`) is one.
fn without_modifiers(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        kept.push_str(before);
        let (inside, behind) = after.split_once('}').unwrap_or((after, ""));
        match inside.split_once(':') {
            Some(("", "uid")) => kept.push('0'),
            Some(("", "comment")) => kept.push('#'),
            Some(("", "private")) => kept.push_str(".L"),
            Some((number, _)) => kept.extend(["$", number]),
            None => kept.extend(["$", inside]),
        }
        rest = behind;
    }
    kept + rest
}

fn without_comments(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        kept.extend([before, " "]);
        rest = comment.split_once("*/").map_or("", |(_, behind)| behind);
    }
    kept.push_str(rest);
    let lines = kept.split('\n').map(|line| {
        let end = ["#", "//"].into_iter().filter_map(|sign| line.find(sign));
        &line[..end.min().unwrap_or(line.len())]
    });
    lines.collect::<Vec<&str>>().join("\n")
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_.$@\\".contains(c))
}

/// The label that a statement begins with, and what follows it.
fn labelled(statement: &str) -> Option<(&str, &str)> {
    let (label, rest) = statement.split_once(':')?;
    let label = label.trim();
    is_name(label).then_some((label, rest.trim()))
}

fn label(statement: &str) -> Option<String> {
    labelled(statement).map(|(label, _)| label.to_owned())
}

/// The macro that it begins.
fn defined(statement: &str) -> Option<String> {
    let rest = statement.strip_prefix(".macro")?;
    let name = rest.split([' ', '\t', ',']).find(|word| !word.is_empty())?;
    Some(name.to_ascii_lowercase())
}

fn is_among(list: &str, name: &str) -> bool {
    list.split_whitespace().any(|one| one == name)
}

/// Is the name in the list, or one that is there with a suffix for the size of operands?
fn is_sized(list: &str, name: &str) -> bool {
    let without_size = name.strip_suffix(['b', 'w', 'l', 'q']);
    // An extending move has two sizes.
    let twice = without_size.and_then(|name| name.strip_suffix(['b', 'w', 'l']));
    let twice = twice.filter(|name| ["movs", "movz"].contains(name));
    let names = [Some(name), without_size, twice];
    names.into_iter().flatten().any(|name| is_among(list, name))
}

fn is_conditional(name: &str) -> bool {
    let is_condition = |rest: &str| {
        is_among(CONDITIONS, rest)
            || rest
                .strip_suffix(['b', 'w', 'l', 'q'])
                .is_some_and(|rest| is_among(CONDITIONS, rest))
    };
    let mut rest = CONDITIONAL
        .iter()
        .filter_map(|start| name.strip_prefix(start));
    rest.any(is_condition)
}

fn is_vector(name: &str) -> bool {
    let begins = VECTORS
        .split_whitespace()
        .any(|start| name.starts_with(start));
    let number = ["ss", "sd", "ps", "pd"]
        .into_iter()
        .find_map(|kind| name.strip_suffix(kind));
    // A comparison has its predicate before that.
    let arithmetic = |start: &str| is_among(ARITHMETIC, start) || start.starts_with("cmp");
    (begins || number.is_some_and(arithmetic)) && !is_among(OTHER_THAN_VECTORS, name)
}

fn is_jump(name: &str) -> bool {
    is_among(JUMPS, name)
        || name
            .strip_prefix('j')
            .is_some_and(|condition| is_among(CONDITIONS, condition))
}

/// Where an operand lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lies {
    Register,
    Stack,
    Memory,
}

struct Reader<'a> {
    intel: bool,
    operands: &'a [bool],
    /// What follows is no code.
    data: bool,
    /// The same, of the sections that were left for a while.
    around: Vec<bool>,
    labels: Vec<String>,
    macros: Vec<String>,
    /// A prefix that stands alone.
    prefix: Option<String>,
}

impl Reader<'_> {
    fn statement(&mut self, statement: &str) -> Does {
        let mut rest = statement;
        while let Some((_, after)) = labelled(rest) {
            rest = after;
        }
        let (name, operands) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let (name, operands) = (name.to_ascii_lowercase(), operands.trim());
        if name.is_empty() {
            return Does::Nothing;
        }
        if let Some(directive) = name.strip_prefix('.') {
            return self.directive(directive, operands);
        }
        // `name = value`.
        if operands.starts_with('=') || self.macros.contains(&name) {
            return Does::Nothing;
        }
        let braces = name.starts_with('{') && name.ends_with('}');
        let is_prefix = [
            "lock", "rep", "repe", "repz", "repne", "repnz", "notrack", "data16",
        ];
        if is_prefix.contains(&name.as_str()) || braces {
            self.prefix = Some(name.clone());
            return match operands {
                "" => Does::Nothing,
                rest => self.statement(rest),
            };
        }
        let prefix = self.prefix.take();
        self.instruction(prefix.as_deref(), &name, operands)
    }

    fn directive(&mut self, name: &str, operands: &str) -> Does {
        let is_data = |section: &str| {
            let section = section.trim_start_matches(['"', ' ']);
            !section.starts_with(".text") && !section.starts_with(".init")
        };
        match name {
            "pushsection" => {
                self.around.push(self.data);
                self.data = is_data(operands);
            }
            "section" => {
                self.around.push(self.data);
                self.data = is_data(operands);
            }
            "popsection" | "previous" => self.data = self.around.pop().unwrap_or(false),
            "text" => self.data = false,
            "data" | "bss" | "rodata" => self.data = true,
            "intel_syntax" => self.intel = true,
            "att_syntax" => self.intel = false,
            "macro" => {}
            _ if name.starts_with("cfi_") || is_among(DIRECTIVES, name) => {}
            _ if self.data && is_among(BYTES, name) => {}
            _ => return Does::Differs(format!(".{name}")),
        }
        Does::Nothing
    }

    fn instruction(&self, prefix: Option<&str>, name: &str, operands: &str) -> Does {
        let operands = split(operands);
        let lie = || operands.iter().map(|operand| self.lies(operand));
        let is_memory = || lie().any(|one| one == Lies::Memory);
        if is_among(FENCES, name) {
            return Does::Fence;
        }
        if is_jump(name) {
            return match operands.as_slice() {
                [to] if self.is_label(to) => Does::Nothing,
                _ => Does::Differs(name.into()),
            };
        }
        if is_sized(WITHOUT_ACCESS, name) {
            return Does::Nothing;
        }
        match name {
            "cpuid" => return Does::AsksProcessor,
            "xgetbv" => return Does::AsksState,
            _ => {}
        }
        // With other operands these are moves and comparisons.
        let explicit = operands.len() > 1 && !is_memory();
        let is_string = ["b", "w", "l", "q", "d"]
            .into_iter()
            .filter_map(|size| name.strip_suffix(size))
            .any(|stem| is_among(STRINGS, stem));
        if is_string && !explicit
            || ["maskmovq", "maskmovdqu", "vmaskmovdqu", "xlat", "xlatb"].contains(&name)
        {
            return Does::Accesses;
        }
        let floating = is_among(FLOATING, name)
            || is_among(FLOATING, name.trim_end_matches(['s', 'l', 't', 'q']));
        let known = is_sized(KNOWN, name) || is_conditional(name) || is_vector(name) || floating;
        if !known {
            return Does::Differs(name.into());
        }
        let locked = prefix == Some("lock") || name.starts_with("xchg");
        match is_memory() {
            true => Does::Accesses,
            false if locked && lie().any(|one| one == Lies::Stack) => Does::Fence,
            false => Does::Nothing,
        }
    }

    fn is_label(&self, operand: &str) -> bool {
        let local = operand.trim_end_matches(['b', 'f']);
        let numbered = local.len() < operand.len() && local.chars().all(|c| c.is_ascii_digit());
        // A label that the compiler gives, but no register that leads there.
        let given = operand
            .strip_prefix('$')
            .and_then(|number| number.parse::<usize>().ok())
            .is_some_and(|number| number >= self.operands.len());
        numbered || given || self.labels.iter().any(|label| label == operand)
    }

    fn lies(&self, operand: &str) -> Lies {
        let stack = ["rsp", "esp"].into_iter().any(|base| {
            let att = operand.ends_with(&format!("(%{base})"));
            att || self.intel && operand.contains(&format!("[{base}"))
        });
        if stack {
            return Lies::Stack;
        }
        let number = operand.strip_prefix('$');
        if let Some(number) = number.and_then(|number| number.parse::<usize>().ok()) {
            return match self.operands.get(number) {
                Some(true) => Lies::Memory,
                _ => Lies::Register,
            };
        }
        // What leads to the thread's own storage, and is there to name it.
        let own = ["%fs:0", "%fs:0x0", "fs:0", "fs:[0]", "fs:0x0"]
            .contains(&operand.trim_start_matches("qword ptr "));
        if own || operand.starts_with("$$") || operand.starts_with("%st") {
            return Lies::Register;
        }
        let is_memory = match self.intel {
            true => {
                operand.contains(['[', ':'])
                    || operand.contains(" ptr ")
                    || !(is_register(operand)
                        || operand.starts_with(|c: char| c.is_ascii_digit() || "-($".contains(c))
                        || operand.starts_with("offset "))
            }
            false => operand.contains(['(', ':']) || !operand.starts_with(['%', '$', '{']),
        };
        match is_memory {
            true => Lies::Memory,
            false => Lies::Register,
        }
    }
}

/// Is this the name of a register, as the dialect without signs has it?
fn is_register(name: &str) -> bool {
    let name = name.trim_start_matches('%').to_ascii_lowercase();
    let general = "a b c d si di bp sp";
    let stem = name.trim_start_matches(['r', 'e']);
    let legacy = is_among(general, stem)
        || stem
            .strip_suffix(['x', 'l', 'h'])
            .is_some_and(|stem| is_among(general, stem));
    let numbered = ["r", "xmm", "ymm", "zmm", "mm", "k", "st"]
        .into_iter()
        .any(|start| {
            let rest = name.strip_prefix(start);
            rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        });
    legacy || numbered || name == "st" || name == "fs" || name == "gs"
}

/// The operands, between commas that are in no parentheses.
fn split(operands: &str) -> Vec<&str> {
    let (mut depth, mut from, mut all) = (0, 0, Vec::new());
    for (at, c) in operands.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                all.push(operands[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    let last = operands[from..].trim();
    all.extend((!last.is_empty()).then_some(last));
    all
}
