package template

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
)

// TestCauses shows that an error of a function is behind that of the template: the caller wants to
// know whether another attempt may succeed. The arguments of the function are not shown.
func TestCauses(t *testing.T) {
	outage := errors.New("the registry does not answer: hunter2hunter2")
	slow := func(ctx context.Context, _ []any) (any, error) {
		<-ctx.Done()
		return nil, errors.Join(outage, ctx.Err())
	}
	tests := []struct {
		reason   string
		kind     v1alpha1.TemplateType
		template string
		function Function
		// timeout is short where the time is to be over, but the function is called before.
		timeout time.Duration
	}{
		{"a Go template", v1alpha1.GOTemplateType, `"{{ fetch .imports.password }}"`, func(context.Context, []any) (any, error) { return nil, outage }, time.Minute},
		{"a Go template that ran out of time", v1alpha1.GOTemplateType, `"{{ fetch 1 }}"`, slow, 2 * time.Second},
		{"a spiff template", v1alpha1.SpiffTemplateType, `{"a": "(( fetch(imports.password) ))"}`, func(context.Context, []any) (any, error) { return nil, outage }, time.Minute},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			functions := map[string]Function{"fetch": test.function}
			engine := &Engine{Functions: Functions{GoTemplate: functions, Spiff: functions}, Timeout: test.timeout}
			executor := &v1alpha1.TemplateExecutor{Name: "a", Type: test.kind, Template: v1alpha1.NewAnyJSON([]byte(test.template))}
			bindings := map[string]any{"imports": map[string]any{"password": "hunter2hunter2"}}
			_, err := engine.Execute(t.Context(), Input{Phase: DeployExecution, Executor: executor, Bindings: bindings})
			if !errors.Is(err, outage) {
				t.Errorf("the cause is lost: %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the message shows a value: %v", err)
			}
		})
	}
}
