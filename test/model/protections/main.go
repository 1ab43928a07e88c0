// Protections takes the protections of the controllers out, one after the other, and lets the model
// live through histories until it notices: go run ./test/model/protections. A protection whose absence
// no history notices is either not needed, or not tested.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

func main() {
	histories := flag.Int("histories", 10_000, "how many histories the model has for each protection")
	first := flag.Int("first", 1, "the first seed")
	only := flag.String("only", "", "take out only protections with these words in their names")
	root := flag.String("root", ".", "folder of the main module")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	missed, err := run(ctx, *root, *only, seeds{*first, *histories})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "protections:", err)
	}
	if err != nil || missed > 0 {
		os.Exit(1)
	}
}

// seeds are those of the histories.
type seeds struct{ first, count int }

// run prints what the model notices, and returns how many protections it misses.
func run(ctx context.Context, root, only string, among seeds) (missed int, err error) {
	fmt.Println("| taken out | noticed by | what the model says | after |\n|---|---|---|---|")
	for _, p := range protections {
		if !strings.Contains(p.name, only) {
			continue
		}
		began := time.Now()
		seed, says, err := p.takeOut(ctx, root, among)
		if err != nil {
			return missed, fmt.Errorf("take out %q: %w", p.name, err)
		}
		if seed == "" {
			missed++
			seed, says = "**none**", cmp.Or(says, fmt.Sprintf("%d histories are as before", among.count))
		}
		fmt.Printf("| %s | %s | %s | %.0f s |\n", p.name, seed, says, time.Since(began).Seconds())
	}
	return missed, nil
}

// takeOut builds the model without a protection, and runs it.
func (p protection) takeOut(ctx context.Context, root string, among seeds) (seed, says string, err error) {
	folder, err := os.MkdirTemp("", "protections-")
	if err != nil {
		return "", "", err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	overlay, err := p.overlay(root, folder)
	if err != nil {
		return "", "", err
	}
	program, model := filepath.Join(folder, "model.test"), filepath.Join(root, "test/model")
	if err := build(ctx, root, program, "-overlay", overlay); err != nil {
		return "", "", err
	}
	seed, says, err = notices(ctx, program, model, among)
	if err != nil || seed == "" {
		return "", "", err
	}
	// A history that is wrong with the protection, too, says nothing about it.
	if err := build(ctx, root, program); err != nil {
		return "", "", err
	}
	var number int
	if _, err := fmt.Sscanf(seed, "seed %d", &number); err != nil {
		return "", "", fmt.Errorf("read %q: %w", seed, err)
	}
	with, _, err := notices(ctx, program, model, seeds{number, 1})
	if with == seed {
		return "", seed + " is wrong with the protection, too: " + says, err
	}
	return seed, says, err
}

// build builds the model.
func build(ctx context.Context, root, program string, options ...string) error {
	command := exec.CommandContext(ctx, "go", slices.Concat([]string{"test", "-vet=off", "-c", "-o", program}, options, []string{"./test/model"})...)
	command.Dir = root
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build the model: %w\n%s", err, output)
	}
	return nil
}

// notices lets the model live through histories, a process for each processor, until one of them is
// wrong: the others end then.
func notices(ctx context.Context, program, folder string, among seeds) (seed, says string, err error) {
	group, ctx := errgroup.WithContext(ctx)
	processes := min(runtime.NumCPU(), among.count)
	for i := range processes {
		group.Go(func() error {
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			command := exec.CommandContext(ctx, program, "-test.run", "^(TestHistories|TestHistoriesGoBack)$", "-test.v", "-test.timeout", "0",
				"-histories", fmt.Sprint(among.count-i), "-first", fmt.Sprint(among.first+i), "-every", fmt.Sprint(processes))
			command.Dir, command.Env = folder, append(os.Environ(), "GOMAXPROCS=1")
			return watch(command, stop)
		})
	}
	err = group.Wait()
	if wrong := (*wrongHistory)(nil); errors.As(err, &wrong) {
		return wrong.seed, strings.ReplaceAll(wrong.says, "|", "\\|"), nil
	}
	return "", "", err
}

// wrongHistory is a history that breaks a rule.
type wrongHistory struct{ seed, says string }

func (w *wrongHistory) Error() string { return w.seed + ": " + w.says }

// watch runs the model, and stops it as soon as it says that a history is wrong.
func watch(command *exec.Cmd, stop func()) error {
	var output bytes.Buffer
	reads, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	command.Stderr = command.Stdout
	if err := command.Start(); err != nil {
		return fmt.Errorf("start the model: %w", err)
	}
	wrong := firstWrong(io.TeeReader(reads, &output))
	if wrong != nil {
		stop()
	}
	ended := command.Wait()
	switch {
	case wrong != nil:
		return wrong
	case ended != nil:
		return fmt.Errorf("the model has failed for another reason: %w\n%s", ended, output.Bytes())
	}
	return nil
}

// firstWrong reads what the model says until a history is wrong; nil when all are as they should be.
func firstWrong(output io.Reader) error {
	var wrong *wrongHistory
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if found := violation.FindStringSubmatch(lines.Text()); found != nil {
			wrong = &wrongHistory{seed: found[1], says: found[2]}
		}
		if found := repetition.FindStringSubmatch(lines.Text()); found != nil && wrong != nil {
			if found[1] != "TestHistories" {
				wrong.seed += " of " + found[1]
			}
			return wrong
		}
	}
	return lines.Err()
}

// The model says which history is wrong, and why, and then how it is repeated.
var (
	violation  = regexp.MustCompile(`: (seed \d+): (.*)`)
	repetition = regexp.MustCompile(`^\s*repeat it with: .* -run '(\w+)\$' -seed`)
)

// overlay writes the file without the protection, and returns what lets the compiler take it.
func (p protection) overlay(root, folder string) (string, error) {
	path, err := filepath.Abs(filepath.Join(root, p.file))
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	without, err := p.without(string(source))
	if err != nil {
		return "", err
	}
	changed, overlay := filepath.Join(folder, "changed.go"), filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(changed, []byte(without), 0o600); err != nil {
		return "", err
	}
	encoded, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		return "", err
	}
	return overlay, os.WriteFile(overlay, encoded, 0o600)
}

// without returns a file without the protection.
func (p protection) without(source string) (string, error) {
	if count := strings.Count(source, p.old); count != 1 {
		return "", fmt.Errorf("%s has %d times %q: say in the table where the protection is now", p.file, count, p.old)
	}
	return strings.Replace(source, p.old, p.new, 1), nil
}
