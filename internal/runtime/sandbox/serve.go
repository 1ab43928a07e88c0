package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"go.landscaper.dev/internal/runtime/job"
)

// Command is the hidden command by which the program becomes such a process.
const Command = "renderer"

// Ask asks the server while a work runs. The error is the server's, as a text.
type Ask func(question []byte) ([]byte, error)

// Handler carries out one kind of work.
type Handler func(ctx context.Context, body []byte, ask Ask) ([]byte, error)

// noting is the key of what tells the server in the context of a handler.
type noting struct{}

// At says what a work is at from now on: errors of what it takes too much name it. Outside of a
// process of a pool nothing happens.
func At(ctx context.Context, what string) {
	if note, ok := ctx.Value(noting{}).(func(string)); ok {
		note(what)
	}
}

// maxStack bounds the stack of one goroutine: without it, a recursion would take all memory
// before it is found out.
const maxStack = 64 << 20

const (
	// heapGrowth is how much the heap may grow until it is collected, in percent of what lives in it.
	// That is little: with the usual 100, a third of the time of a small work goes into collections.
	heapGrowth = 300
	// muchMemory is from where on this may take memory.
	muchMemory = 256 << 20
)

// Serve carries out works until the server closes the pipe. Nothing is read before the process
// is confined.
func Serve(in io.Reader, out io.Writer, handlers map[string]Handler, memory uint64) error {
	// One work is for one processor: others of the machine are for other tenants.
	runtime.GOMAXPROCS(1)
	debug.SetMaxStack(maxStack)
	if memory >= muchMemory {
		debug.SetGCPercent(heapGrowth)
	}
	debug.SetMemoryLimit(int64(memory / 4 * 3)) //nolint:gosec // the figure is ours
	how, err := confine(memory)
	if err != nil {
		return fmt.Errorf("confine the process: %w", err)
	}
	if err := send(out, &message{Kind: ready, Detail: how}); err != nil {
		return err
	}
	s := &served{out: out, incoming: make(chan *message), handlers: handlers}
	go s.listen(in)
	var idle <-chan time.Time
	for {
		select {
		case request, ok := <-s.incoming:
			if !ok {
				return nil
			}
			result := s.work(request)
			*request = message{} // it is not needed any more
			if mapped() > kept(memory) {
				debug.FreeOSMemory()
			}
			result.Memory = mapped()
			if err := send(out, result); err != nil {
				return err
			}
			idle = time.After(quiet)
		case <-idle:
			if mapped() > maxQuiet {
				debug.FreeOSMemory()
			}
		}
	}
}

const (
	// A process that waits for quiet gives back what is above maxQuiet: it may wait for a minute, beside
	// many others.
	quiet    = time.Second
	maxQuiet = 12 << 20
)

// kept is how much memory a process may keep for its next work, besides what each of them has.
func kept(memory uint64) uint64 { return min(memory/8, 32<<20) }

// served is the process from within.
type served struct {
	out      io.Writer
	incoming chan *message
	handlers map[string]Handler
}

// listen reads from the server. When the server has ended, the process ends, whatever it does.
func (s *served) listen(in io.Reader) {
	for {
		m, err := receive(in)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				fmt.Fprintln(os.Stderr, "sandbox: the server cannot be understood")
			}
			os.Exit(0)
		}
		s.incoming <- m
	}
}

// work carries out one work.
func (s *served) work(request *message) *message {
	handler, ok := s.handlers[request.Name]
	if !ok {
		return &message{Kind: done, Failed: true, Body: []byte("there is no operation " + request.Name)}
	}
	s.note("") // taken
	ctx := context.WithValue(context.Background(), noting{}, s.note)
	var body []byte
	err := job.RecoverPanic(func() (err error) {
		body, err = handler(ctx, request.Body, s.ask)
		return err
	})
	var panicked *job.Panic
	switch {
	case errors.As(err, &panicked):
		return &message{Kind: broken, Detail: panicked.Problem, Body: []byte(panicked.Stack)}
	case err != nil:
		return &message{Kind: done, Failed: true, Body: []byte(err.Error())}
	case len(body) > maxMessage:
		return &message{Kind: exceeded}
	}
	return &message{Kind: done, Body: body}
}

// note tells the server what the work is at. A server that cannot be reached any more ends the
// process, see listen.
func (s *served) note(what string) {
	_ = send(s.out, &message{Kind: at, Detail: what[:min(len(what), maxAt)]})
}

// ask implements Ask. Only one goroutine of a work asks at a time.
func (s *served) ask(body []byte) ([]byte, error) {
	if err := send(s.out, &message{Kind: question, Body: body, Memory: mapped()}); err != nil {
		return nil, err
	}
	answered := <-s.incoming
	if answered.Failed {
		return nil, errors.New(string(answered.Body))
	}
	return answered.Body, nil
}

// mapped returns how much memory the process has taken from the kernel for its heap, and not given back.
func mapped() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(samples)
	var sum uint64
	for i := range samples {
		sum += samples[i].Value.Uint64()
	}
	return sum
}
