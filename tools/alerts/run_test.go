package alerts

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// suite is a file of tests, in the form of promtool.
type suite struct {
	EvaluationInterval model.Duration `yaml:"evaluation_interval"`
	Tests              []scenario     `yaml:"tests"`
}

type scenario struct {
	Name     string         `yaml:"name"`
	Interval model.Duration `yaml:"interval"`
	Input    []struct {
		Series string `yaml:"series"`
		Values string `yaml:"values"`
	} `yaml:"input_series"`
	Expected []expectation `yaml:"alert_rule_test"`
}

type expectation struct {
	Time   model.Duration `yaml:"eval_time"`
	Alert  string         `yaml:"alertname"`
	Alerts []struct {
		Labels map[string]string `yaml:"exp_labels"`
	} `yaml:"exp_alerts"`
}

// sample implements chunks.Sample.
type sample struct {
	at int64
	v  float64
}

func (s sample) ST() int64                     { return 0 }
func (s sample) T() int64                      { return s.at }
func (s sample) F() float64                    { return s.v }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }

// memory holds series, and implements storage.Queryable and storage.Querier.
type memory []storage.Series

// load reads the series of a scenario.
func (s scenario) load() (memory, error) {
	var all memory
	for _, input := range s.Input {
		name, values, err := parser.NewParser(parser.Options{}).ParseSeriesDesc(input.Series + " " + input.Values)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", input.Series, err)
		}
		var samples []chunks.Sample
		for i, v := range values {
			if !v.Omitted {
				samples = append(samples, sample{int64(i) * time.Duration(s.Interval).Milliseconds(), v.Value})
			}
		}
		all = append(all, storage.NewListSeries(name, samples))
	}
	slices.SortFunc(all, func(a, b storage.Series) int { return labels.Compare(a.Labels(), b.Labels()) })
	return all, nil
}

func (m memory) Querier(int64, int64) (storage.Querier, error) { return m, nil }
func (m memory) Close() error                                  { return nil }

func (m memory) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (m memory) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (m memory) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	var found []storage.Series
	for _, series := range m {
		if !slices.ContainsFunc(matchers, func(matcher *labels.Matcher) bool { return !matcher.Matches(series.Labels().Get(matcher.Name)) }) {
			found = append(found, series)
		}
	}
	return &set{series: found, at: -1}
}

// set implements storage.SeriesSet.
type set struct {
	series []storage.Series
	at     int
}

func (s *set) Next() bool                        { s.at++; return s.at < len(s.series) }
func (s *set) At() storage.Series                { return s.series[s.at] }
func (s *set) Err() error                        { return nil }
func (s *set) Warnings() annotations.Annotations { return nil }

// firing evaluates a rule at each step until a time, and returns the labels of what fires then: what was there
// at each step for as long as the rule says.
func firing(ctx context.Context, engine *promql.Engine, data memory, rule rulefmt.Rule, every, until time.Duration) ([]map[string]string, error) {
	since := map[string]time.Duration{}
	var fires []map[string]string
	for at := time.Duration(0); at <= until; at += every {
		query, err := engine.NewInstantQuery(ctx, data, nil, rule.Expr, time.Unix(0, 0).Add(at))
		if err != nil {
			return nil, err
		}
		result, err := query.Exec(ctx).Vector()
		if err != nil {
			return nil, err
		}
		present := map[string]time.Duration{}
		fires = nil
		for _, one := range result {
			if value.IsStaleNaN(one.F) {
				continue
			}
			key := one.Metric.String()
			present[key] = at
			if before, known := since[key]; known {
				present[key] = before
			}
			if at-present[key] >= time.Duration(rule.For) {
				fires = append(fires, labelsOf(one.Metric, rule))
			}
		}
		since = present
		query.Close()
	}
	return fires, nil
}

func labelsOf(metric labels.Labels, rule rulefmt.Rule) map[string]string {
	all := metric.Map()
	delete(all, model.MetricNameLabel)
	for name, text := range rule.Labels {
		all[name] = text
	}
	return all
}
