// An assembly file, however empty, lets the package declare functions that are defined elsewhere.
