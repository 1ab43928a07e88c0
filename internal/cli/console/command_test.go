package console

import (
	"bytes"
	"context"
	"net"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/internal/cli/connection/connectiontest"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

// reader ends the command when it has read the link.
type reader struct {
	bytes.Buffer

	end context.CancelFunc
}

// Write implements io.Writer.
func (r *reader) Write(text []byte) (int, error) {
	defer r.end()
	return r.Buffer.Write(text)
}

const installations = "/apis/landscaper.gardener.cloud/v1alpha1/installations"

func TestConsole(t *testing.T) {
	refuse := func(s *connectiontest.Server, path string) {
		s.Refuse("GET "+path, 403, metav1.StatusReasonForbidden, "you may not")
	}
	inDefault := strings.Replace(installations, "installations", "namespaces/default/installations", 1)
	tests := []struct {
		reason   string
		args     []string
		refused  []string
		code     int
		out, err string
	}{
		{"all namespaces", nil, nil, 0, "Open this link, which works once: http://127.0.0.1:", ""},
		{"a namespace", []string{"-n", "shop"}, []string{installations}, 0, "/login?token=", ""},
		{"who may not list all namespaces sees that of the context", nil, []string{installations}, 0, "/login?token=", "only namespace default is shown. Choose another with -n."},
		{"who may list Installations alone sees those", nil, []string{strings.Replace(installations, "installations", "dataobjects", 1), "/api/v1/events"}, 0, "/login?token=", ""},
		{"who may list nothing sees nothing", nil, []string{installations, inDefault}, 4, "", "list installations.landscaper.gardener.cloud in namespace default: you may not"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			server := connectiontest.New(t)
			for _, path := range test.refused {
				refuse(server, path)
			}
			ctx, cancel := context.WithCancel(t.Context())
			c := &terminaltest.Console{}
			streams, out := c.Streams(), &reader{end: cancel}
			streams.Out = out
			if code := server.RunUntil(ctx, t, streams, NewCommand, test.args...); code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			if text := out.String(); !strings.Contains(text, test.out) || test.out == "" && text != "" {
				t.Errorf("printed %q, want %q", text, test.out)
			}
			if text := c.Err.String(); !strings.Contains(text, test.err) || test.err == "" && text != "" {
				t.Errorf("complained %q, want %q", text, test.err)
			}
			if writes := server.Writes(); len(writes) > 0 {
				t.Errorf("it writes: %q", writes)
			}
		})
	}
}

func TestPortInUse(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	c := &terminaltest.Console{}
	code := connectiontest.New(t).Run(t, c, NewCommand, "--port", port)
	if text := c.Err.String(); code != 1 || !strings.Contains(text, "address already in use: choose another port with --port") {
		t.Errorf("code %d: %s", code, text)
	}
}
