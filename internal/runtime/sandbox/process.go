package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.landscaper.dev/internal/runtime/job"
)

// process is one process as the server sees it. One work at a time uses it.
type process struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     io.Reader
	// words are the last words of the process: only we read them, since they may hold values.
	words *tail
	// how says what confines it.
	how string

	// tenant is who it has worked for; works is how often.
	tenant string
	works  int
	// taken says that it has begun its current work, and at what it is at.
	taken bool
	at    string
	idle  *time.Timer
}

// startTimeout is how long a process may take until it is ready, also on a busy machine.
const startTimeout = time.Minute

// start starts a process and waits until it is confined.
func start(command []string, memory uint64) (*process, error) {
	p := &process{words: &tail{}}
	p.command = exec.Command(command[0], command[1:]...) //nolint:gosec // this program itself
	p.command.Args = append(p.command.Args, fmt.Sprint(memory))
	// No variable of the server may be seen, nor what a library reads from one.
	p.command.Env = []string{}
	p.command.Dir = "/"
	p.command.Stderr = p.words
	var err error
	if p.in, err = p.command.StdinPipe(); err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	if p.out, err = p.command.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start a process for foreign work: %w", err)
	}
	late := time.AfterFunc(startTimeout, p.kill)
	first, err := receive(p.out)
	late.Stop()
	if err != nil || first.Kind != ready {
		p.end()
		return nil, fmt.Errorf("start a process for foreign work: it is not ready: %s", p.words.line())
	}
	p.how = first.Detail
	return p, nil
}

// kill ends the process at once, with all that it holds.
func (p *process) kill() {
	_ = p.command.Process.Kill() // it may have ended
}

// end kills the process and waits for its end. It is called once.
func (p *process) end() {
	p.kill()
	_ = p.command.Wait() // how it ended is asked for where it matters
}

// run carries out one work. Its error says how the process failed; the process is ended then. Lend
// is called when the work begins to wait for an answer, and what it returns when the answer is there.
func (p *process) run(w *Work, clock *clock, lend func(memory uint64) (back func() error)) (*message, error) {
	if err := send(p.in, &message{Kind: work, Name: w.Name, Body: w.input}); err != nil {
		return nil, err
	}
	for questions := 0; ; questions++ {
		m, err := receive(p.out)
		switch {
		case err != nil:
			return nil, err
		case (m.Kind == done && !m.Failed || m.Kind == question) && tooManyValues(m.Body):
			return nil, errTooManyValues
		case m.Kind == done, m.Kind == broken:
			return m, nil
		case m.Kind == exceeded:
			return nil, errTooLong
		case m.Kind == at:
			w.input = nil
			p.taken, p.at = true, strings.ToValidUTF8(m.Detail[:min(len(m.Detail), maxAt)], "")
			questions--
			continue
		case m.Kind != question:
			return nil, errors.New("it does not keep to the protocol")
		case questions == maxQuestions:
			return nil, errTooMany
		}
		clock.stop()
		reply, err := answerTo(m, w, lend)
		if err != nil {
			return nil, err
		}
		clock.start()
		if err := send(p.in, reply); err != nil {
			return nil, err
		}
	}
}

// answerTo answers a question. An error of the answer is in the reply.
func answerTo(m *message, w *Work, lend func(memory uint64) (back func() error)) (reply *message, err error) {
	reply, back := &message{Kind: answer}, lend(m.Memory)
	if w.Answer == nil {
		err = errors.New("nothing can be asked here")
	} else {
		err = job.RecoverPanic(func() (err error) {
			reply.Body, err = w.Answer(m.Body)
			return err
		})
	}
	noSlot := back()
	if job.IsPanic(err) {
		return nil, err
	}
	if err != nil {
		reply.Failed, reply.Body = true, []byte(err.Error())
	}
	return reply, noSlot
}

// maxAt is how much is kept of what a work is at.
const maxAt = 300

// errTooMany: a work asks without end.
var errTooMany = errors.New("it asked too often")

// tail keeps the beginning of what a process says.
type tail struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// maxWords is how much is kept: the Go runtime says first what is wrong.
const maxWords = 8 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Write(p[:min(len(p), maxWords-t.text.Len())])
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// line is the first line.
func (t *tail) line() string {
	line, _, _ := strings.Cut(t.String(), "\n")
	return line
}

// clock ends a process when it has worked for too long, and says when it is no quick one. Time for
// answers does not count.
type clock struct {
	left, quick   time.Duration
	timer, ageing *time.Timer
	since         time.Time
	fired         atomic.Bool
	kill, age     func()
}

func (c *clock) start() {
	c.since = time.Now()
	c.timer = time.AfterFunc(c.left, func() {
		c.fired.Store(true)
		c.kill()
	})
	c.ageing = time.AfterFunc(c.quick, c.age) // again at once, if it is long
}

func (c *clock) stop() {
	c.timer.Stop()
	c.ageing.Stop()
	computed := time.Since(c.since)
	c.left, c.quick = max(c.left-computed, 0), max(c.quick-computed, 0)
}
