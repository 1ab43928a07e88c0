package alerts

import (
	"log/slog"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

const folder = "../../charts/landscaper/monitoring/"

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func rules(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.Parse([]byte(read(t, folder+"alerts.yaml")), false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.Default())
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	all := map[string]rulefmt.Rule{}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			all[rule.Alert] = rule
		}
	}
	return all
}

// TestAlerts: each alert fires when it should, and does not when it should not.
func TestAlerts(t *testing.T) {
	all := rules(t)
	var tests suite
	if err := yaml.Unmarshal([]byte(read(t, "alerts_test.yaml")), &tests); err != nil {
		t.Fatal(err)
	}
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1 << 20, Timeout: time.Minute, LookbackDelta: 5 * time.Minute, Parser: parser.NewParser(parser.Options{})})
	fired, silent := map[string]bool{}, map[string]bool{}
	for _, test := range tests.Tests {
		t.Run(test.Name, func(t *testing.T) {
			data, err := test.load()
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range test.Expected {
				rule, known := all[want.Alert]
				if !known {
					t.Fatalf("there is no alert %s", want.Alert)
				}
				got, err := firing(t.Context(), engine, data, rule, time.Duration(tests.EvaluationInterval), time.Duration(want.Time))
				if err != nil {
					t.Fatal(err)
				}
				var expected []map[string]string
				for _, alert := range want.Alerts {
					expected = append(expected, alert.Labels)
				}
				if !reflect.DeepEqual(got, expected) {
					t.Errorf("%s after %s: %v, want %v", want.Alert, want.Time, got, expected)
				}
				if len(expected) > 0 {
					fired[want.Alert] = true
				} else {
					silent[want.Alert] = true
				}
			}
		})
	}
	for name := range all {
		if !fired[name] || !silent[name] {
			t.Errorf("no test fires %s, or none keeps it silent", name)
		}
	}
}

// TestRunbooks: each alert has its runbook, and each runbook its alert.
func TestRunbooks(t *testing.T) {
	page := read(t, "../../docs/alerts.md")
	var headings []string
	for _, found := range regexp.MustCompile(`(?m)^## (Landscaper\w+)$`).FindAllStringSubmatch(page, -1) {
		headings = append(headings, found[1])
	}
	all := rules(t)
	for name, rule := range all {
		if !slices.Contains(headings, name) {
			t.Errorf("docs/alerts.md has no section %s", name)
		}
		if want := "docs/alerts.md#" + strings.ToLower(name); rule.Annotations["runbook"] != want {
			t.Errorf("the runbook of %s is %q, want %s", name, rule.Annotations["runbook"], want)
		}
		for _, text := range []string{"summary", "description"} {
			if rule.Annotations[text] == "" {
				t.Errorf("%s has no %s", name, text)
			}
		}
	}
	for _, name := range headings {
		if _, known := all[name]; !known {
			t.Errorf("docs/alerts.md has a section of %s, which is not an alert", name)
		}
	}
}

// listed reads the metrics that docs/operate.md and docs/alerts.md list, with the words of their row.
func listed(t *testing.T) map[string]string {
	t.Helper()
	rows := map[string]string{}
	for _, page := range []string{"operate.md", "alerts.md"} {
		for _, found := range regexp.MustCompile("(?m)^\\| `((?:landscaper|rest_client)_\\w+)` (\\|.*)$").FindAllStringSubmatch(read(t, "../../docs/"+page), -1) {
			rows[found[1]] = found[2]
		}
	}
	return rows
}

var suffix = regexp.MustCompile(`_(count|sum|bucket)$`)

// TestMetrics: alerts and dashboards ask for metrics and values of labels that the server has.
func TestMetrics(t *testing.T) {
	known := listed(t)
	expressions := dashboards(t)
	for name, rule := range rules(t) {
		expressions[name] = append(expressions[name], rule.Expr)
	}
	seen := 0
	for name, list := range expressions {
		for _, text := range list {
			expr, err := parser.NewParser(parser.Options{}).ParseExpr(text)
			if err != nil {
				t.Errorf("%s: %s: %v", name, text, err)
				continue
			}
			for _, selector := range parser.ExtractSelectors(expr) {
				seen++
				checkSelector(t, name, known, selector)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d metrics were looked at", seen)
	}
}

func checkSelector(t *testing.T, name string, known map[string]string, selector []*labels.Matcher) {
	t.Helper()
	metric := ""
	for _, matcher := range selector {
		if matcher.Name == model.MetricNameLabel {
			metric = matcher.Value
		}
	}
	if strings.HasPrefix(metric, "workqueue_") || strings.HasPrefix(metric, "process_") || strings.HasPrefix(metric, "go_") {
		return
	}
	row := known[suffix.ReplaceAllString(metric, "")]
	if row == "" {
		t.Errorf("%s: neither docs/operate.md nor docs/alerts.md lists %s", name, metric)
		return
	}
	for _, matcher := range selector {
		if matcher.Name == model.MetricNameLabel || matcher.Name == "code" {
			continue
		}
		if !strings.Contains(row, "`"+matcher.Name+"`") {
			t.Errorf("%s: %s has no label %s", name, metric, matcher.Name)
		}
		for _, text := range strings.Split(matcher.Value, "|") {
			if !strings.Contains(row, text) {
				t.Errorf("%s: the label %s of %s has no value %s", name, matcher.Name, metric, text)
			}
		}
	}
}
