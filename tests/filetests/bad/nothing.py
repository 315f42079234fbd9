# A file without a function.
N = 3
