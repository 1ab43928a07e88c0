package spiff_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/internal/content/template/spiff"
)

// hostile is a template that tries to use up time or memory.
type hostile struct {
	reason   string
	template string
	want     string // part of the message
}

func hostileTemplates() []hostile {
	doubling := "a0: [1,1,1,1,1,1,1,1,1,1]\n"
	for i := 1; i < 40; i++ {
		doubling += fmt.Sprintf("a%d: (( [%s] ))\n", i, strings.Repeat(fmt.Sprintf("a%d,", i-1), 9)+fmt.Sprintf("a%d", i-1))
	}
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'n'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s*%c]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 8), c-1)
	}
	return []hostile{
		{"a list that grows by itself", "x: (( sum[[1..100000]|[1]|s,i|->s s] ))", "list is longer"},
		{"a map of lists of lists", "x: (( map[[1..1000000]|i|->[1..1000000]] ))", "more than"},
		{"values that share their parts", doubling, "more than 1000000 nodes"},
		{"endless recursion", "f: (( &temporary(|x|->_(x + 1)) ))\ny: (( .f(1) ))", "nested deeper"},
		{"exponential recursion", "f: (( &temporary(|x|->x < 2 ? x :_(x - 1) + _(x - 2)) ))\ny: (( .f(60) ))", "steps"},
		{"recursion through eval", "s: eval(s)\nx: (( eval(s) ))", "nested deeper"},
		{"a template that uses itself", "t: {<<: (( &template )), a: (( *_ ))}\nx: (( *t ))", "resolution of template"},
		{"an exponential text", "x: (( sum[[1..60]|\"0123456789\"|s,i|->s s] ))", "text is longer"},
		{"a long text many times", "a: (( &temporary(sum[[1..20]|\"0123456789\"|s,i|->s s]) ))\nx: (( map[[1..100000]|i|->a] ))", "more than"},
		{"a lambda that prints exponentially", "x: (( sum[[1..40]|\"a\"|s,i|->lambda |p=[s,s]|->p] ))", "more than"},
		{"nested values", "x: (( sum[[1..100000]|[]|s,i|->[s]] ))", "nested deeper"},
		{"nested brackets", "x: (( " + strings.Repeat("(", 200_000) + "1" + strings.Repeat(")", 200_000) + " ))", "nested deeper"},
		{"nested negations", "x: (( " + strings.Repeat("!", 200_000) + "1 ))", "nested deeper"},
		{"nested calls", "f: (( |x|->x ))\nx: (( .f" + strings.Repeat("(1)", 100_000) + " ))", "more than"},
		{"nested YAML", "x: " + strings.Repeat("[", 200_000), "depth"},
		{"an alias bomb", bomb, "aliases"},
		{"an anchor that contains itself", "a: &a [*a]", "contains itself"},
		{"a costly search", "t: (( &temporary(sum[[1..14]|\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"|s,i|->s s]) ))\n" +
			"x: (( match(\"(a*)*(a*)*(a*)*b|a\", t, -1) ))", "too costly"},
		{"a regular expression with groups that each step copies", "t: (( &temporary(sum[[1..1300]|\"\"|s,i|->s \"(a|b)*\"]) ))\nx: (( match(t, \"aaaa\") ))", "too complex"},
		{"a huge regular expression", `x: (( match("((a{1,1000}){1,1000}){1,10}", "aaaa") ))`, "invalid regular expression"},
		{"a wide format", `x: (( format("%999999999d", 1) ))`, "width"},
		{"a replacement between all characters",
			"a: (( &temporary(sum[[1..20]|\"a\"|s,i|->s s]) ))\nx: (( replace(a, \"\", a) ))", "longer than"},
		{"a long separator", "a: (( &temporary(sum[[1..20]|\"a\"|s,i|->s s]) ))\nx: (( join(a, [1..100000]) ))", "longer than"},
		{"a long operand many times", "a: (( &temporary(sum[[1..20]|\"a\"|s,i|->s s]) ))\n" +
			"f: (( &temporary(sum[[1..10]|\"%[1]s\"|s,i|->s s]) ))\nx: (( format(f, a) ))", "too long"},
		{"writing a large value again and again",
			"l: (( &temporary([1..500000]) ))\nx: (( sum[[1..1000]|0|s,i|->s + length(asyaml(l))] ))", "steps"},
		{"comparing a large value again and again",
			"l: (( &temporary([1..500000]) ))\nx: (( sum[[1..100000]|0|s,i|->l == l ? s :s] ))", "steps"},
		{"loops in loops", "x:\n  <<for:\n    a: (( [1..1000] ))\n    b: (( [1..1000] ))\n    c: (( [1..1000] ))\n  <<do: 1", "longer than"},
		{"text that is an expression again and again", `x: (( sum[[1..200]|"1"|s,i|->"(( " asjson(s) " ))"] ))`, ""},
		{"many key derivations", `x: (( map[[1..1000]|i|->x509genkey(4096)] ))`, "steps"},
	}
}

// memory limit of the promise for hostile templates.
const hostileMemory = 256 << 20

func TestHostile(t *testing.T) {
	engine, err := spiff.New(spiff.Config{Features: []string{spiff.FeatureControl}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range hostileTemplates() {
		t.Run(tt.reason, func(t *testing.T) {
			runtime.GC()
			peak := watchMemory()
			err := evaluate(engine, tt.template)
			used := peak()
			if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error is %.300v, want %q", err, tt.want)
			}
			if errors.Is(err, spiff.ErrTimeLimit) {
				t.Errorf("only the time limit stops it: %v", err)
			}
			if used > hostileMemory {
				t.Errorf("it uses %d MiB", used>>20)
			}
		})
	}
}

func evaluate(engine *spiff.Engine, template string) error {
	doc, err := spiff.ParseOne([]byte(template), "template.yaml")
	if err != nil {
		return err
	}
	result, err := engine.Process(context.Background(), doc, spiff.Input{}, spiff.Options{})
	if err != nil {
		return err
	}
	_, err = result.YAML()
	return err
}

// watchMemory samples the memory in use until the returned function is called,
// which gives the highest value.
func watchMemory() func() uint64 {
	stop, done := make(chan struct{}), make(chan uint64)
	go func() {
		var highest uint64
		ticker := time.NewTicker(2 * time.Millisecond)
		defer ticker.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			highest = max(highest, m.HeapInuse+m.StackInuse)
			select {
			case <-stop:
				done <- highest
				return
			case <-ticker.C:
			}
		}
	}()
	return func() uint64 { close(stop); return <-done }
}

// BenchmarkHostile reports how long each hostile template keeps the engine
// busy.
func BenchmarkHostile(b *testing.B) {
	engine, err := spiff.New(spiff.Config{Features: []string{spiff.FeatureControl}})
	if err != nil {
		b.Fatal(err)
	}
	for _, tt := range hostileTemplates() {
		b.Run(tt.reason, func(b *testing.B) {
			for b.Loop() {
				_ = evaluate(engine, tt.template)
			}
		})
	}
}

func TestTimeLimitAborts(t *testing.T) {
	engine, err := spiff.New(spiff.Config{Limits: spiff.Limits{Time: 1, Steps: 1 << 40}})
	if err != nil {
		t.Fatal(err)
	}
	err = evaluate(engine, "f: (( &temporary(|x|->x < 2 ? x :_(x - 1) + _(x - 2)) ))\ny: (( .f(40) || 1 ))")
	if !errors.Is(err, spiff.ErrTimeLimit) {
		t.Errorf("error is %v", err)
	}
}

func TestCancellation(t *testing.T) {
	engine, err := spiff.New(spiff.Config{Limits: spiff.Limits{Steps: 1 << 40}})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := spiff.ParseOne([]byte("f: (( &temporary(|x|->x < 2 ? x :_(x - 1) + _(x - 2)) ))\ny: (( .f(60) || 1 ))"), "t")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := engine.Process(ctx, doc, spiff.Input{}, spiff.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}
