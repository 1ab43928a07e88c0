package component

import (
	"fmt"
	"strings"
	"testing"

	"go.landscaper.dev/internal/cluster/egress"
)

// TestRequests counts what a registry is asked: for what it holds once, and nothing
// else.
func TestRequests(t *testing.T) {
	const references, resources = 20, 50
	h := newHostile(t)
	var text, list, names strings.Builder
	for i := range resources {
		fmt.Fprintf(&names, "{name: r%02d, type: t, input: {type: utf8, text: content %d}}, ", i, i)
	}
	for i := range references {
		fmt.Fprintf(&list, "{name: ref%02d, componentName: example.org/shop/c%d, version: 1.0.0}, ", i, i)
		fmt.Fprintf(&text, "- {name: example.org/shop/c%d, version: 1.0.0, provider: p}\n", i)
	}
	h.publish(t, fmt.Sprintf("components:\n- {name: example.org/shop/web, version: 1.0.0, provider: p, resources: [%s], references: [%s]}\n%s", names.String(), list.String(), text.String()))
	shared := NewSharedWith(egress.Policy{AllowLoopback: true})
	read := func() (resolving, reading int) {
		h.requests = 0
		session := h.session(shared)
		defer session.Close() //nolint:errcheck // nothing is written
		root, err := session.Resolve(t.Context(), web)
		if err != nil {
			t.Fatal(err)
		}
		all, err := session.Closure(t.Context(), root, nil)
		if err != nil || len(all) != references+1 {
			t.Fatalf("%d, %v", len(all), err)
		}
		resolving = h.requests
		for i := range root.Resources {
			if _, _, err := session.Reader().Read(t.Context(), root, &root.Resources[i], 100); err != nil {
				t.Fatal(err)
			}
		}
		return resolving, h.requests - resolving
	}
	// A manifest, a config and a descriptor for each version.
	resolving, reading := read()
	t.Logf("%d references, %d resources: %d requests to resolve, %d to read", references, resources, resolving, reading)
	if resolving != 3*(references+1) || reading != resources {
		t.Errorf("%d requests to resolve and %d to read, want %d and %d", resolving, reading, 3*(references+1), resources)
	}
	if resolving, reading := read(); resolving+reading != 0 {
		t.Errorf("%d and %d requests for what was just read", resolving, reading)
	}
}
