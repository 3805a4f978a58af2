// It says nothing about itself.
assert(true);
