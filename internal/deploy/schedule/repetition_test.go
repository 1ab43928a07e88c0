package schedule

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	api "go.landscaper.dev/api/deployer"
)

// TestRepetition shows which items are looked at again, and that what is wrong asks for
// nothing.
func TestRepetition(t *testing.T) {
	at := time.Unix(1000, 0)
	type wanted struct{ repeats, compare, correct, watch bool }
	tests := []struct {
		reason, config string
		asks           bool
		want           wanted
	}{
		{"an empty configuration", "{}", false, wanted{}},
		{"a repetition without content", "{continuousReconcile: {}}", true, wanted{}},
		{"a repetition without drift detection", "{continuousReconcile: {every: 1m}}", true, wanted{repeats: true}},
		{"a repetition that reports drift", "{continuousReconcile: {every: 1m, drift: report}}", true, wanted{repeats: true, compare: true}},
		{"a repetition that corrects drift", "{continuousReconcile: {cron: '* * * * *', drift: correct}}", true, wanted{repeats: true, compare: true, correct: true}},
		{"values are watched", "{exports: {watch: true, exports: [{key: a}]}}", true, wanted{watch: true}},
		{"values are exported once", "{exports: {exports: [{key: a}]}}", false, wanted{}},
		{"no values are no reason to watch", "{exports: {watch: true}}", true, wanted{}},
		{"a schedule that is not valid", "{continuousReconcile: {cron: soon, drift: correct}}", true, wanted{}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			content, err := yaml.YAMLToJSON([]byte(test.config))
			if err != nil {
				t.Fatal(err)
			}
			if got := Asks(&runtime.RawExtension{Raw: content}); got != test.asks {
				t.Errorf("it asks: %t", got)
			}
			var config struct {
				ContinuousReconcile *api.ContinuousReconcileSpec
				Exports             *api.Exports
			}
			if err := yaml.Unmarshal(content, &config); err != nil {
				t.Fatal(err)
			}
			got := Repetition(config.ContinuousReconcile, config.Exports)
			if (wanted{got.Next != nil, got.Compare, got.Correct, got.Watch}) != test.want {
				t.Errorf("%+v", got)
			}
			if got.Next != nil && got.Next(at).Sub(at) > time.Minute {
				t.Errorf("next at %s", got.Next(at))
			}
		})
	}
	if Asks(nil) {
		t.Error("an item without a configuration asks")
	}
}
