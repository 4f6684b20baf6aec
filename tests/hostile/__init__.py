"""A hostile user: cases drawn at random, each run in a child process so that a crash or a hang is noticed.

    python -m tests.hostile                                              a minute: what CI runs
    python -m tests.hostile --cases 10000 --files 10000 --kills 100      the long run; other kinds as in CI
    python -m tests.hostile --only cases:4711 --seed 0                   one case, as the report names it
    python -m tests.hostile --only cases --cases 1000 --in-process       for sanitizers: LD_PRELOAD=libasan.so
    python -m tests.hostile memory --minutes 10                          resident memory of each family

A kind of cases is a module with `run(number, seed, folder)`, which returns a line about the outcome or raises
`rules.Failure`. Everything in a case follows from its number and the seed.
"""
