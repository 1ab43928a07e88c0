package deployer

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// closing is an export watch whose end waits for a trigger that is under way.
type closing struct {
	ExportWatcher

	trigger func()
	closed  int
}

func (c *closing) Close() error {
	c.trigger()
	c.closed++
	return nil
}

// TestEndBesideTriggers: what ends with a record may trigger items, which look for their records.
func TestEndBesideTriggers(t *testing.T) {
	item := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a", UID: "1"}}
	successor := item.DeepCopy()
	successor.UID = "2"
	for _, test := range []struct {
		reason string
		end    func(*memory)
	}{
		{"the item was deleted", func(m *memory) { m.forget(keyOf(item)) }},
		{"another item has its name", func(m *memory) { m.of(successor) }},
		{"its values are not watched any more", func(m *memory) { m.dropExportWatch(keyOf(item)) }},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var m memory
			watch := &closing{trigger: func() { m.markTriggered(keyOf(item)) }}
			m.of(item).exports = &exportWatch{watcher: watch}
			test.end(&m)
			if watch.closed != 1 {
				t.Errorf("closed %d times", watch.closed)
			}
		})
	}
}
