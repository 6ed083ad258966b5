//! Requests of ioctl and commands of fcntl (x86-64).

/// Requests of ioctl that only ask.
pub const QUESTIONS: &[i32] = &[
    TCGETS, TIOCGWINSZ, TIOCGSID, TIOCGPGRP, FIONREAD, TIOCOUTQ, FIOQSIZE,
];

/// Those that ask a terminal (ioctl_tty(2)).
pub const TERMINAL_QUESTIONS: &[i32] = &[
    TCGETS,
    TCGETA,
    TCGETS2,
    TIOCGPGRP,
    TIOCOUTQ,
    TIOCGWINSZ,
    TIOCMGET,
    TIOCGSOFTCAR,
    TIOCGSERIAL,
    TIOCGETD,
    TIOCGSID,
    TIOCGRS485,
    TIOCGPKT,
    TIOCGPTLCK,
    TIOCGEXCL,
    TIOCGLCKTRMIOS,
];
/// Those that change it.
pub const TERMINAL_ORDERS: &[i32] = &[
    TCSETS,
    TCSETSW,
    TCSETSF,
    TCSETA,
    TCSETAW,
    TCSETAF,
    TCSETS2,
    TCSETSW2,
    TCSETSF2,
    TCSBRK,
    TCSBRKP,
    TCXONC,
    TCFLSH,
    TIOCEXCL,
    TIOCNXCL,
    TIOCSCTTY,
    TIOCNOTTY,
    TIOCSPGRP,
    TIOCSTI,
    TIOCSWINSZ,
    TIOCMBIS,
    TIOCMBIC,
    TIOCMSET,
    TIOCSSOFTCAR,
    TIOCLINUX,
    TIOCCONS,
    TIOCSSERIAL,
    TIOCPKT,
    TIOCSETD,
    TIOCSBRK,
    TIOCCBRK,
    TIOCSRS485,
    TIOCSPTLCK,
    TIOCSIG,
    TIOCVHANGUP,
    TIOCSLCKTRMIOS,
];

// Requests of ioctl.
pub const TCGETS: i32 = 0x5401;
pub const TCSETS: i32 = 0x5402;
pub const TCSETSW: i32 = 0x5403;
pub const TCSETSF: i32 = 0x5404;
pub const TCGETA: i32 = 0x5405;
pub const TCSETA: i32 = 0x5406;
pub const TCSETAW: i32 = 0x5407;
pub const TCSETAF: i32 = 0x5408;
pub const TCSBRK: i32 = 0x5409;
pub const TCXONC: i32 = 0x540a;
pub const TCFLSH: i32 = 0x540b;
pub const TIOCEXCL: i32 = 0x540c;
pub const TIOCNXCL: i32 = 0x540d;
pub const TIOCSCTTY: i32 = 0x540e;
pub const TIOCGPGRP: i32 = 0x540f;
pub const TIOCSPGRP: i32 = 0x5410;
pub const TIOCOUTQ: i32 = 0x5411;
pub const TIOCSTI: i32 = 0x5412;
pub const TIOCGWINSZ: i32 = 0x5413;
pub const TIOCSWINSZ: i32 = 0x5414;
pub const TIOCMGET: i32 = 0x5415;
pub const TIOCMBIS: i32 = 0x5416;
pub const TIOCMBIC: i32 = 0x5417;
pub const TIOCMSET: i32 = 0x5418;
pub const TIOCGSOFTCAR: i32 = 0x5419;
pub const TIOCSSOFTCAR: i32 = 0x541a;
pub const FIONREAD: i32 = 0x541b;
pub const TIOCLINUX: i32 = 0x541c;
pub const TIOCCONS: i32 = 0x541d;
pub const TIOCGSERIAL: i32 = 0x541e;
pub const TIOCSSERIAL: i32 = 0x541f;
pub const TIOCPKT: i32 = 0x5420;
pub const TIOCNOTTY: i32 = 0x5422;
pub const TIOCSETD: i32 = 0x5423;
pub const TIOCGETD: i32 = 0x5424;
pub const TCSBRKP: i32 = 0x5425;
pub const TIOCSBRK: i32 = 0x5427;
pub const TIOCCBRK: i32 = 0x5428;
pub const TIOCGSID: i32 = 0x5429;
pub const TCGETS2: i32 = 0x802c_542a_u32 as i32;
pub const TCSETS2: i32 = 0x402c_542b;
pub const TCSETSW2: i32 = 0x402c_542c;
pub const TCSETSF2: i32 = 0x402c_542d;
pub const TIOCGRS485: i32 = 0x542e;
pub const TIOCSRS485: i32 = 0x542f;
pub const TIOCSPTLCK: i32 = 0x4004_5431;
pub const TIOCSIG: i32 = 0x4004_5436;
pub const TIOCVHANGUP: i32 = 0x5437;
pub const TIOCGPKT: i32 = 0x8004_5438_u32 as i32;
pub const TIOCGPTLCK: i32 = 0x8004_5439_u32 as i32;
pub const TIOCGEXCL: i32 = 0x8004_5440_u32 as i32;
pub const FIONCLEX: i32 = 0x5450;
pub const FIOCLEX: i32 = 0x5451;
pub const TIOCGLCKTRMIOS: i32 = 0x5456;
pub const TIOCSLCKTRMIOS: i32 = 0x5457;
pub const FIOQSIZE: i32 = 0x5460;

// Commands of fcntl.
pub const F_DUPFD: i32 = 0;
pub const F_SETFD: i32 = 2;
pub const F_GETFL: i32 = 3;
pub const F_GETLK: i32 = 5;
pub const F_SETLK: i32 = 6;
pub const F_SETLKW: i32 = 7;
pub const F_SETFL: i32 = 4;
pub const F_SETOWN: i32 = 8;
pub const F_GETOWN: i32 = 9;
pub const F_SETSIG: i32 = 10;
pub const F_GETSIG: i32 = 11;
pub const F_SETOWN_EX: i32 = 15;
pub const F_GETOWN_EX: i32 = 16;
pub const F_OFD_GETLK: i32 = 36;
pub const F_OFD_SETLK: i32 = 37;
pub const F_OFD_SETLKW: i32 = 38;
pub const F_SETLEASE: i32 = 1024;
pub const F_GETLEASE: i32 = 1025;
pub const F_DUPFD_CLOEXEC: i32 = 1030;
pub const F_SETPIPE_SZ: i32 = 1031;
pub const F_GETPIPE_SZ: i32 = 1032;
pub const F_ADD_SEALS: i32 = 1033;
pub const F_GET_SEALS: i32 = 1034;
