-- Format 1 of the corpus. Times are seconds since 1970. 64-bit numbers without sign (seeds, hashes)
-- are kept as the signed number of the same bits.

-- What is tested, whatever its build: pairs and findings belong to it and survive a rebuild.
CREATE TABLE program (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    executions INTEGER NOT NULL DEFAULT 0,
    -- Executions whose events were looked at for pairs.
    recorded INTEGER NOT NULL DEFAULT 0
) STRICT;

-- One content of the program and of the libraries that belong to it, under one set of arguments,
-- standard input and options that change what happens in an execution.
CREATE TABLE test (
    id INTEGER PRIMARY KEY,
    program INTEGER NOT NULL REFERENCES program,
    build TEXT NOT NULL,
    circumstances TEXT NOT NULL,
    command TEXT NOT NULL,
    first_used INTEGER NOT NULL,
    last_used INTEGER NOT NULL,
    executions INTEGER NOT NULL DEFAULT 0,
    -- Different interleavings in `schedule`, and executions that found it full.
    schedules INTEGER NOT NULL DEFAULT 0,
    not_kept INTEGER NOT NULL DEFAULT 0,
    UNIQUE (program, build, circumstances)
) STRICT;

-- The executions of one search: of a sampling policy and its seed those from 0 on, of an exhaustive
-- policy as far as `frontier`.
CREATE TABLE series (
    id INTEGER PRIMARY KEY,
    test INTEGER NOT NULL REFERENCES test,
    policy TEXT NOT NULL,
    seed INTEGER NOT NULL,
    -- The first number that was never handed out.
    next INTEGER NOT NULL DEFAULT 0,
    executions INTEGER NOT NULL DEFAULT 0,
    -- Steps of the longest execution: PCT's change points depend on it.
    longest INTEGER NOT NULL DEFAULT 0,
    -- With --same-output: hash of the output of the first execution.
    expected_output INTEGER,
    -- What an exhaustive search has yet to do: how many executions it counts as done, then in its own
    -- form what it knows.
    frontier BLOB,
    -- The run that may write `frontier`.
    owner INTEGER,
    -- JSON of what an exhaustive search claimed at its end.
    verdict TEXT,
    concluded INTEGER,
    UNIQUE (test, policy, seed)
) STRICT;

-- One use of `raddle run`. While it lives it holds a lock on byte `id` of the file `locks`.
CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    series INTEGER NOT NULL REFERENCES series,
    started INTEGER NOT NULL,
    ended INTEGER,
    executions INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Numbers of executions that a run has taken for itself: from `start`, which are not done yet, to
-- before `stop`. Those of a run that is gone can be taken again.
CREATE TABLE lease (
    id INTEGER PRIMARY KEY,
    series INTEGER NOT NULL REFERENCES series,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    run INTEGER
) STRICT;

-- Interleavings by a hash of the steps taken.
CREATE TABLE schedule (
    test INTEGER NOT NULL REFERENCES test,
    hash INTEGER NOT NULL,
    seen INTEGER NOT NULL,
    PRIMARY KEY (test, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE statement (
    id INTEGER PRIMARY KEY,
    file TEXT NOT NULL,
    function TEXT NOT NULL,
    line INTEGER NOT NULL,
    -- JSON of the calls that led to it, where a search keeps those apart; else empty.
    context TEXT NOT NULL,
    UNIQUE (file, function, line, context)
) STRICT;

-- Predecessor pairs: `seen` in so many recorded executions, first after so many executions of the
-- program.
CREATE TABLE pair (
    program INTEGER NOT NULL REFERENCES program,
    before INTEGER NOT NULL REFERENCES statement,
    after INTEGER NOT NULL REFERENCES statement,
    seen INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    PRIMARY KEY (program, before, after)
) STRICT, WITHOUT ROWID;

CREATE TABLE finding (
    id INTEGER PRIMARY KEY,
    program INTEGER NOT NULL REFERENCES program,
    fingerprint TEXT NOT NULL,
    class TEXT NOT NULL,
    message TEXT NOT NULL,
    seen INTEGER NOT NULL,
    first_seen INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    policy TEXT NOT NULL,
    seed INTEGER NOT NULL,
    -- Number of the execution in its series, from 1.
    execution INTEGER NOT NULL,
    preemptions INTEGER NOT NULL,
    -- Where the witness was written, and its content.
    path TEXT,
    witness BLOB NOT NULL,
    UNIQUE (program, fingerprint)
) STRICT;

-- Which series saw which finding, so that a remembered verdict can name it.
CREATE TABLE sighting (
    series INTEGER NOT NULL REFERENCES series,
    finding INTEGER NOT NULL REFERENCES finding,
    seen INTEGER NOT NULL,
    PRIMARY KEY (series, finding)
) STRICT, WITHOUT ROWID;
