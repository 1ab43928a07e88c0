// Package bench measures how long a lab takes to come up, and what it costs.
package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/lab/internal/report"
)

const program = "../../bin/lab"

// BenchmarkUp brings labs up and down. The promise is that one cluster is ready
// within 5 seconds and three within 12, on two cores, with all programs built.
func BenchmarkUp(b *testing.B) {
	for _, row := range []struct {
		clusters int
		limit    time.Duration
	}{{1, 5 * time.Second}, {3, 12 * time.Second}} {
		b.Run(fmt.Sprintf("clusters=%d", row.clusters), func(b *testing.B) { benchmarkUp(b, row.clusters, row.limit) })
	}
}

func benchmarkUp(b *testing.B, clusters int, limit time.Duration) {
	name := fmt.Sprintf("bench-%d-%d", clusters, os.Getpid())
	var names []string
	for i := range clusters {
		names = append(names, fmt.Sprintf("cluster-%d", i))
	}
	var slowest time.Duration
	var lab report.Lab
	for b.Loop() {
		started := time.Now()
		output, err := exec.Command(program, "up", "--name", name, "--owner-pid", strconv.Itoa(os.Getpid()), "--clusters", strings.Join(names, ",")).Output()
		if err != nil {
			b.Fatal(err)
		}
		slowest = max(slowest, time.Since(started))
		b.StopTimer()
		if err := json.Unmarshal(output, &lab); err != nil {
			b.Fatal(err)
		}
		if output, err := exec.Command(program, "down", "--name", name).CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, output)
		}
		b.StartTimer()
	}
	b.ReportMetric(slowest.Seconds(), "s/slowest-up")
	b.ReportMetric(limit.Seconds(), "s/limit")
	b.ReportMetric(float64(lab.MemoryBytes)/float64(clusters)/(1<<20), "MB-memory/cluster")
	b.ReportMetric(float64(lab.DiskBytes)/float64(clusters)/(1<<20), "MB-disk/cluster")
}
