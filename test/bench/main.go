// Command bench measures Landscaper on a lab: what an Installation costs in
// requests, time and CPU, and how that grows. It prints a table and, at the end,
// the figures as JSON. "make bench" runs it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"go.landscaper.dev/internal/plan"
)

// Report holds all figures.
type Report struct {
	// Requests counts the smallest case by cluster, verb and kind.
	Requests map[string]int `json:"requests"`
	// Latency is the time from create to Succeeded on an idle lab.
	Latency Latency `json:"latency"`
	// CalibratedLimit is the number of raw status writes per second that the API
	// server can do, divided by the writes of the smallest case.
	CalibratedLimit float64 `json:"calibratedInstallationsPerSecond"`
	// Runs are the measurements with many Installations at once.
	Runs []Run `json:"runs"`
	// RequestsExponent and CPUExponent say how the cost of all Installations grows
	// with their number; 1 is linear.
	RequestsExponent float64 `json:"requestsExponent"`
	CPUExponent      float64 `json:"cpuExponent"`
	// Chain is a root whose subinstallations hand a value from one to the next; those of
	// Wide have nothing to do with each other.
	Chain Tree `json:"chain"`
	Wide  Tree `json:"wide"`
	// Trouble are Installations that get nowhere.
	Trouble Trouble `json:"trouble"`
	// Shoots is a TargetSync for a large project.
	Shoots Shoots `json:"shoots"`
	// IdleRequestsPerMinute counts requests of an idle server beyond watches and
	// leases.
	IdleRequestsPerMinute float64 `json:"idleRequestsPerMinute"`
}

// Latency tells how long single Installations take, in milliseconds.
type Latency struct {
	Count  int     `json:"count"`
	Median float64 `json:"medianMs"`
	P90    float64 `json:"p90Ms"`
	Max    float64 `json:"maxMs"`
	// RoundTrips is the median in status writes of one client, measured in the same run.
	RoundTrips float64 `json:"medianRoundTrips"`
}

func main() {
	large := flag.Int("large", 1000, "number of Installations in the large run; the small one has a tenth")
	history := flag.String("history", "", "also add the counts to this file, and print what they were in the run before")
	out := flag.String("json", "", "also write the figures to this file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	report, err := measure(ctx, *large)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	report.print()
	if *history != "" {
		if err := remember(*history, report); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
	}
	content, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	fmt.Println(string(content))
	if *out != "" {
		if err := os.WriteFile(*out, content, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
	}
}

// chainLength is how many subinstallations hand a value from one to the next.
const chainLength = 50

func measure(ctx context.Context, large int) (*Report, error) {
	bench, err := start(ctx)
	if err != nil {
		return nil, err
	}
	defer bench.stop()
	report := &Report{}
	say("calibrating: raw status writes")
	writes, err := bench.calibrate(ctx, 5*time.Second)
	if err != nil {
		return nil, err
	}
	report.CalibratedLimit = writes / writesPerInstallation
	if err := bench.startServer(ctx); err != nil {
		return nil, err
	}
	say("the smallest case, one after the other")
	if report.Requests, err = bench.countRequests(ctx); err != nil {
		return nil, err
	}
	if report.Latency, err = bench.latency(ctx, 40); err != nil {
		return nil, err
	}
	if err := bench.trees(ctx, large, report); err != nil {
		return nil, err
	}
	say("a TargetSync for a project with many shoots")
	if report.Shoots, err = bench.shoots(ctx, large); err != nil {
		return nil, err
	}
	say("idle")
	if report.IdleRequestsPerMinute, err = bench.idle(ctx, idleTime); err != nil {
		return nil, err
	}
	for _, n := range []int{large / 10, large} {
		say(fmt.Sprintf("%d at once", n))
		run, err := bench.many(ctx, n)
		if err != nil {
			return nil, err
		}
		run.ShareOfLimit = run.Flat.PerSecond / report.CalibratedLimit
		report.Runs = append(report.Runs, *run)
	}
	small, big := report.Runs[0], report.Runs[1]
	report.RequestsExponent = exponent(small, big, func(r Run) float64 { return r.Flat.RequestsEach })
	report.CPUExponent = exponent(small, big, func(r Run) float64 { return r.Flat.CPUMillis })
	trouble, err := bench.trouble(ctx, large, large/10)
	if err != nil {
		return nil, err
	}
	report.Trouble = *trouble
	return report, nil
}

// trees measures a deep and a wide tree.
func (b *bench) trees(ctx context.Context, large int, report *Report) error {
	say("a chain of subinstallations")
	chain, err := b.tree(ctx, chainLength, true)
	if err != nil {
		return err
	}
	say("a wide tree of subinstallations")
	wide, err := b.tree(ctx, min(large, plan.MaxChildren), false)
	if err != nil {
		return err
	}
	report.Chain, report.Wide = *chain, *wide
	return nil
}

func say(what string) { fmt.Fprintln(os.Stderr, "──", what) }

// print writes the figures as a table with their goals.
func (r *Report) print() {
	row := func(what, figure, goal string) { fmt.Printf("%-52s %14s   %s\n", what, figure, goal) }
	row("figure", "measured", "goal")
	row(strings.Repeat("-", 52), strings.Repeat("-", 14), strings.Repeat("-", 14))
	for _, key := range sortedKeys(r.Requests) {
		row("requests: "+key, fmt.Sprint(r.Requests[key]), "")
	}
	row("latency, median of "+fmt.Sprint(r.Latency.Count), fmt.Sprintf("%.0f ms", r.Latency.Median), "150 ms")
	row("latency, round trips", fmt.Sprintf("%.1f", r.Latency.RoundTrips), "12")
	row("latency, 90 % / largest", fmt.Sprintf("%.0f / %.0f ms", r.Latency.P90, r.Latency.Max), "")
	row(fmt.Sprintf("chain of %d: time per hop", r.Chain.Subinstallations), fmt.Sprintf("%.0f ms", r.Chain.MillisEach), "")
	row("chain: round trips per hop", fmt.Sprintf("%.1f", r.Chain.RoundTrips), "8")
	row("chain: requests per hop", fmt.Sprintf("%.1f", r.Chain.RequestsEach), "")
	wide := fmt.Sprintf("wide tree of %d: ", r.Wide.Subinstallations)
	row(wide+"time of each", fmt.Sprintf("%.0f ms", r.Wide.MillisEach), "")
	row(wide+"requests of each", fmt.Sprintf("%.1f", r.Wide.RequestsEach), "")
	row(wide+"server CPU of each", fmt.Sprintf("%.1f ms", r.Wide.CPUMillis), "")
	shoots := fmt.Sprintf("TargetSync of %d shoots: ", r.Shoots.Count)
	row(shoots+"first run", fmt.Sprintf("%.0f s", r.Shoots.FirstSeconds), "")
	row(shoots+"requests at once", fmt.Sprint(r.Shoots.AtOnce), "5")
	row(shoots+"requests of each", fmt.Sprintf("%.2f", r.Shoots.FirstRequestsEach), "")
	row(shoots+"requests to the garden, nothing due", fmt.Sprint(r.Shoots.SteadySource), fmt.Sprint(r.Shoots.Pages))
	row(shoots+"writes, nothing due", fmt.Sprint(r.Shoots.SteadyWrites), "0")
	row("calibrated limit", fmt.Sprintf("%.1f /s", r.CalibratedLimit), "")
	for _, run := range r.Runs {
		run.print(row)
	}
	r.Trouble.print(row, r.Runs[0].Flat)
	row("growth of requests (exponent)", fmt.Sprintf("%.2f", r.RequestsExponent), "1.05")
	row("growth of CPU (exponent)", fmt.Sprintf("%.2f", r.CPUExponent), "1.05")
	row("idle requests per minute", fmt.Sprintf("%.0f", r.IdleRequestsPerMinute), "0")
	fmt.Println()
}
