package sandbox

// Watch is what bounds the memory where the kernel does not.
func Watch(memory uint64) { watch(memory) }
