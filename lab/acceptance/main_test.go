// Package acceptance tests the lab from the outside: it runs the program, and
// real clients against what the program starts.
package acceptance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"go.landscaper.dev/lab/internal/report"
)

// shared is a lab with everything, for tests that do not disturb each other.
// Cluster flux has the Flux controllers, nodes has KWOK, plain has neither; both others
// trust its ServiceAccounts.
var shared *lab

// ownerVariable makes the test binary play the owner of a lab; see lifetime_test.go.
const ownerVariable = "LAB_TEST_OWNER"

func TestMain(m *testing.M) {
	if name := os.Getenv(ownerVariable); name != "" {
		beOwner(name)
		return
	}
	if os.Getenv(burnVariable) != "" {
		burn()
		return
	}
	os.Exit(runWithLab(m))
}

func runWithLab(m *testing.M) int {
	var err error
	shared, err = up(context.Background(), fmt.Sprintf("shared-%d", os.Getpid()),
		"--clusters", "plain,flux,nodes", "--with", "registry-auth,registry-tls,git-auth,flux=flux,kwok=nodes,issuer=plain")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := shared.down(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// lab is a lab of these tests.
type lab struct{ report.Lab }

// up starts a lab that ends with this process.
func up(ctx context.Context, name string, args ...string) (*lab, error) {
	output, err := run(ctx, name, append([]string{"up", "--owner-pid", strconv.Itoa(os.Getpid())}, args...)...)
	if err != nil {
		return nil, err
	}
	l := &lab{}
	return l, json.Unmarshal([]byte(output), &l.Lab)
}

// upForTest starts a lab that ends with the test.
func upForTest(t *testing.T, args ...string) *lab {
	t.Helper()
	l, err := up(t.Context(), uniqueName(t), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.down(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return l
}

// names counts the labs of this process.
var names atomic.Int32

func uniqueName(t *testing.T) string {
	name, _, _ := strings.Cut(strings.ToLower(t.Name()), "/")
	return fmt.Sprintf("%.24s-%d-%d", name, os.Getpid(), names.Add(1))
}

func (l *lab) down(ctx context.Context) error {
	_, err := run(ctx, l.Name, "down")
	return err
}

// do runs a command of the lab and returns what it prints.
func (l *lab) do(t *testing.T, args ...string) string {
	t.Helper()
	output, err := run(t.Context(), l.Name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return output
}

// doJSON runs a command of the lab and decodes what it prints.
func (l *lab) doJSON(t *testing.T, result any, args ...string) {
	t.Helper()
	if err := json.Unmarshal([]byte(l.do(t, args...)), result); err != nil {
		t.Fatalf("lab %s: %v", args[0], err)
	}
}

// component finds a component in the lab's present status by the start of its name.
func (l *lab) component(t *testing.T, prefix string) (report.Component, bool) {
	t.Helper()
	var present report.Lab
	l.doJSON(t, &present, "status", "--json")
	for _, component := range present.Components {
		if strings.HasPrefix(component.Name, prefix) {
			return component, true
		}
	}
	return report.Component{}, false
}

func run(ctx context.Context, name string, args ...string) (string, error) {
	var output, said bytes.Buffer
	cmd := exec.CommandContext(ctx, program(), append([]string{"--name", name}, args...)...)
	cmd.Stdout, cmd.Stderr = &output, &said
	if err := cmd.Run(); err != nil {
		return output.String(), fmt.Errorf("lab %s: %w: %s", strings.Join(args, " "), err, said.String())
	}
	return output.String(), nil
}

// program is the lab's program: $LAB_BIN, or the one of this repository.
func program() string {
	if program := os.Getenv("LAB_BIN"); program != "" {
		return program
	}
	program, err := filepath.Abs("../../bin/lab")
	if err != nil {
		panic(err)
	}
	return program
}
