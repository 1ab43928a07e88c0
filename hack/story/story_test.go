package story

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

// written is what a story writes to a console whose clock the story itself moves.
func written(console *terminaltest.Console, tell func(*Story) error) (string, error) {
	s := New(console.Streams())
	s.every = 0
	err := tell(s)
	return console.Out.String(), err
}

// shop is a story of two steps, of which the second one may fail.
func shop(at *time.Time, failure error) func(*Story) error {
	return func(s *Story) error {
		s.now = func() time.Time { return *at }
		err := s.Step("Starting the clusters", func(progress io.Writer) error {
			for _, line := range []string{"lab: building controlplane: 10 of 80 packages", "lab: building controlplane: 80 of 80 packages"} {
				*at = at.Add(2 * time.Second)
				fmt.Fprintln(progress, line)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return s.Step("Waiting for Installation shop", func(progress io.Writer) error {
			*at = at.Add(1500 * time.Millisecond)
			// A line may come in pieces, and with what acts on a terminal.
			_, _ = io.WriteString(progress, "  1s  shop (Init): \x1b[2JDeployItem web")
			_, _ = io.WriteString(progress, ": the job is running\n")
			return failure
		})
	}
}

// TestSteps: what is written on a terminal, with what replaces it, and in a log.
func TestSteps(t *testing.T) {
	const clear = "\x1b[K"
	for _, test := range []struct {
		reason  string
		console terminaltest.Console
		failure error
		want    []string
		err     string
	}{
		{"a log has each step once, when it has ended", terminaltest.Console{}, nil, []string{
			"✔ Starting the clusters                                                    4.0 s\n",
			"✔ Waiting for Installation shop                                            1.5 s\n",
		}, ""},
		{"a step that fails names what it has seen last", terminaltest.Console{}, errors.New("exit status 2"), []string{
			"✔ Starting the clusters                                                    4.0 s\n",
			"✘ Waiting for Installation shop                               failed after 1.5 s\n",
		}, "Waiting for Installation shop: exit status 2\nlast seen: shop (Init): ?[2JDeployItem web: the job is running"},
		{"a terminal that replaces nothing is written to as a log is", terminaltest.Console{Columns: 60, Environment: map[string]string{"TERM": "dumb"}}, nil, []string{
			"✔ Starting the clusters                               4.0 s\n",
			"✔ Waiting for Installation shop                       1.5 s\n",
		}, ""},
		{"a terminal shows what the step waits for, in place", terminaltest.Console{Columns: 100, Environment: map[string]string{"NO_COLOR": "1"}}, nil, []string{
			"\r▸ Starting the clusters 0s" + clear,
			"\r▸ Starting the clusters 2s  building controlplane: 10 of 80 packages" + clear,
			"\r▸ Starting the clusters 4s  building controlplane: 80 of 80 packages" + clear,
			"\r✔ Starting the clusters                                                    4.0 s" + clear + "\n",
			"\r▸ Waiting for Installation shop 0s" + clear,
			"\r▸ Waiting for Installation shop 1s" + clear,
			"\r▸ Waiting for Installation shop 1s  shop (Init): ?[2JDeployItem web: the job is running" + clear,
			"\r✔ Waiting for Installation shop                                            1.5 s" + clear + "\n",
		}, ""},
		{"a narrow terminal without UTF-8 has a part of the name and a part of the wait", terminaltest.Console{Columns: 40, Environment: map[string]string{"NO_COLOR": "1", "LANG": "C"}}, nil, []string{
			"\r> Starting the clusters 0s" + clear,
			"\r> Starting t... 2s  building control..." + clear,
			"\r> Starting t... 4s  building control..." + clear,
			"\r+ Starting the clusters           4.0 s" + clear + "\n",
			"\r> Waiting for Installation shop 0s" + clear,
			"\r> Waiting for Installation shop 1s" + clear,
			"\r> Waiting fo... 1s  shop (Init): ?[2..." + clear,
			"\r+ Waiting for Installation shop   1.5 s" + clear + "\n",
		}, ""},
		{"colours on a terminal of unknown width", terminaltest.Console{Columns: -1}, errors.New("no"), []string{
			"\r\x1b[33m▸\x1b[0m Starting the clusters 0s" + clear,
			"\r\x1b[33m▸\x1b[0m Starting the clusters 2s  building controlplane: 10 of 80 packages" + clear,
			"\r\x1b[33m▸\x1b[0m Starting the clusters 4s  building controlplane: 80 of 80 packages" + clear,
			"\r\x1b[32m✔\x1b[0m Starting the clusters                                                   4.0 s" + clear + "\n",
			"\r\x1b[33m▸\x1b[0m Waiting for Installation shop 0s" + clear,
			"\r\x1b[33m▸\x1b[0m Waiting for Installation shop 1s" + clear,
			"\r\x1b[33m▸\x1b[0m Waiting for Installation shop 1s  shop (Init): ?[2JDeployItem web: the job i…" + clear,
			"\r\x1b[31m✘\x1b[0m Waiting for Installation shop                              failed after 1.5 s" + clear + "\n",
		}, "Waiting for Installation shop: no\nlast seen: shop (Init): ?[2JDeployItem web: the job is running"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			at := time.Unix(0, 0)
			got, err := written(&test.console, shop(&at, test.failure))
			if diff := cmp.Diff(test.want, pieces(got)); diff != "" {
				t.Error(diff)
			}
			if (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Errorf("error %v, want %s", err, test.err)
			}
			if test.failure != nil && !errors.Is(err, test.failure) {
				t.Errorf("%v does not have the cause", err)
			}
		})
	}
}

// pieces splits an output where a line ends or is replaced.
func pieces(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		for i, piece := range strings.Split(line, "\r") {
			if i > 0 {
				piece = "\r" + piece
			}
			if piece != "" {
				all = append(all, piece)
			}
		}
	}
	return all
}

// TestStepTo: a step says at its end what it has done, and by its name what has failed.
func TestStepTo(t *testing.T) {
	for _, test := range []struct {
		reason  string
		failure error
		want    string
	}{
		{"it has done something", nil, "✔ Rebuilt shop.go                                                          0.0 s\n"},
		{"it has failed", errors.New("no"), "✘ Rebuilding shop.go                                          failed after 0.0 s\n"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := written(&terminaltest.Console{}, func(s *Story) error {
				s.now = func() time.Time { return time.Unix(0, 0) }
				return s.StepTo("Rebuilding shop.go", func(io.Writer) (string, error) { return "Rebuilt shop.go", test.failure })
			})
			if diff := cmp.Diff(test.want, got); diff != "" || !errors.Is(err, test.failure) {
				t.Error(diff, err)
			}
		})
	}
}

// TestSay: a long text is broken between words on a terminal, and left as it is in a log.
func TestSay(t *testing.T) {
	const text = "The token has travelled\nthrough Landscaper."
	for _, test := range []struct {
		reason  string
		columns int
		want    string
	}{
		{"a log", 0, text + "\n"},
		{"a wide terminal", 80, text + "\n"},
		{"a narrow terminal", 16, "The token has\ntravelled\nthrough\nLandscaper.\n"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := written(&terminaltest.Console{Columns: test.columns}, func(s *Story) error { s.Say(text); return nil })
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
}

// TestAddress: an address is in one line, however narrow the terminal is.
func TestAddress(t *testing.T) {
	const address = "http://127.0.0.1:39107/login?token=TWQP4Q2K5I3QO4OK5G2KWD5H3G"
	for _, test := range []struct {
		reason  string
		columns int
		want    string
	}{
		{"a log", 0, "\nOpen this link:\n  " + address + "\n\n"},
		{"a narrow terminal", 12, "\nOpen this\nlink:\n  " + address + "\n\n"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := written(&terminaltest.Console{Columns: test.columns}, func(s *Story) error { s.Address("Open this link:", address); return nil })
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
}

// TestTimeMoves: a step that says nothing shows on a terminal that it goes on.
func TestTimeMoves(t *testing.T) {
	console := &watched{Console: terminaltest.Console{Columns: 80}, drawn: make(chan string, 100)}
	streams := console.Streams()
	streams.Out = console
	s := New(streams)
	s.every = time.Millisecond
	err := s.Step("Building", func(io.Writer) error {
		for range 3 {
			if line := <-console.drawn; !strings.Contains(line, "Building") {
				t.Errorf("%q", line)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// watched is a console that reports what is drawn.
type watched struct {
	terminaltest.Console
	drawn chan string
}

// Write implements io.Writer. What no longer is read is not kept.
func (w *watched) Write(text []byte) (int, error) {
	select {
	case w.drawn <- string(text):
	default:
	}
	return len(text), nil
}

// TestLook: what can be pasted, and a console only where there is one.
func TestLook(t *testing.T) {
	look := Look{
		Directory: "/src/landscaper", Kubeconfig: "/src/landscaper/out/lab/a/kubeconfig",
		Commands: []Command{{For: "the tree", Text: "bin/landscaper-cli inst inspect"}},
	}
	const commands = "  cd /src/landscaper\n  export KUBECONFIG=out/lab/a/kubeconfig\n  # the tree\n  bin/landscaper-cli inst inspect\n"
	for _, test := range []struct{ reason, console, want string }{
		{"there is no console", "", commands},
		{"there is a console", "http://127.0.0.1:8080", commands + "  # all of it in a browser: http://127.0.0.1:8080\n"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			look.Console = test.console
			got, err := written(&terminaltest.Console{}, func(s *Story) error { s.Look(look); return nil })
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
	for _, test := range []struct{ reason, path, want string }{
		{"a file below the directory", "/src/landscaper/out/log", "out/log"},
		{"a file beside the directory", "/src/lab/log", "/src/lab/log"},
		{"a program of the PATH", "kubectl", "kubectl"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := look.Path(test.path); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}
