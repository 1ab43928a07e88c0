package helm

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	apideployer "go.landscaper.dev/api/deployer"
	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/deployer"
)

// reference names a release in namespace ns.
func reference(name string) apideployer.ReleaseReference {
	return apideployer.ReleaseReference{Name: name, Namespace: "ns"}
}

func TestReleases(t *testing.T) {
	current := func(name string, earlier ...string) releases {
		made := releases{}
		if name != "" {
			of := reference(name)
			made.current = &of
		}
		for _, name := range earlier {
			made.earlier = append(made.earlier, reference(name))
		}
		return made
	}
	tests := []struct {
		reason string
		before releases
		wanted string
		want   releases
	}{
		{"the first release", current(""), "a", current("a")},
		{"the name does not change", current("a"), "a", current("a")},
		{"a new name: the earlier release is deleted", current("a"), "b", current("b", "a")},
		{"a third name before the first one is deleted", current("b", "a"), "c", current("c", "a", "b")},
		{"an earlier name comes back: the release in between is deleted", current("b", "a"), "a", current("a", "b")},
		{"the name does not change while an earlier release still exists", current("b", "a"), "b", current("b", "a")},
		{"nothing is known of the present release", current("", "a"), "b", current("b", "a")},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := test.before.deploys(reference(test.wanted))
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(releases{})); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	if got := current("c", "a", "b").without(reference("a")); len(got.earlier) != 1 || got.earlier[0] != reference("b") || *got.current != reference("c") {
		t.Errorf("without a: %+v", got)
	}
}

// TestReleasesInTheStatus: the status keeps which releases an item has, whatever else it
// says of it, and in both modes.
func TestReleasesInTheStatus(t *testing.T) {
	item := withStatus(`{"release":{"name":"b","namespace":"ns"},"earlierReleases":[{"name":"a","namespace":"ns"}],"managedResources":[{"resource":{"kind":"Pod","name":"p"}}]}`)
	of := &config{ProviderConfiguration: &helmv1alpha1.ProviderConfiguration{Name: "c", Namespace: "ns"}}
	s := released{templates{config: of}, &work{}}
	for mode, status := range map[string]any{"release": s.Status(item, nil), "objects": s.templates.Status(item, nil)} {
		written := status.(*helmv1alpha1.ProviderStatus)
		if written.Release == nil || *written.Release != reference("b") || len(written.EarlierReleases) != 1 || len(written.ManagedResources) != 0 {
			t.Errorf("%s: %+v", mode, written)
		}
	}
	deployed, err := of.asDeployed(item)
	if err != nil || deployed.Name != "b" || of.Name != "c" {
		t.Errorf("it is deployed as %s, the configuration says %s, error %v", deployed.Name, of.Name, err)
	}
	if there, err := releaseOf(item, of); err != nil || *there != reference("b") {
		t.Errorf("on another cluster, %v is left, error %v", there, err)
	}
	if same, err := of.asDeployed(withStatus("")); err != nil || same != of {
		t.Errorf("nothing is recorded, error %v", err)
	}
	broken := &deployer.Item{DeployItem: withStatus("").DeepCopy()}
	broken.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(`{"release":1}`)}
	if _, err := of.asDeployed(broken); err == nil {
		t.Error("a status that cannot be read is taken for an empty one")
	}
}
