package memguard

import (
	"math"
	"runtime/debug"
	"testing"
	"testing/fstest"
)

// TestAvailable: how much memory a process may have, by what the kernel shows.
func TestAvailable(t *testing.T) {
	const machine = "MemTotal:       16384 kB\nMemFree: 1 kB\n"
	for _, test := range []struct {
		reason string
		files  map[string]string
		want   int64
	}{
		{"nothing is known", nil, 0},
		{"the machine", map[string]string{"proc/meminfo": machine}, 16 << 20},
		{"a container of version 2 sees its own group as the root", map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1048576\n"}, 1 << 20},
		{"a group of version 2 without a limit", map[string]string{"proc/meminfo": machine, "sys/fs/cgroup/memory.max": "max\n"}, 16 << 20},
		{"a service, whose group is below others with other limits", map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "0::/system.slice/server.service\n",
			"sys/fs/cgroup/system.slice/memory.max": "2097152\n", "sys/fs/cgroup/system.slice/server.service/memory.max": "4194304\n",
		}, 2 << 20},
		{"a container of version 1 that shows its path outside", map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "5:cpu,cpuacct:/kubepods/x\n4:memory:/kubepods/x\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "3145728\n",
		}, 3 << 20},
		{"a group of version 1 below the root", map[string]string{"proc/self/cgroup": "4:memory:/a/b\n", "sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "3145728\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 3 << 20},
		{"a limit beyond the memory of the machine", map[string]string{"proc/meminfo": machine, "sys/fs/cgroup/memory.max": "1073741824\n"}, 16 << 20},
		{"files with something else", map[string]string{"proc/meminfo": "MemTotal: much kB\n", "proc/self/cgroup": "x\n", "sys/fs/cgroup/memory.max": "much\n"}, 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			root := fstest.MapFS{}
			for name, text := range test.files {
				root[name] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := Available(root); got != test.want {
				t.Errorf("%d bytes, want %d", got, test.want)
			}
		})
	}
}

// TestSetLimit: the heap gets a part of what there is, unless the operator has decided.
func TestSetLimit(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	t.Run("the operator has decided", func(t *testing.T) {
		debug.SetMemoryLimit(1 << 30)
		t.Setenv("GOMEMLIMIT", "1GiB")
		if limit := SetLimit(); limit != 1<<30 || debug.SetMemoryLimit(-1) != 1<<30 {
			t.Errorf("the limit is %d", limit)
		}
	})
	t.Run("what this process has", func(t *testing.T) {
		debug.SetMemoryLimit(math.MaxInt64)
		t.Setenv("GOMEMLIMIT", "")
		if limit := SetLimit(); limit <= 0 || limit != debug.SetMemoryLimit(-1) {
			t.Errorf("the limit is %d", limit)
		}
	})
}

// TestShare: foreign work gets as much as the heap, and both no more than there is.
func TestShare(t *testing.T) {
	for _, test := range []struct {
		reason                 string
		limit, available, want int64
	}{
		{"the limit is that of the container", 500, 1000, 1000},
		{"the operator leaves less to the heap", 300, 1000, 600},
		{"the operator leaves more to the heap", 800, 1000, 1000},
		{"no limit", 0, 1000, 1000},
		{"what there is, is unknown", 300, 0, 600},
	} {
		if got := share(test.limit, test.available); got != test.want {
			t.Errorf("%s: %d, want %d", test.reason, got, test.want)
		}
	}
}
