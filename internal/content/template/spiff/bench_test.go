package spiff_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/internal/content/template/spiff"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
)

// largeDocument has about nodes nodes, every tenth of them an expression.
func largeDocument(nodes int) string {
	var b strings.Builder
	b.WriteString("base: {size: 3, name: unit}\nitems:\n")
	for i := 0; i < nodes/10; i++ {
		fmt.Fprintf(&b, "  item%d:\n    name: (( base.name \"-\" %d ))\n    size: %d\n    ports: [80, 443]\n"+
			"    labels: {tier: gold, zone: z%d}\n    enabled: true\n", i, i, i, i%7)
	}
	return b.String()
}

func largeStub(nodes int) string {
	var b strings.Builder
	b.WriteString("items:\n")
	for i := 0; i < nodes/10; i += 3 {
		fmt.Fprintf(&b, "  item%d: {size: %d, labels: {zone: stub}}\n", i, i*2)
	}
	return b.String()
}

func mergeOnce(tb testing.TB, nodes int) func() {
	tb.Helper()
	engine, err := spiff.New(spiff.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	docs, err := spiff.Parse([]byte(largeDocument(nodes)), "template.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	stub, err := spiff.ParseOne([]byte(largeStub(nodes)), "stub.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	return func() {
		_, err := engine.Process(context.Background(), docs[0], spiff.Input{Stubs: []spiff.Document{stub}}, spiff.Options{})
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkMerge merges a document of 5,000 nodes with 500 expressions.
func BenchmarkMerge(b *testing.B) {
	merge := mergeOnce(b, 5_000)
	b.ReportAllocs()
	for b.Loop() {
		merge()
	}
}

// BenchmarkGrowth measures the same merge from 500 to 50,000 nodes and reports
// the exponent of time and allocations over size.
func BenchmarkGrowth(b *testing.B) {
	sizes := []int{500, 5_000, 50_000}
	var times, allocs []float64
	for _, n := range sizes {
		merge := mergeOnce(b, n)
		times = append(times, fastest(merge))
		allocs = append(allocs, testing.AllocsPerRun(3, merge))
	}
	for b.Loop() {
	}
	b.ReportMetric(exponent(sizes, times), "time-exponent")
	b.ReportMetric(exponent(sizes, allocs), "alloc-exponent")
}

// TestGrowthIsLinear counts allocations, which do not depend on the machine.
func TestGrowthIsLinear(t *testing.T) {
	sizes := []int{500, 5_000, 50_000}
	var allocs []float64
	for _, n := range sizes {
		allocs = append(allocs, testing.AllocsPerRun(1, mergeOnce(t, n)))
	}
	if e := exponent(sizes, allocs); e > 1.1 {
		t.Errorf("allocations grow with exponent %.2f: %v", e, allocs)
	}
}

// fastest is the shortest of a few runs, in seconds.
func fastest(f func()) float64 {
	best := math.Inf(1)
	for range 5 {
		start := time.Now()
		f()
		best = min(best, time.Since(start).Seconds())
	}
	return best
}

// exponent fits y = c * x^e between the first and the last point.
func exponent(x []int, y []float64) float64 {
	last := len(x) - 1
	return math.Log(y[last]/y[0]) / math.Log(float64(x[last])/float64(x[0]))
}

// BenchmarkParse reports the exponent of parsing time over expression length.
func BenchmarkParse(b *testing.B) {
	shapes := map[string]func(n int) string{
		"chain":  func(n int) string { return "1" + strings.Repeat(" + a.b", n) },
		"list":   func(n int) string { return "[" + strings.Repeat("{ \"k\"=v }, ", n) + "1]" },
		"string": func(n int) string { return `"` + strings.Repeat("abcdef ", n) + `"` },
	}
	for name, shape := range shapes {
		b.Run(name, func(b *testing.B) {
			sizes := []int{1_000, 10_000, 100_000}
			var times []float64
			for _, n := range sizes {
				src := shape(n)
				times = append(times, fastest(func() {
					if _, err := syntax.Parse(src); err != nil {
						b.Fatal(err)
					}
				}))
			}
			for b.Loop() {
			}
			b.ReportMetric(exponent(sizes, times), "time-exponent")
		})
	}
}

// BenchmarkReferences evaluates 10,000 nodes with 5,000 references, half of
// them in one long chain.
func BenchmarkReferences(b *testing.B) {
	var text strings.Builder
	text.WriteString("k2500: 1\n")
	for i := range 2500 {
		fmt.Fprintf(&text, "k%d: (( k%d ))\np%d: (( k%d ))\nq%d: 1\nr%d: x\n", i, i+1, i, i, i, i)
	}
	engine, err := spiff.New(spiff.Config{})
	if err != nil {
		b.Fatal(err)
	}
	doc, err := spiff.ParseOne([]byte(text.String()), "template.yaml")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := engine.Process(context.Background(), doc, spiff.Input{}, spiff.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNestedBrackets parses brackets nested 40 levels deep.
func BenchmarkNestedBrackets(b *testing.B) {
	src := strings.Repeat("(", 40) + "1" + strings.Repeat(")", 40)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := syntax.Parse(src); err != nil {
			b.Fatal(err)
		}
	}
}
