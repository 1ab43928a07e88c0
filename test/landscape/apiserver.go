package landscape

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"go.landscaper.dev/api/v1alpha1"
)

// Work is what an API server has done so far, by its own account.
type Work struct {
	// CPU is that of its process.
	CPU time.Duration
	// Written are the bytes of the bodies of all writes of our kinds, Sent those of the
	// events that went to watches of them.
	Written, Sent float64
	// Reviewing is how long its admission policies took.
	Reviewing time.Duration
}

// APIServer reads what an API server has done, as an administrator.
func APIServer(ctx context.Context, kubeconfig string) (Work, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return Work{}, fmt.Errorf("read kubeconfig: %w", err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return Work{}, fmt.Errorf("connect: %w", err)
	}
	metrics, err := get(ctx, client, config.Host+"/metrics")
	if err != nil {
		return Work{}, fmt.Errorf("read the metrics of the API server: %w", err)
	}
	defer metrics.Close() //nolint:errcheck // it was read to its end
	return readWork(metrics)
}

// Minus is what was done in between.
func (w Work) Minus(before Work) Work {
	return Work{
		CPU: w.CPU - before.CPU, Written: w.Written - before.Written, Sent: w.Sent - before.Sent,
		Reviewing: w.Reviewing - before.Reviewing,
	}
}

// sample is a line of metrics.
var sample = regexp.MustCompile(`^([a-z_]+)(?:\{(.*)\})? ([^ ]+)$`)

func readWork(metrics io.Reader) (Work, error) {
	work := Work{}
	lines := bufio.NewScanner(metrics)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		parts := sample.FindStringSubmatch(lines.Text())
		if parts == nil {
			continue
		}
		value, err := strconv.ParseFloat(parts[3], 64)
		if err != nil {
			return Work{}, fmt.Errorf("read %q: %w", lines.Text(), err)
		}
		work.add(parts[1], parts[2], value)
	}
	return work, lines.Err()
}

// add adds one value.
func (w *Work) add(name, labels string, value float64) {
	ours := strings.Contains(labels, `group="`+v1alpha1.GroupName+`"`)
	seconds := time.Duration(value * float64(time.Second))
	switch {
	case name == "process_cpu_seconds_total":
		w.CPU = seconds
	case name == "apiserver_request_body_size_bytes_sum" && ours:
		w.Written += value
	case name == "apiserver_watch_events_sizes_sum" && ours:
		w.Sent += value
	case name == "apiserver_admission_controller_admission_duration_seconds_sum" && strings.Contains(labels, `name="ValidatingAdmissionPolicy"`):
		w.Reviewing += seconds
	}
}
