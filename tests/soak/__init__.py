"""`python -m tests.soak --minutes 10`: many write to the log while whatever runs is killed; then it has to be clean."""
