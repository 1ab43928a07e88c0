package fuzz

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"go.landscaper.dev/internal/deploy/helm/render"
	"go.landscaper.dev/internal/deploy/kustomize/build"
	"go.landscaper.dev/internal/landscape/plan/remote"
	"go.landscaper.dev/internal/runtime/sandbox"
	"go.landscaper.dev/internal/runtime/sandbox/sandboxtest"
)

var (
	fuzzTime = flag.Duration("fuzz-time", 40*time.Second, "how long cases are composed")
	seed     = flag.Uint64("seed", 0, "seed of the cases (0: another one each time)")
	only     = flag.Int("case", -1, "the number of the only case")
)

// TestMain makes this program a process of the pool, as the server's program is one.
func TestMain(m *testing.M) {
	handlers := map[string]sandbox.Handler{
		lookOperation: lookHere,
		"loop": func(context.Context, []byte, sandbox.Ask) ([]byte, error) {
			for i := 0; ; i++ {
				runtime.KeepAlive(i)
			}
		},
	}
	for _, more := range []map[string]sandbox.Handler{remote.Handlers(), render.Handlers(), build.Handlers()} {
		maps.Copy(handlers, more)
	}
	sandboxtest.Main(m, handlers)
}

// TestComposed composes cases until the time is over.
func TestComposed(t *testing.T) {
	from := *seed
	if from == 0 {
		from = rand.Uint64()
	}
	o := newOracle(t, nil)
	outcomes := map[string]map[string]int{}
	count := 0
	for until := time.Now().Add(*fuzzTime); time.Now().Before(until) || *only >= 0; count++ {
		number := count
		if *only >= 0 {
			number = *only
		}
		kind := kinds[number%len(kinds)]
		one := kind.make(compose(from, number))
		how := ""
		problem := o.judge(one.bounded, func(ctx context.Context) error {
			err := one.work(ctx, o.pool)
			how = outcome(err)
			if err != nil && *only >= 0 {
				t.Logf("%.2000s", err)
			}
			return err
		})
		if outcomes[kind.name] == nil {
			outcomes[kind.name] = map[string]int{}
		}
		outcomes[kind.name][how]++
		if problem != nil {
			t.Errorf("%s: %v\nmake composed SEED=%d CASE=%d\n%.20000s", kind.name, problem, from, number, one.text)
		}
		if *only >= 0 {
			t.Logf("%s: %s\n%.20000s", kind.name, how, one.text)
			return
		}
	}
	t.Logf("%d cases of seed %d: %v", count, from, outcomes)
}

// outcome sorts errors, roughly.
func outcome(err error) string {
	switch {
	case err == nil:
		return "done"
	case strings.Contains(err.Error(), "was ended"):
		return "ended"
	}
	return "refused"
}

// TestSameCase: a seed and a number make the same case.
func TestSameCase(t *testing.T) {
	for number := range 15 {
		kind := kinds[number%len(kinds)]
		if a, b := kind.make(compose(7, number)), kind.make(compose(7, number)); a.text != b.text {
			t.Errorf("case %d:\n%s\n%s", number, a.text, b.text)
		}
	}
}

// TestOracle: a work that nothing bounds is reported.
func TestOracle(t *testing.T) {
	globals := &helmchart.Chart{Metadata: &helmchart.Metadata{APIVersion: "v2", Name: "shop", Version: "1.0.0"}, Values: map[string]any{}}
	values := map[string]any{}
	for i := range 8000 {
		values[fmt.Sprint("key", i)] = map[string]any{"a": "b"}
	}
	globals.Values["global"] = values
	for i := range 50 {
		globals.AddDependency(&helmchart.Chart{Metadata: &helmchart.Metadata{APIVersion: "v2", Name: fmt.Sprint("c", i), Version: "1.0.0"}})
	}
	large := func(ctx context.Context, pool *sandbox.Pool) error { return charted(globals).work(ctx, pool) }
	long := func(ctx context.Context, pool *sandbox.Pool) error {
		_, err := pool.Do(ctx, sandbox.Work{Tenant: "space", Name: "loop", Title: "the loop", Encode: func() ([]byte, error) { return nil, nil }})
		return err
	}
	for _, test := range []struct {
		reason string
		change func(*sandbox.Options)
		work   func(context.Context, *sandbox.Pool) error
		want   string
	}{
		{"the bound of memory holds", nil, large, ""},
		{"without it", func(o *sandbox.Options) { o.Memory = 4 << 30; o.Timeout = time.Minute }, large, "the process took"},
		{"the bound of time holds", nil, long, ""},
		{"without it", func(o *sandbox.Options) { o.Timeout = time.Hour }, long, "it took"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			o := newOracle(t, test.change)
			if test.want == "it took" {
				o.late = time.Second // it always is
			}
			problem := o.judge(true, func(ctx context.Context) error { return test.work(ctx, o.pool) })
			if test.want == "" && problem != nil || test.want != "" && (problem == nil || !strings.Contains(problem.Error(), test.want)) {
				t.Errorf("the oracle says %v, want %q", problem, test.want)
			}
		})
	}
	t.Run("what nothing else bounds", func(t *testing.T) {
		o := newOracle(t, nil)
		if problem := o.judge(false, func(ctx context.Context) error { return long(ctx, o.pool) }); problem == nil || !strings.Contains(problem.Error(), "nothing but the process bounds it") {
			t.Errorf("the oracle says %v", problem)
		}
	})
}
