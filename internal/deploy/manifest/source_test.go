package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/deletion"
)

func itemWith(t *testing.T, config string) *deployer.Item {
	t.Helper()
	item := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "item"}}
	if config != "" {
		item.Spec.Configuration = raw(t, "apiVersion: "+group+"v1alpha2\nkind: ProviderConfiguration\n"+config)
	}
	return &deployer.Item{DeployItem: item}
}

// TestSource shows how items look to the roll-out: the names are those that objects and
// statuses of the published deployer have.
func TestSource(t *testing.T) {
	s := source{}
	if s.Name() != "manifest deployer" {
		t.Errorf("checkpoints are called %q", s.Name())
	}
	owner := s.Owner(itemWith(t, ""))
	if owner.Label != "manifest.deployer.landscaper.gardener.cloud/deployitem" || owner.Item != "item" || owner.FieldManager != "landscaper-manifest-deployer" {
		t.Errorf("owner %+v", owner)
	}
	item := itemWith(t, "manifests: [{manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}}}]")
	w, err := s.DesiredState(t.Context(), item)
	if err != nil || len(w.Objects) != 1 || w.Exports != nil {
		t.Errorf("wish %+v, error %v", w, err)
	}
	item.Status.ProviderStatus = raw(t, "apiVersion: "+group+"v1alpha2\nkind: ProviderStatus\nmanagedResources: [{policy: keep, resource: {apiVersion: v1, kind: ConfigMap, name: a, namespace: ns, uid: u}}]")
	recorded, err := s.Recorded(item)
	if err != nil || len(recorded) != 1 {
		t.Fatalf("recorded %v, error %v", recorded, err)
	}
	stored, err := yaml.Marshal(s.Status(item, recorded))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(item.Status.ProviderStatus.Raw), string(raw(t, string(stored)).Raw)); diff != "" {
		t.Errorf("the status does not come back as it was, -want +got\n%s", diff)
	}
}

// TestGroups shows in which steps an item is removed.
func TestGroups(t *testing.T) {
	tests := []struct {
		reason, config string
		want           int
		fails          string
	}{
		{"an item without a configuration", "", 0, ""},
		{"the default groups", "manifests: []", len(deletion.DefaultGroups()), ""},
		{"groups of its own", "deletionGroups: [{predefinedResourceGroup: {type: empty}}]", 1, ""},
		{"groups of updates are for updates", "deletionGroupsDuringUpdate: [{predefinedResourceGroup: {type: empty}}]", len(deletion.DefaultGroups()), ""},
		{"groups that cannot work", "deletionGroups: [{}]", 0, "deletionGroups[0] must have exactly one of"},
		{"a configuration that cannot be read", "deletionGroups: 1", 0, "field deletionGroups must be a list, not number"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			groups, err := source{}.Groups(itemWith(t, test.config))
			if len(groups) != test.want || (err == nil) != (test.fails == "") || (err != nil && !strings.Contains(err.Error(), test.fails)) {
				t.Errorf("%d groups, error %v", len(groups), err)
			}
		})
	}
}
