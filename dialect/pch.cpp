// Holds the precompiled header that the compiler side shares.
