package template

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/sandbox"
	"go.landscaper.dev/internal/runtime/sandbox/sandboxtest"
)

// TestMain makes this program a process that executes templates.
func TestMain(m *testing.M) { sandboxtest.Main(m, map[string]sandbox.Handler{"execute": executeHere}) }

// execution is a template on its way to the process.
type execution struct {
	Type     v1alpha1.TemplateType
	Template []byte
	Bindings map[string]any
	Files    map[string]string
	// Steps bound a Go template; 0 means the default.
	Steps int
}

func executeHere(ctx context.Context, body []byte, _ sandbox.Ask) ([]byte, error) {
	x := &execution{}
	if err := sandbox.Decode(body, x); err != nil {
		return nil, err
	}
	functions := map[string]Function{"added": constant(1), "large": large}
	e := &Engine{Functions: Functions{GoTemplate: functions, Spiff: functions}, steps: x.Steps}
	if x.Files != nil {
		e.Files = fileTree(x.Files)
	}
	out, err := e.Execute(ctx, Input{
		Phase: DeployExecution, Bindings: x.Bindings,
		Executor: &v1alpha1.TemplateExecutor{Name: "default", Type: x.Type, Template: v1alpha1.NewAnyJSON(x.Template)},
	})
	if err != nil {
		return nil, err
	}
	var result struct {
		X any `json:"x"`
	}
	return nil, out.Decode(&result)
}

// large is a function of the caller with a large result.
func large(context.Context, []any) (any, error) {
	list := make([]any, 50_000)
	for i := range list {
		list[i] = map[string]any{"a": int64(i)}
	}
	return list, nil
}

// tooMuch is in the errors of what the process has ended: whether its memory, its stack or its time
// comes first follows from the machine.
const tooMuch = `rendering: template execution "default" took more than `

// attack is a template that tries to run, print or grow without end. It ends with an error that has
// a text in it; "" is for one that is done within the bounds. On a busy machine, each may be ended
// by the process instead.
type attack struct{ reason, template, want string }

// attackTimeout is above what the engine needs to refuse something, where it has a processor.
const attackTimeout = time.Second

// ended executes templates in processes: each ends as it should, names the execution, and leaves the
// next one alone.
func ended(t *testing.T, with execution, attacks []attack) {
	t.Helper()
	pool := sandboxtest.Pool(t, func(o *sandbox.Options) { o.Timeout = attackTimeout })
	for _, test := range attacks {
		t.Run(test.reason, func(t *testing.T) {
			begin := time.Now()
			err := executeIn(t, pool, "hostile", with, test.template)
			t.Logf("%s, %.300v", time.Since(begin).Round(time.Millisecond), err)
			if err == nil && test.want == "" || err != nil && strings.HasPrefix(err.Error(), tooMuch) {
				return
			}
			if err == nil || test.want == "" || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), `"default"`) {
				t.Errorf("got %.2000v, want %q", err, test.want)
			}
		})
	}
	if err := executeIn(t, pool, "hostile", execution{Type: v1alpha1.GOTemplateType}, "x: 1"); err != nil {
		t.Errorf("what comes next: %v", err)
	}
}

func executeIn(t *testing.T, pool *sandbox.Pool, tenant string, with execution, template string) error {
	t.Helper()
	with.Template = executor(t, with.Type, template).Template.RawMessage
	_, err := pool.Do(t.Context(), sandbox.Work{Tenant: tenant, Name: "execute", Title: "rendering", Encode: func() ([]byte, error) { return sandbox.Encode(&with) }})
	return err
}
