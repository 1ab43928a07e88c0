package e2e

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
)

// metric is one as the server serves it, or as docs/operate.md lists it.
type metric struct {
	kind   string
	labels []string
	// values are those of the labels; of the list, the whole row.
	values []string
	row    string
}

// TestMetricsList compares the metrics of a running server with docs/operate.md.
func TestMetricsList(t *testing.T) {
	address, err := landscape.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	// What other tests have left behind is not to be counted.
	space := namespace(t)
	startServer(t, env.ServerKubeconfig, "--metrics-address", address, "--metrics-open", "--namespaces", space)
	waitSucceeded(t, create(t, newInstallation(space, "counted", oneConfigMap)))
	// The metrics show kinds and results, and no names of objects.
	text := awaitMetrics(t, address,
		`landscaper_job_duration_seconds_count{kind="Installation",result="succeeded"} 1`,
		`landscaper_job_duration_seconds_count{kind="DeployItem",result="succeeded"} 1`,
		`landscaper_target_requests_total{result="ok",verb="create"} 1`,
		`landscaper_jobs_running{kind="Installation"} 0`,
		`workqueue_depth{controller="installation"`,
		`rest_client_requests_total{code="2xx",host="target",method="POST"} 1`,
	)
	served, listed := servedMetrics(text), listedMetrics(t)
	for name, is := range served {
		want, ok := listed[name]
		switch {
		case !ok && !familyListed(listed, name):
			t.Errorf("docs/operate.md does not list %s", name)
		case ok && (is.kind != want.kind || !slices.Equal(is.labels, want.labels)):
			t.Errorf("%s is a %s with %q, docs/operate.md says a %s with %q", name, is.kind, is.labels, want.kind, want.labels)
		}
		for _, value := range is.values {
			if strings.HasPrefix(name, "landscaper_") && !strings.Contains(want.row, "`"+value+"`") {
				t.Errorf("docs/operate.md does not list the value %s of a label of %s", value, name)
			}
		}
	}
	for name := range listed {
		if _, ok := served[name]; !ok && !strings.HasSuffix(name, "*") {
			t.Errorf("docs/operate.md lists %s, which the server does not have", name)
		}
	}
	if strings.Contains(text, "127.0.0.1") {
		t.Error("the metrics tell addresses of clusters")
	}
}

// familyListed reports whether a row such as go_* means a metric.
func familyListed(listed map[string]metric, name string) bool {
	for row := range listed {
		if prefix, ok := strings.CutSuffix(row, "*"); ok && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// TestWaitsAreCounted shows that the metrics count what jobs wait for, in the words that the
// controllers use today, and no longer when the wait is over.
func TestWaitsAreCounted(t *testing.T) {
	address, err := landscape.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	space := namespace(t)
	startServer(t, env.ServerKubeconfig, "--metrics-address", address, "--metrics-open", "--namespaces", space)
	inst := create(t, newInstallation(space, "unserved", strings.ReplaceAll(oneConfigMap, "landscaper.gardener.cloud/kubernetes-manifest", "example.org/unserved")))
	for _, want := range []string{`kind="Installation",reason="children"`, `kind="Execution",reason="children"`, `kind="DeployItem",reason="deployer"`} {
		awaitMetric(t, address, "landscaper_jobs_waiting{"+want+"} 1")
	}
	request(t, inst, v1alpha1.InterruptOperation)
	awaitMetric(t, address, `landscaper_job_duration_seconds_count{kind="Installation",result="failed"} 1`)
	for _, want := range []string{`kind="Installation",reason="children"`, `kind="Execution",reason="children"`, `kind="DeployItem",reason="deployer"`} {
		awaitMetric(t, address, "landscaper_jobs_waiting{"+want+"} 0")
	}
}

// awaitMetric asks until the server says a line.
func awaitMetric(t *testing.T, address, line string) {
	t.Helper()
	awaitMetrics(t, address, line+"\n")
}

// awaitMetrics asks until the server says some texts, and returns what it says then:
// metrics can only be asked for, and follow from what the server sees of the jobs.
func awaitMetrics(t *testing.T, address string, wanted ...string) (text string) {
	t.Helper()
	late := time.After(waitLimit)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	missing := func(want string) bool { return !strings.Contains(text, want) }
	for text = scenario.ReadMetrics(t, address); slices.ContainsFunc(wanted, missing); text = scenario.ReadMetrics(t, address) {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("the server does not say %q:\n%s", slices.DeleteFunc(wanted, func(want string) bool { return !missing(want) }), text)
		}
	}
	return text
}

var (
	typeLine   = regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`)
	sampleLine = regexp.MustCompile(`(?m)^([a-z_]+)\{(.*)\} \S+$`)
	labelPair  = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)
	code       = regexp.MustCompile("`([^`]+)`")
)

func servedMetrics(text string) map[string]metric {
	metrics := map[string]metric{}
	for _, line := range typeLine.FindAllStringSubmatch(text, -1) {
		metrics[line[1]] = metric{kind: line[2]}
	}
	for _, line := range sampleLine.FindAllStringSubmatch(text, -1) {
		name := line[1]
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if base := strings.TrimSuffix(name, suffix); metrics[base].kind == "histogram" {
				name = base
			}
		}
		is := metrics[name]
		is.labels = nil
		for _, pair := range labelPair.FindAllStringSubmatch(line[2], -1) {
			if pair[1] != "le" {
				is.labels, is.values = append(is.labels, pair[1]), append(is.values, pair[2])
			}
		}
		slices.Sort(is.labels)
		slices.Sort(is.values)
		is.values = slices.Compact(is.values)
		metrics[name] = is
	}
	return metrics
}

// listedMetrics reads the table in docs/operate.md.
func listedMetrics(t *testing.T) map[string]metric {
	t.Helper()
	page, err := os.ReadFile("../../docs/operate.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## Metrics\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if !found {
		t.Fatal("docs/operate.md has no section Metrics")
	}
	metrics := map[string]metric{}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 5 {
			continue
		}
		is := metric{kind: strings.TrimSpace(cells[2]), row: line}
		for _, label := range code.FindAllStringSubmatch(cells[3], -1) {
			is.labels = append(is.labels, label[1])
		}
		slices.Sort(is.labels)
		for _, name := range code.FindAllStringSubmatch(cells[1], -1) {
			metrics[name[1]] = is
		}
	}
	return metrics
}
