package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/sandbox"
	"go.landscaper.dev/internal/runtime/sandbox/sandboxtest"
)

// TestMain makes this program a process of the pool, as the server's program is one.
func TestMain(m *testing.M) { sandboxtest.Main(m, handlers) }

var handlers = map[string]sandbox.Handler{
	"echo": func(_ context.Context, body []byte, _ sandbox.Ask) ([]byte, error) { return body, nil },
	"fail": func(context.Context, []byte, sandbox.Ask) ([]byte, error) { return nil, errors.New("line 3 is wrong") },
	"panic": func(_ context.Context, body []byte, _ sandbox.Ask) ([]byte, error) {
		panic("secret " + string(body))
	},
	"memory": func(_ context.Context, body []byte, _ sandbox.Ask) ([]byte, error) {
		size, err := strconv.Atoi(string(body))
		if err != nil {
			return nil, err
		}
		var held [][]byte
		for range size {
			one := make([]byte, 1<<20)
			for i := 0; i < len(one); i += 4096 {
				one[i] = 1
			}
			held = append(held, one)
		}
		return []byte(strconv.Itoa(len(held))), nil
	},
	"spin": func(context.Context, []byte, sandbox.Ask) ([]byte, error) {
		for i := 0; ; i++ {
			runtime.KeepAlive(i)
		}
	},
	"compute": func(_ context.Context, body []byte, _ sandbox.Ask) ([]byte, error) {
		length, err := time.ParseDuration(string(body))
		for begin := time.Now(); time.Since(begin) < length; {
			runtime.KeepAlive(begin)
		}
		return nil, err
	},
	"recurse": func(context.Context, []byte, sandbox.Ask) ([]byte, error) { return []byte{byte(recurse(1))}, nil },
	"part": func(ctx context.Context, body []byte, _ sandbox.Ask) ([]byte, error) {
		sandbox.At(ctx, "the first part")
		sandbox.At(ctx, string(body))
		os.Exit(7)
		return nil, nil
	},
	"watched": func(_ context.Context, _ []byte, _ sandbox.Ask) ([]byte, error) {
		go sandbox.Watch(48 << 20)
		var held [][]byte
		for range 3 {
			held = append(held, make([]byte, 20<<20))
		}
		defer runtime.KeepAlive(held)
		select {} // until the watch ends the process
	},
	"exit": func(context.Context, []byte, sandbox.Ask) ([]byte, error) { os.Exit(7); return nil, nil },
	"long": func(context.Context, []byte, sandbox.Ask) ([]byte, error) { return make([]byte, 70<<20), nil },
	"ask": func(_ context.Context, body []byte, ask sandbox.Ask) ([]byte, error) {
		return ask(body)
	},
	"hold and ask": func(_ context.Context, body []byte, ask sandbox.Ask) ([]byte, error) {
		size, err := strconv.Atoi(string(body))
		if err != nil {
			return nil, err
		}
		mine := make([]byte, size<<20)
		defer runtime.KeepAlive(mine)
		return ask(nil)
	},
	"ask and exit": func(_ context.Context, _ []byte, ask sandbox.Ask) ([]byte, error) {
		_, _ = ask(nil)
		os.Exit(7)
		return nil, nil
	},
	"ask without end": func(_ context.Context, body []byte, ask sandbox.Ask) ([]byte, error) {
		for {
			if _, err := ask(body); err != nil {
				return nil, err
			}
		}
	},
	"pid": func(context.Context, []byte, sandbox.Ask) ([]byte, error) {
		return []byte(strconv.Itoa(os.Getpid())), nil
	},
	"environment": func(context.Context, []byte, sandbox.Ask) ([]byte, error) {
		return []byte(strings.Join(os.Environ(), ",")), nil
	},
	"read": func(_ context.Context, body []byte, _ sandbox.Ask) ([]byte, error) { return os.ReadFile(string(body)) },
	"write": func(_ context.Context, body []byte, _ sandbox.Ask) ([]byte, error) {
		return nil, os.WriteFile(string(body), []byte("x"), 0o600)
	},
	"dial": func(_ context.Context, body []byte, _ sandbox.Ask) ([]byte, error) {
		connection, err := net.Dial("tcp", string(body))
		if err == nil {
			err = connection.Close()
		}
		return nil, err
	},
	"run": func(_ context.Context, body []byte, _ sandbox.Ask) ([]byte, error) {
		return exec.Command(string(body)).CombinedOutput()
	},
	"signal": func(_ context.Context, body []byte, _ sandbox.Ask) ([]byte, error) {
		pid, err := strconv.Atoi(string(body))
		if err != nil {
			return nil, err
		}
		process, err := os.FindProcess(pid)
		if err != nil {
			return nil, err
		}
		return nil, process.Signal(os.Interrupt)
	},
}

func recurse(n int) int {
	var room [1 << 10]byte
	room[n%len(room)] = 1
	if n < 0 {
		return 0
	}
	return recurse(n+1) + int(room[0])
}

func input(body string) func() ([]byte, error) {
	return func() ([]byte, error) { return []byte(body), nil }
}

func do(p *sandbox.Pool, tenant, name, body string) (string, error) {
	result, err := p.Do(context.Background(), sandbox.Work{Tenant: tenant, Name: name, Title: "the test", Encode: input(body),
		Answer: func(body []byte) ([]byte, error) { return append(body, body...), nil }})
	return string(result), err
}

func TestWork(t *testing.T) {
	p := sandboxtest.Pool(t, nil)
	tests := []struct{ reason, name, body, want, wrong string }{
		{"a result", "echo", "hello", "hello", ""},
		{"an error is the text of the handler", "fail", "", "", "line 3 is wrong"},
		{"what is allowed", "memory", "40", "40", ""},
		{"a question", "ask", "ab", "abab", ""},
		{"what the kernel does not give", "memory", "100000", "", "the test took more than 192 MiB of memory"},
		{"a recursion", "recurse", "", "", "the test took more than 64 MiB of stack"},
		{"more than may be given back", "long", "", "", "the test took more than 64 MiB of input or results"},
		{"an end without a word", "exit", "", "", "the process for the test ended (exit status 7)"},
		{"what was worked at when it ended", "part", "the second part", "", "the process for the test: the second part ended (exit status 7)"},
		{"what the kernel would give, and the process watches itself", "watched", "", "", "the test took more than 192 MiB of memory"},
		{"questions without end", "ask without end", "", "", "the test took more than 5000 questions"},
		{"an operation that does not exist", "other", "", "", "there is no operation other"},
		{"the variables of the server", "environment", "", "", ""},
		{"the next one has a whole process", "echo", "hello", "hello", ""},
	}
	t.Setenv("LANDSCAPER_TEST_SECRET", "x")
	for _, test := range tests {
		result, err := do(p, "a", test.name, test.body)
		if (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) || result != test.want {
			t.Errorf("%s: %q, %v; want %q, %q", test.reason, result, err, test.want, test.wrong)
		}
	}
}

// TestPanicsInside: a panic is a mistake of ours, named by its place and without its value.
func TestPanicsInside(t *testing.T) {
	_, err := do(sandboxtest.Pool(t, nil), "a", "panic", "password")
	if !job.IsPanic(err) || strings.Contains(err.Error(), "password") || !strings.Contains(err.Error(), "sandbox_test") {
		t.Error(err)
	}
}

// TestPanicOfAnAnswer: a panic of the server while it answers ends the work as its own mistake.
func TestPanicOfAnAnswer(t *testing.T) {
	p := sandboxtest.Pool(t, nil)
	_, err := p.Do(t.Context(), sandbox.Work{Tenant: "a", Name: "ask", Title: "the test", Encode: input(""), Answer: func([]byte) ([]byte, error) { panic("password") }})
	if !job.IsPanic(err) || strings.Contains(err.Error(), "password") {
		t.Error(err)
	}
	if result, err := do(p, "a", "echo", "hello"); err != nil || result != "hello" {
		t.Error(result, err)
	}
}

// TestEndOfAWaitingProcess: a process that has ended while it waited costs nothing but the start of
// another one.
func TestEndOfAWaitingProcess(t *testing.T) {
	p := sandboxtest.Pool(t, nil)
	pid, err := do(p, "a", "pid", "")
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	process, err := os.FindProcess(number)
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	if result, err := do(p, "a", "echo", "hello"); err != nil || result != "hello" {
		t.Error(result, err)
	}
}

// TestEndAtWork: a process that ends while it works is not tried again, however long it had waited.
func TestEndAtWork(t *testing.T) {
	p := sandboxtest.Pool(t, nil)
	begun := 0
	for i := range 2 {
		var ended *sandbox.EndedError
		_, err := p.Do(t.Context(), sandbox.Work{Tenant: "a", Name: "ask and exit", Title: "the test", Encode: input(""), Answer: func([]byte) ([]byte, error) { begun++; return nil, nil }})
		if !errors.As(err, &ended) || begun != i+1 {
			t.Errorf("%v, begun %d times", err, begun)
		}
		if _, err := do(p, "a", "echo", "hello"); err != nil {
			t.Error(err)
		}
	}
}

// TestLazy: a pool that may never be needed starts nothing before its first work.
func TestLazy(t *testing.T) {
	p := sandbox.Lazy(sandbox.Options{Command: []string{"/does/not/exist"}, Slots: 2, Memory: 192 << 20, Timeout: time.Minute})
	defer p.Close()
	if _, err := do(p, "a", "echo", "hello"); err == nil || !strings.Contains(err.Error(), "start a process for foreign work") {
		t.Error(err)
	}
}

// TestNothingElse: a process reaches nothing but its pipe.
func TestNothingElse(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("only Linux confines it")
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // nothing is written
	p := sandboxtest.Pool(t, nil)
	for name, body := range map[string]string{
		"read": "/etc/hostname", "write": t.TempDir() + "/x", "dial": listener.Addr().String(), "run": "/bin/true", "signal": strconv.Itoa(os.Getppid()),
	} {
		if result, err := do(p, "a", name, body); err == nil {
			t.Errorf("%s %s: %q", name, body, result)
		}
	}
}

// TestTime: a work that computes for too long ends, and so does one whose caller has ended.
func TestTime(t *testing.T) {
	p := sandboxtest.Pool(t, func(o *sandbox.Options) { o.Timeout = time.Second })
	var exceeded *sandbox.ExceededError
	if _, err := do(p, "a", "spin", ""); !errors.As(err, &exceeded) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := p.Do(ctx, sandbox.Work{Tenant: "a", Name: "spin", Title: "the test", Encode: input("")}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestTenants: a process is used again for its tenant only, and no tenant has more than half of the
// slots.
func TestTenants(t *testing.T) {
	p := sandboxtest.Pool(t, func(o *sandbox.Options) { o.Slots = 2 })
	first, err := do(p, "a", "pid", "")
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := do(p, "a", "pid", ""); again != first {
		t.Errorf("process %s and not %s again", again, first)
	}
	if other, _ := do(p, "b", "pid", ""); other == first {
		t.Error("the process of another tenant")
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for i := range 4 {
		if _, err := do(p, fmt.Sprint("other ", i), "pid", ""); err != nil {
			t.Fatal(err)
		}
	}
	last, err := do(p, "other 3", "pid", "")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 { // works of others between do not end its process
		if _, err := do(p, fmt.Sprint("other ", i), "pid", ""); err != nil {
			t.Fatal(err)
		}
	}
	if again, _ := do(p, "other 3", "pid", ""); again != last {
		t.Errorf("process %s and not %s again", again, last)
	}
	var waiting sync.WaitGroup
	for range 8 {
		waiting.Go(func() {
			_, _ = p.Do(ctx, sandbox.Work{Tenant: "a", Name: "spin", Title: "the test", Encode: input("")})
		})
	}
	for range 10 {
		if _, err := do(p, "b", "echo", "x"); err != nil {
			t.Error(err)
		}
	}
	cancel()
	waiting.Wait()
}

// TestWaiting: a work that waits for its turn has no input yet, and a process that waits has given back
// what its work took.
func TestWaiting(t *testing.T) {
	p := sandboxtest.Pool(t, func(o *sandbox.Options) { o.Slots = 2 })
	ctx, cancel := context.WithCancel(t.Context())
	begun, encoded := make(chan struct{}), false
	var waiting sync.WaitGroup
	waiting.Go(func() {
		_, _ = p.Do(ctx, sandbox.Work{Tenant: "a", Name: "spin", Title: "the test", Encode: func() ([]byte, error) { close(begun); return nil, nil }})
	})
	<-begun
	late, end := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer end()
	_, err := p.Do(late, sandbox.Work{Tenant: "a", Name: "echo", Title: "the test", Encode: func() ([]byte, error) { encoded = true; return nil, nil }})
	if !errors.Is(err, context.DeadlineExceeded) || encoded {
		t.Errorf("%v, encoded %t", err, encoded)
	}
	cancel()
	waiting.Wait()
	if _, err := p.Do(t.Context(), sandbox.Work{Tenant: "a", Name: "echo", Title: "the test", Encode: func() ([]byte, error) { return nil, errors.New("no input") }}); err == nil || err.Error() != "no input" {
		t.Error(err)
	}
	if _, err := do(p, "a", "memory", "80"); err != nil {
		t.Fatal(err)
	}
	pid, err := do(p, "a", "pid", "")
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		t.Log("only Linux says what a process takes")
		return
	}
	_, after, _ := strings.Cut(string(status), "RssAnon:")
	var kilobytes int
	if _, err := fmt.Sscan(after, &kilobytes); err != nil || kilobytes > 40<<10 {
		t.Errorf("%d KiB, %v", kilobytes, err)
	}
}

// TestValues: plain values keep their types on the way.
func TestValues(t *testing.T) {
	deep := any("x")
	for range 10_000 {
		deep = []any{deep}
	}
	for _, value := range []any{
		nil, true, "text", "\xff not UTF-8", int64(-3), int64(1) << 62, 1.5, float64(3), json.Number("123456789012345678901234567890"),
		[]any{int64(1), []any{}, map[string]any{}}, map[string]any{"a": map[string]any{"b": nil}}, deep,
	} {
		raw, err := sandbox.Encode(value)
		var back any
		if err == nil {
			err = sandbox.Decode(raw, &back)
		}
		if err != nil || !reflect.DeepEqual(value, back) {
			t.Errorf("%T: %v", value, err)
		}
	}
}

// BenchmarkWork is what a process adds to a small work.
func BenchmarkWork(b *testing.B) {
	p := sandboxtest.Pool(b, nil)
	for b.Loop() {
		if _, err := do(p, "a", "echo", "hello"); err != nil {
			b.Fatal(err)
		}
	}
}
