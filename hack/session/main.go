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

// commands are what is typed; each one is a line that a reader can type, too.
var commands = []string{
	"landscaper-cli targets create kubernetes-cluster --name first-cluster --target-kubeconfig target.kubeconfig -o landscape/target.yaml",
	"landscaper-cli inst apply -f landscape --wait -q",
	"landscaper-cli inst inspect -o wide",
	"landscaper-cli inst plan first",
	"landscaper-cli inst delete first --dry-run",
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
	started, err := lab.Start(ctx, lab.Options{Clusters: []string{"resource", "target"}})
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
	for _, text := range commands {
		lines = append(lines, line{text: "$ " + text, typed: true})
		command := exec.CommandContext(ctx, program, strings.Fields(text)[1:]...)
		command.Dir, command.Env = directory, []string{"KUBECONFIG=" + resource.Kubeconfig, "HOME=" + directory}
		output, err := command.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", text, err, output)
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
	if err := os.MkdirAll(filepath.Join(directory, "landscape"), 0o755); err != nil {
		return "", err
	}
	for from, to := range map[string]string{"examples/first-installation/installation.yaml": "landscape/installation.yaml", kubeconfig: "target.kubeconfig"} {
		content, err := os.ReadFile(from)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(directory, to), content, 0o600); err != nil {
			return "", err
		}
	}
	return directory, nil
}
