package main

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestDependencies: the command line has the controllers of a landscape in memory, and none of what only a
// server needs. Each of these is megabytes of the program, and of what it takes to start.
func TestDependencies(t *testing.T) {
	linked := imports(t)
	if len(linked["go.landscaper.dev/internal/server"]) == 0 {
		t.Fatal("the command line does not have the controllers: the test looks at something else")
	}
	for _, denied := range []struct{ reason, path string }{
		{"traces are sent by a server", "go.landscaper.dev/internal/telemetry/tracing"},
		{"traces bring a client for collectors", "go.opentelemetry.io/otel/exporters"},
		{"traces bring a client for collectors", "google.golang.org/grpc"},
		{"the filter of metrics has most of an API server", "k8s.io/apiserver"},
	} {
		for path := range linked {
			if path == denied.path || strings.HasPrefix(path, denied.path+"/") {
				t.Errorf("the command line needs %s: %s", path, denied.reason)
			}
		}
	}
}

// TestTypedClients: no package of ours makes the client of all kinds. Libraries import its package, too,
// and the linker drops what they do not use; where one is made, all methods of all kinds are kept.
func TestTypedClients(t *testing.T) {
	for path, imported := range imports(t) {
		if strings.HasPrefix(path, "go.landscaper.dev/") && slices.Contains(imported, "k8s.io/client-go/kubernetes") {
			t.Errorf("%s imports k8s.io/client-go/kubernetes: take the client of the group that it needs", path)
		}
	}
}

// imports are the packages that the command line links, with what they import.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", ".")
	output, err := command.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			t.Fatalf("%v: %s", command, failed.Stderr)
		}
		t.Fatal(err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(output)) {
		if fields := strings.Fields(line); len(fields) > 0 {
			all[fields[0]] = fields[1:]
		}
	}
	return all
}
