package components

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

// openTerminal returns both ends of a pseudo terminal: what a program has, and
// what it shows.
func openTerminal(t *testing.T) (program, screen *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	var number, unlock int32
	for request, value := range map[uintptr]*int32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &unlock} {
		if _, _, code := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), request, uintptr(unsafe.Pointer(value))); code != 0 {
			t.Fatal(code)
		}
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return program, screen
}

// TestProgressOnATerminal downloads from a server that goes on until the terminal
// has shown how far it is.
func TestProgressOnATerminal(t *testing.T) {
	shown := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		for {
			if _, err := out.Write(make([]byte, 1024)); err != nil {
				return
			}
			_ = http.NewResponseController(out).Flush()
			select {
			case <-shown:
				return
			case <-r.Context().Done():
				return
			default:
			}
		}
	}))
	defer server.Close()
	terminaltest.WriteFiles(t, map[string]string{
		"d/one": "{meta: {schemaVersion: v2}, component: {name: example.org/shop, version: 1.0.0, provider: p, repositoryContexts: [], sources: [], componentReferences: [], resources: [{name: net, version: '1', type: t, relation: external, access: {type: wget, url: '" + server.URL + "'}}]}}",
	})
	program, screen := openTerminal(t)
	c := &terminaltest.Console{}
	streams := c.Streams()
	streams.Err = program
	ended := make(chan int)
	go func() { ended <- run(t.Context(), streams, []string{"components", "download", "d", "net"}) }()
	var text strings.Builder
	buffer := make([]byte, 4096)
	for seen := false; !strings.HasSuffix(text.String(), "\r"+terminal.ClearRight); {
		n, err := screen.Read(buffer)
		if err != nil {
			t.Fatalf("%v after %q", err, text.String())
		}
		text.Write(buffer[:n])
		if !seen && strings.Contains(text.String(), terminal.ClearRight) {
			seen = true
			close(shown)
		}
	}
	if code := <-ended; code != 0 || !strings.HasPrefix(text.String(), "\rdownloading net: ") || strings.Contains(text.String(), "\n") {
		t.Errorf("code %d, the terminal showed %q", code, text.String())
	}
	if !strings.HasPrefix(c.Out.String(), "Wrote net (") {
		t.Errorf("printed %q", c.Out.String())
	}
}
