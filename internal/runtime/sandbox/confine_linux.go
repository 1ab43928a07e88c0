package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Bounds of the process besides its memory.
const (
	// maxFiles is enough for the pipe and the poller of the runtime.
	maxFiles = 16
	// maxCPU is how many seconds of a processor a process gets in its life. The server ends
	// a work long before; this bound holds if the server has ended.
	maxCPU = 600
)

// confine takes from this process what a work does not need. What the kernel does not know is
// left out, and not in the text.
func confine(memory uint64) (string, error) {
	// Where memory is short all the same, the kernel is to end this process and not the server.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // where it is not allowed, the limits hold
	if err := limit(memory); err != nil {
		return "", err
	}
	// The filter gives this thread's setting to all others.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return "", fmt.Errorf("no new privileges: %w", err)
	}
	holds := []string{"rlimits"}
	version, err := landlock()
	if err != nil {
		return "", err
	}
	if version > 0 {
		holds = append(holds, "landlock "+strconv.Itoa(version))
	}
	filtered, err := filter()
	if err != nil {
		return "", err
	}
	if filtered {
		holds = append(holds, "seccomp")
	}
	return strings.Join(holds, ", "), nil
}

// limit sets the limits of the kernel. The address space of a Go program is large before it has
// done anything, so that the limit counts from there.
func limit(memory uint64) error {
	now, err := addressSpace()
	if err != nil {
		return err
	}
	for _, l := range []struct {
		resource int
		most     uint64
	}{
		{unix.RLIMIT_AS, now + memory}, {unix.RLIMIT_CPU, maxCPU}, {unix.RLIMIT_NOFILE, maxFiles}, {unix.RLIMIT_FSIZE, 0}, {unix.RLIMIT_CORE, 0},
	} {
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: l.most, Max: l.most}); err != nil {
			return fmt.Errorf("limit resource %d: %w", l.resource, err)
		}
	}
	return nil
}

// addressSpace returns how large the address space is.
func addressSpace() (uint64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, fmt.Errorf("read the size of this process: %w", err)
	}
	pages, err := strconv.ParseUint(strings.Fields(string(text) + " ")[0], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the size of this process: %w", err)
	}
	return pages * uint64(os.Getpagesize()), nil //nolint:gosec // never negative
}

// rights are what each version of Landlock adds. All of them are handled and none is given.
var rights = []struct{ files, network, scoped uint64 }{
	{files: 1<<13 - 1}, {files: 1 << 13}, {files: 1 << 14}, {network: 1<<2 - 1}, {files: 1 << 15}, {scoped: 1<<2 - 1},
}

// landlock closes files, connections and signals to other processes. It returns the version of
// the kernel, or 0.
func landlock() (int, error) {
	version, _, errno := syscall.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, nil // an older kernel, or one without it: said by its absence
	}
	var attributes struct{ files, network, scoped uint64 }
	for i := range min(int(version), len(rights)) {
		attributes.files |= rights[i].files
		attributes.network |= rights[i].network
		attributes.scoped |= rights[i].scoped
	}
	// A kernel refuses fields that it does not know, unless they are zero.
	ruleset, _, errno := syscall.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attributes)), unsafe.Sizeof(attributes), 0) //nolint:gosec // the kernel reads it
	if errno != 0 {
		return 0, fmt.Errorf("make a Landlock ruleset: %w", errno)
	}
	defer unix.Close(int(ruleset)) //nolint:errcheck // nothing is written
	runtime.KeepAlive(&attributes)
	// All threads: one that is not restricted would serve all goroutines. A program with C code has
	// threads that Go does not know, so that only the filter holds there.
	_, _, errno = syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0)
	if errno == 0 {
		_, _, errno = syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0, 0)
	}
	switch errno {
	case 0:
		return int(version), nil
	case unix.ENOTSUP, unix.EPERM:
		return 0, nil
	}
	return 0, fmt.Errorf("restrict the process by Landlock: %w", errno)
}

// filter lets the process make only those system calls that the runtime of Go needs to compute
// and to use its pipe.
func filter() (bool, error) {
	program := append([]unix.SockFilter{
		// The architecture is that of the program, else its numbers mean other calls.
		load(archOffset), jump(unix.BPF_JEQ, auditArch, 1, 0), refuse(unix.SECCOMP_RET_KILL_PROCESS),
		load(numberOffset),
	}, rules()...)
	attached := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}                                                                         //nolint:gosec // a few hundred
	_, _, errno := syscall.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&attached))) //nolint:gosec // the kernel reads it
	runtime.KeepAlive(program)
	switch errno {
	case 0:
		return true, nil
	case unix.ENOSYS, unix.EINVAL, unix.EPERM:
		return false, nil
	}
	return false, fmt.Errorf("filter system calls: %w", errno)
}

// Offsets in what a filter sees: the number of the call, the architecture, and the lower half of
// its first argument on a little-endian machine.
const (
	numberOffset = 0
	archOffset   = 4
	firstOffset  = 16
)

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func jump(compare uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | compare | unix.BPF_K, Jt: yes, Jf: no, K: k}
}

func refuse(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}

// rules judge the number of a call. Each allowed call is a comparison that returns at once.
func rules() []unix.SockFilter {
	var program []unix.SockFilter
	for _, number := range allowed {
		program = append(program, jump(unix.BPF_JEQ, uint32(number), 0, 1), refuse(unix.SECCOMP_RET_ALLOW)) //nolint:gosec // numbers of calls
	}
	return append(program,
		// Threads are what the runtime makes; a process of its own is not.
		jump(unix.BPF_JEQ, unix.SYS_CLONE, 0, 4), load(firstOffset), jump(unix.BPF_JSET, unix.CLONE_THREAD, 0, 1), refuse(unix.SECCOMP_RET_ALLOW), load(numberOffset),
		// Libraries of C try the older call when there is no newer one.
		jump(unix.BPF_JEQ, unix.SYS_CLONE3, 0, 1), refuse(unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS)),
		refuse(unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM)),
	)
}

// allowed are the calls of every architecture; others adds those that only this one has.
var allowed = append([]int{
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_CLOSE, unix.SYS_FCNTL, unix.SYS_PIPE2, unix.SYS_EVENTFD2,
	unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT,
	unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MADVISE, unix.SYS_MINCORE, unix.SYS_MPROTECT, unix.SYS_BRK,
	unix.SYS_FUTEX, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
	unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_TGKILL, unix.SYS_SETITIMER, unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_DELETE,
	unix.SYS_GETRANDOM, unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ,
}, others...)

// outOfTime reports whether the kernel has ended a process because of its time.
func outOfTime(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGXCPU
}
