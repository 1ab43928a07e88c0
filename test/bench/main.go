// Command bench measures Landscaper on a lab: what an Installation costs in requests,
// bytes, time and CPU, and how that grows. It prints a table with budgets, and fails if a
// count is beyond its budget. "make bench" runs it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// options are the flags.
type options struct {
	large, settled       int
	history, out, record string
	parts, program       string
}

func main() {
	var o options
	flag.IntVar(&o.large, "large", 1000, "number of Installations in the large run; the small one has a fifth")
	flag.IntVar(&o.settled, "settled", 3000, "number of Installations at rest in the part \"settled\"")
	flag.StringVar(&o.parts, "parts", "", "only these parts, with commas: "+strings.Join(partNames(), ", "))
	flag.StringVar(&o.history, "history", "", "also add the figures to this file, and print which counts were different in the run before")
	flag.StringVar(&o.out, "json", "", "also write the figures to this file")
	flag.StringVar(&o.program, "server", "", "the server program, instead of bin/landscaper")
	flag.StringVar(&o.record, "profiles", "", "write CPU profiles of the part \"rates\" to this directory; needs a server that was built with -tags profile")
	flag.Parse()
	log.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// part is something that is measured by itself.
type part struct {
	name    string
	measure func(ctx context.Context, b *bench, r *Report) error
}

// parts are all of them, in their order.
var parts = []part{
	{"counts", counts}, {"latency", latencies}, {"rates", rates}, {"policies", policies}, {"trees", trees},
	{"releases", releases}, {"targets", slowTargets}, {"shoots", manyShoots}, {"trouble", troubles}, {"settled", atRest},
}

func partNames() []string {
	names := make([]string, len(parts))
	for i, part := range parts {
		names[i] = part.name
	}
	return names
}

func (o options) run(ctx context.Context) error {
	chosen := partNames()
	if o.parts != "" {
		chosen = strings.Split(o.parts, ",")
	}
	for _, name := range chosen {
		if !slices.Contains(partNames(), name) {
			return fmt.Errorf("there is no part %q: choose from %s", name, strings.Join(partNames(), ", "))
		}
	}
	bench, err := start(ctx, o)
	if err != nil {
		return err
	}
	defer bench.stop()
	report := &Report{}
	for _, part := range parts {
		if !slices.Contains(chosen, part.name) {
			continue
		}
		fmt.Fprintln(os.Stderr, "──", part.name)
		if err := part.measure(ctx, bench, report); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return o.tell(report)
}

// tell prints and stores the report.
func (o options) tell(report *Report) error {
	kept := report.print()
	if o.history != "" {
		if err := remember(o.history, report); err != nil {
			return err
		}
	}
	if o.out != "" {
		content, err := json.MarshalIndent(report, "", "  ")
		if err != nil {
			return err
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(o.out), 0o755), os.WriteFile(o.out, content, 0o644)); err != nil {
			return err
		}
	}
	if !kept {
		return errors.New("a count is beyond its budget")
	}
	return nil
}
