package cli

import (
	"slices"
	"testing"
)

// TestNeeded: a lab waits for the programs that it runs, and for no other one.
func TestNeeded(t *testing.T) {
	for _, test := range []struct {
		reason string
		flags  upFlags
		want   []string
	}{
		{"the demo has neither nodes nor a scheduler", upFlags{clusters: []string{"resource", "first", "second"}, with: []string{"flux=first", "git", "registry"}},
			[]string{"controlplane", "registry", "source-controller", "kustomize-controller"}},
		{"a cluster alone", upFlags{clusters: []string{"a"}}, []string{"controlplane"}},
		{"nodes have a scheduler", upFlags{clusters: []string{"a"}, with: []string{"kwok=a"}}, []string{"controlplane", "kube-scheduler", "kwok"}},
		{"a lab without clusters has services", upFlags{with: []string{"registry-tls"}}, []string{"registry"}},
		{"the lab itself is the Git server", upFlags{with: []string{"git"}}, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			test.flags.nodes = 1
			config, err := test.flags.config("lab")
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range needed(config) {
				names = append(names, tool.Name)
			}
			if !slices.Equal(names, test.want) {
				t.Errorf("%v, want %v", names, test.want)
			}
		})
	}
}
