// Package sandboxtest lets a program of tests be its own process for foreign work, as the
// server's program is.
package sandboxtest

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"go.landscaper.dev/internal/runtime/sandbox"
)

// Main runs the tests, or carries out work for them. It is what TestMain calls.
func Main(m *testing.M, handlers map[string]sandbox.Handler) {
	if len(os.Args) < 3 || os.Args[1] != sandbox.Command {
		os.Exit(m.Run())
	}
	memory, err := strconv.ParseUint(os.Args[2], 10, 63)
	if err == nil {
		err = sandbox.Serve(os.Stdin, os.Stdout, handlers, memory)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Pool returns a pool of this program. Change may be nil.
func Pool(t testing.TB, change func(*sandbox.Options)) *sandbox.Pool {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	options := sandbox.Options{Command: []string{program, sandbox.Command}, Slots: 4, Memory: 192 << 20, Timeout: time.Minute, Spare: 1, Idle: 4}
	if change != nil {
		change(&options)
	}
	pool, how, err := sandbox.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("confined by", how)
	t.Cleanup(pool.Close)
	return pool
}
