//go:build !linux

package sandbox

// confine does nothing where the kernel offers nothing that holds: the process alone keeps a
// crash away from the server.
func confine(uint64) (string, error) { return "a process of its own", nil }
