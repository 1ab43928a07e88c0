// Package memguard keeps a process within the memory that it has. It knows the limit of the container,
// which pieces of work hold how much, and ends the largest of them before the kernel ends all of them.
//
// What work holds is what is booked for it: sizes of what it has read. What a library makes of that is
// not booked, and not seen here.
package memguard

import (
	"bytes"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

const (
	// heapPercent is the part of the process's memory that the Go heap may have. The rest is for
	// stacks, for what the kernel keeps, and for the processes that do foreign work.
	heapPercent = 50
	// none is what Go returns for a heap without a limit.
	none = math.MaxInt64
)

// SetLimit limits the heap to a part of what the container and the machine have, unless GOMEMLIMIT is
// set, and returns the limit of the heap; 0 without one.
func SetLimit() int64 {
	if os.Getenv("GOMEMLIMIT") == "" {
		if available := Available(os.DirFS("/")); available > 0 {
			debug.SetMemoryLimit(available / 100 * heapPercent)
		}
	}
	limit := debug.SetMemoryLimit(-1)
	if limit == none {
		return 0
	}
	return limit
}

// Share is how many bytes the heap and foreign work have together, with this limit of the heap (0 for
// none): what is available, and less if GOMEMLIMIT leaves less to the heap.
func Share(limit int64) int64 { return share(limit, Available(os.DirFS("/"))) }

func share(limit, available int64) int64 {
	if limit <= 0 || available > 0 && limit >= available/100*heapPercent {
		return available
	}
	return limit / heapPercent * 100
}

// Available is how many bytes the process may have: the smallest limit of its control groups, or the
// memory of the machine; 0 if neither is known.
func Available(root fs.FS) int64 {
	least := machine(root)
	for _, directory := range controlGroups(root) {
		// The limit of each group holds for all groups below it.
		for ; ; directory.path = path.Dir(directory.path) {
			if limit := readLimit(root, path.Join(directory.mount, directory.path, directory.file)); limit > 0 && (least == 0 || limit < least) {
				least = limit
			}
			if directory.path == "/" || directory.path == "." {
				break
			}
		}
	}
	return least
}

// controlGroup is where the limit of a control group is.
type controlGroup struct{ mount, path, file string }

// controlGroups are those of the process: of version 2, and the one for memory of version 1.
func controlGroups(root fs.FS) []controlGroup {
	// A container mostly sees its own group as the root, whatever its path is outside.
	groups := []controlGroup{{"sys/fs/cgroup", "/", "memory.max"}, {"sys/fs/cgroup/memory", "/", "memory.limit_in_bytes"}}
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return groups
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 {
			continue
		}
		within := path.Clean("/" + parts[2])
		if parts[1] == "" {
			groups = append(groups, controlGroup{"sys/fs/cgroup", within, "memory.max"})
		}
		if slices.Contains(strings.Split(parts[1], ","), "memory") {
			groups = append(groups, controlGroup{"sys/fs/cgroup/memory", within, "memory.limit_in_bytes"})
		}
	}
	return groups
}

// readLimit reads a limit; 0 without one. Version 1 writes a number near the largest for no limit,
// version 2 the word max.
func readLimit(root fs.FS, name string) int64 {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0
	}
	limit, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	if err != nil || limit >= math.MaxInt64/2 {
		return 0
	}
	return limit
}

// machine is the memory of the machine; 0 if it is unknown.
func machine(root fs.FS) int64 {
	text, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "MemTotal:" && fields[2] == "kB" {
			kilobytes, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0
			}
			return kilobytes << 10
		}
	}
	return 0
}
