package traffic

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/time/rate"

	"go.landscaper.dev/internal/cluster/answerlimit"
)

// guarded sends a request through a guard and returns its body, and what is booked.
func guarded(ctx context.Context, t *testing.T, memory *answerlimit.Budget, target string, text io.Reader) io.ReadCloser {
	t.Helper()
	next, sent := answering(200, "application/json", "")
	sent.Reader = text
	g := &guard{memory: memory, pace: NewPace(), next: next}
	got, err := g.RoundTrip(asking(ctx, t, target))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = got.Body.Close() })
	return got.Body
}

// TestWhoPays: an answer costs until its memory is free again, which is not when it was
// read.
func TestWhoPays(t *testing.T) {
	const size = 3 << 20
	text := func() io.Reader { return strings.NewReader(`{"a":"` + strings.Repeat("x", size) + `"}`) }
	large := func(used int64) bool { return used > size/2 }
	t.Run("a request alone costs until its answer is closed", func(t *testing.T) {
		memory := answerlimit.New(0)
		body := guarded(t.Context(), t, memory, address, text())
		if _, err := io.Copy(io.Discard, body); err != nil || !large(memory.Used.Load()) {
			t.Errorf("%v, booked are %d", err, memory.Used.Load())
		}
		_ = body.Close()
		_ = body.Close()
		if memory.Used.Load() != 0 {
			t.Errorf("%d bytes stay booked", memory.Used.Load())
		}
	})
	t.Run("one of some work costs until the work is done", func(t *testing.T) {
		memory := answerlimit.New(0)
		ctx, loan, end := answerlimit.WithLoan(t.Context(), memory)
		for range 2 {
			body := guarded(ctx, t, memory, address, text())
			if _, err := io.Copy(io.Discard, body); err != nil {
				t.Fatal(err)
			}
			_ = body.Close()
		}
		if memory.Used.Load() < 2*size-(1<<20) || !loan.Answered.Load() {
			t.Errorf("booked are %d for two answers; answered: %v", memory.Used.Load(), loan.Answered.Load())
		}
		end()
		if memory.Used.Load() != 0 {
			t.Errorf("%d bytes stay booked", memory.Used.Load())
		}
	})
	t.Run("a watch gives each event back, also as a part of some work", func(t *testing.T) {
		memory := answerlimit.New(4 << 20)
		ctx, loan, end := answerlimit.WithLoan(t.Context(), memory)
		defer end()
		if err := loan.Grow(1000); err != nil {
			t.Fatal(err)
		}
		event := `{"a":"` + strings.Repeat("x", size) + `"}` + "\n"
		body := guarded(ctx, t, memory, address+"?watch=true", strings.NewReader(strings.Repeat(event, 5)))
		if n, err := io.Copy(io.Discard, body); err != nil || n != int64(5*len(event)) || large(memory.Used.Load()) {
			t.Errorf("%v after %d bytes, booked are %d", err, n, memory.Used.Load())
		}
		if answerlimit.CostOf(ctx) != 1000 {
			t.Errorf("the other answers of the work cost %d now", answerlimit.CostOf(ctx))
		}
	})
	t.Run("a list that is stored costs until the next one", func(t *testing.T) {
		memory := answerlimit.New(4 << 20)
		loan := &answerlimit.Loan{Budget: memory}
		ctx := WithListing(t.Context(), &Listing{Answer: loan, What: "the list"})
		for range 3 {
			body := guarded(ctx, t, memory, address, text())
			if _, err := io.Copy(io.Discard, body); err != nil {
				t.Fatal(err)
			}
			_ = body.Close()
			if !large(memory.Used.Load()) {
				t.Errorf("booked are only %d: the list is still being stored", memory.Used.Load())
			}
		}
		loan.End()
		if memory.Used.Load() != 0 {
			t.Errorf("%d bytes stay booked", memory.Used.Load())
		}
	})
}

// TestTooMuch: an answer that is refused stays refused, is not read on, and is told once.
func TestTooMuch(t *testing.T) {
	var failures []error
	memory := answerlimit.New(0)
	ctx := WithListing(t.Context(), &Listing{Answer: &answerlimit.Loan{Budget: memory}, What: "the list of secrets", Failed: func(err error) { failures = append(failures, err) }})
	source := &counting{}
	body := guarded(ctx, t, memory, address, source)
	_, err := io.Copy(io.Discard, body)
	var large *answerlimit.TooLarge
	if !errors.As(err, &large) || large.What != "the list of secrets" {
		t.Fatalf("%v", err)
	}
	read := source.read
	if read > answerlimit.MaxAnswer+(1<<20) {
		t.Errorf("%d bytes were read", read)
	}
	for range 3 {
		if n, again := body.Read(make([]byte, 10)); n != 0 || !errors.As(again, &large) {
			t.Errorf("goes on with %d bytes, %v", n, again)
		}
	}
	if source.read != read || len(failures) != 1 {
		t.Errorf("%d bytes were read after the end, %d failures were reported", source.read-read, len(failures))
	}
}

// counting is a text without end.
type counting struct{ read int }

func (c *counting) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	c.read += len(p)
	return len(p), nil
}

// TestReadersArePassedOn: what the network says in the end is what the caller sees.
func TestReadersArePassedOn(t *testing.T) {
	broken := errors.New("the line is cut")
	for reason, test := range map[string]struct {
		source io.Reader
		want   error
		text   string
	}{
		"the end":                            {strings.NewReader(`{"a":1}`), nil, `{"a":1}`},
		"the end together with the last":     {iotest.DataErrReader(strings.NewReader(`{"a":1}`)), nil, `{"a":1}`},
		"byte by byte":                       {iotest.OneByteReader(strings.NewReader(`{"a":1}`)), nil, `{"a":1}`},
		"a line that is cut":                 {io.MultiReader(strings.NewReader(`{"a":`), iotest.ErrReader(broken)), broken, `{"a":`},
		"nothing at all":                     {strings.NewReader(""), nil, ""},
		"what is no JSON, for the decoder":   {strings.NewReader("]]]]"), nil, "]]]]"},
		"control characters and broken text": {strings.NewReader("\x00\xff\u202e"), nil, "\x00\xff\u202e"},
	} {
		t.Run(reason, func(t *testing.T) {
			text, err := io.ReadAll(guarded(t.Context(), t, answerlimit.New(0), address, test.source))
			if !errors.Is(err, test.want) || string(text) != test.text {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}

// TestPace: what a connection reads for long is bounded by events and by bytes, whichever
// comes first; only the end of the context is an error.
func TestPace(t *testing.T) {
	for _, test := range []struct {
		reason        string
		events, bytes *rate.Limiter
		read, size    int
		waits         bool
	}{
		{"within both", rate.NewLimiter(0, 10), rate.NewLimiter(0, 100), 10, 100, false},
		{"too many events", rate.NewLimiter(0, 10), rate.NewLimiter(0, 100), 11, 1, true},
		{"too many bytes of a few events", rate.NewLimiter(0, 10), rate.NewLimiter(0, 100), 1, 101, true},
		{"bytes of an event that has not ended count", rate.NewLimiter(0, 10), rate.NewLimiter(0, 100), 0, 101, true},
		{"nothing was read", rate.NewLimiter(0, 1), rate.NewLimiter(0, 1), 0, 0, false},
		{"far more than at once, at any speed", rate.NewLimiter(rate.Inf, 1), rate.NewLimiter(rate.Inf, 1), 1000, 1000, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			pace := &Pace{Events: test.events, Bytes: test.bytes}
			if test.waits {
				// The limiter never permits an event: the wait ends with the context.
				cancel()
			}
			err := pace.Keep(ctx, test.read, test.size)
			cancel()
			if (err != nil) != test.waits {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestPaceIsShared: to begin a watch anew brings a cluster nothing.
func TestPaceIsShared(t *testing.T) {
	pace := &Pace{Events: rate.NewLimiter(0, 3), Bytes: rate.NewLimiter(rate.Inf, 1<<20)}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	read := func(watch string, events int) error {
		next, _ := answering(200, "application/json", strings.Repeat("{}", events))
		g := &guard{memory: answerlimit.New(0), pace: pace, next: next}
		got, err := g.RoundTrip(asking(ctx, t, address+watch))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = got.Body.Close() }()
		_, err = io.Copy(io.Discard, got.Body)
		return err
	}
	for reason, events := range map[string]int{"the first watch": 2, "the second one": 1} {
		if err := read("?watch=true", events); err != nil {
			t.Fatalf("%s: %v", reason, err)
		}
	}
	if err := read("", 100); err != nil {
		t.Errorf("an answer that is not a watch does not wait: %v", err)
	}
	cancel()
	if err := read("?watch=true", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("the third watch goes on: %v", err)
	}
}
