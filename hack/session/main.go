// Command session records how the command line looks at work: it runs commands against
// real clusters and writes what a terminal shows as an SVG. "make session" runs it.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

// commands are what is typed; each one is a line that a reader can type, too. The code is
// how they end.
var commands = []struct {
	text string
	code int
}{
	{"landscaper-cli targets create kubernetes-cluster --name edge --target-kubeconfig edge.kubeconfig --apply", 0},
	{"landscaper-cli inst apply -f landscape --wait -q", 0},
	{"landscaper-cli inst inspect", 0},
	{"landscaper-cli inst set-import shop domain=shop.example.com replicas=3", 0},
	{"landscaper-cli inst plan shop", 2},
	{"landscaper-cli inst delete shop --dry-run", 0},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "session:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, path string) (err error) {
	// KWOK plays the nodes on which the web server runs.
	started, err := lab.Start(ctx, lab.Options{Clusters: []string{"resource", "target"}, With: []string{"kwok=target"}, KwokNodes: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, started.Down(context.Background())) }()
	resource, target := started.Clusters["resource"], started.Clusters["target"]
	if err := exec.CommandContext(ctx, "bin/landscaper", "install", "--kubeconfig", resource.Kubeconfig).Run(); err != nil {
		return fmt.Errorf("install: %w", err)
	}
	server, err := landscape.Start(ctx, landscape.Options{Kubeconfig: resource.Kubeconfig, Quiet: true, Group: true, Log: filepath.Join(started.Directory, "landscaper.log")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()

	directory, err := prepare(started.Directory, target.Kubeconfig)
	if err != nil {
		return err
	}
	program, err := filepath.Abs("bin/landscaper-cli")
	if err != nil {
		return err
	}
	var lines []line
	for _, command := range commands {
		lines = append(lines, line{text: "$ " + command.text, typed: true})
		typed := exec.CommandContext(ctx, program, strings.Fields(command.text)[1:]...)
		typed.Dir, typed.Env = directory, []string{"KUBECONFIG=" + resource.Kubeconfig, "HOME=" + directory}
		output, err := typed.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != command.code) {
			return fmt.Errorf("%s: %w\n%s", command.text, err, output)
		}
		for row := range strings.Lines(string(bytes.TrimRight(output, "\n")) + "\n") {
			lines = append(lines, line{text: strings.TrimRight(row, "\n")})
		}
		lines = append(lines, line{})
	}
	return os.WriteFile(path, []byte(draw(lines)), 0o644)
}

// prepare makes the directory in which the commands are typed.
func prepare(parent, kubeconfig string) (string, error) {
	directory := filepath.Join(parent, "session")
	if err := os.CopyFS(filepath.Join(directory, "landscape"), os.DirFS("hack/session/landscape")); err != nil {
		return "", err
	}
	content, err := os.ReadFile(kubeconfig)
	if err != nil {
		return "", err
	}
	return directory, os.WriteFile(filepath.Join(directory, "edge.kubeconfig"), content, 0o600)
}
