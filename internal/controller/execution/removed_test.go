package execution

import (
	"context"
	"errors"
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
)

func skips(skip bool) *v1alpha1.OnDeleteConfig {
	return &v1alpha1.OnDeleteConfig{SkipUninstallIfClusterRemoved: skip}
}

func TestClusterOf(t *testing.T) {
	synced := map[string]string{v1alpha1.TargetSyncLabel: "ok"}
	shoot := map[string]string{v1alpha1.ShootNameAnnotation: "eu"}
	tests := []struct {
		reason              string
		onDelete            *v1alpha1.OnDeleteConfig
		labels, annotations map[string]string
		target              string
		want                *string
	}{
		{"a Target from a shoot", skips(true), synced, shoot, "host", new("eu")},
		{"an item without the setting", nil, synced, shoot, "host", nil},
		{"the setting is off", skips(false), synced, shoot, "host", nil},
		{"a Target that no TargetSync has made", skips(true), nil, shoot, "host", new("")},
		{"a Target from a Secret", skips(true), synced, nil, "host", new("")},
		{"a missing Target is reported by the deployer", skips(true), synced, shoot, "other", nil},
		{"no Target", skips(true), synced, shoot, "", nil},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			target := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: "test", Name: "host", Labels: test.labels, Annotations: test.annotations}}
			b := newBench(t, target)
			template := &v1alpha1.DeployItemTemplate{Name: "one", OnDelete: test.onDelete}
			if test.target != "" {
				template.Target = &v1alpha1.ObjectReference{Name: test.target}
			}
			if got, err := b.clusterOf(t.Context(), "test", template); !reflect.DeepEqual(got, test.want) || err != nil {
				t.Errorf("got %v, %v; want %v", got, err, test.want)
			}
		})
	}
}

func TestClusterRemoved(t *testing.T) {
	tests := []struct {
		reason  string
		change  func(*v1alpha1.DeployItem)
		answer  error
		removed bool
		fails   bool
	}{
		{"the garden says that the shoot no longer exists", func(*v1alpha1.DeployItem) {}, nil, true, false},
		{"a garden that does not answer holds the deletion up", func(*v1alpha1.DeployItem) {}, errors.New("no answer"), false, true},
		{"no shoot is known", func(item *v1alpha1.DeployItem) { item.Annotations = nil }, nil, false, false},
		{"objects are left on another cluster", func(item *v1alpha1.DeployItem) {
			item.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(`{"earlierClusters":[{"id":"u"}]}`)}
		}, nil, false, false},
		{"no objects are left on another cluster", func(item *v1alpha1.DeployItem) {
			item.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(`{"cluster":{"id":"u"}}`)}
		}, nil, true, false},
		{"the item does not have the setting any more", func(item *v1alpha1.DeployItem) { item.Spec.OnDelete = skips(false) }, nil, false, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			item := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: "test", Annotations: map[string]string{v1alpha1.ClusterNameAnnotation: "eu"}}}
			item.Spec.OnDelete, item.Spec.Target = skips(true), &v1alpha1.ObjectReference{Name: "host"}
			test.change(item)
			r := &Reconciler{Surroundings: Surroundings{ClusterRemoved: func(_ context.Context, namespace, shoot string) (bool, error) {
				return namespace == "test" && shoot == "eu", test.answer
			}}}
			if removed, err := r.clusterRemoved(t.Context(), item); removed != test.removed || (err != nil) != test.fails {
				t.Errorf("got %t, %v", removed, err)
			}
		})
	}
}

// TestLeaveRemoved: an item whose shoot no longer exists leaves its objects there when it gets
// another Target, under the same conditions under which it would be deleted without uninstalling.
func TestLeaveRemoved(t *testing.T) {
	const recorded = `{"cluster":{"id":"u"}}`
	for _, test := range []struct {
		reason        string
		before, after string
		onDelete      *v1alpha1.OnDeleteConfig
		status        string
		gone          bool
		answer        error
		asked         bool
		want          string
	}{
		{"the former shoot no longer exists", "eu", "us", skips(true), recorded, true, nil, true, "u"},
		{"the new Target is not one of a shoot", "eu", "", skips(true), recorded, true, nil, true, "u"},
		{"the former shoot still exists", "eu", "us", skips(true), recorded, false, nil, true, ""},
		{"a garden that does not answer holds the job up", "eu", "us", skips(true), recorded, false, errors.New("no answer"), true, ""},
		{"the shoot is the same", "eu", "eu", skips(true), recorded, true, nil, false, ""},
		{"the former Target was not one of a shoot", "", "us", skips(true), recorded, true, nil, false, ""},
		{"an item without the setting", "eu", "us", nil, recorded, true, nil, false, ""},
		{"the setting is off", "eu", "us", skips(false), recorded, true, nil, false, ""},
		{"nothing is recorded", "eu", "us", skips(true), `{}`, true, nil, false, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			live := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: "test", Annotations: map[string]string{v1alpha1.ClusterNameAnnotation: test.before}}}
			live.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(test.status)}
			item := live.DeepCopy()
			item.Spec.OnDelete = test.onDelete
			item.Annotations[v1alpha1.ClusterNameAnnotation] = test.after
			asked := false
			r := &Reconciler{Surroundings: Surroundings{ClusterRemoved: func(_ context.Context, _, shoot string) (bool, error) {
				asked = true
				if shoot != test.before {
					t.Errorf("asked about %s", shoot)
				}
				return test.gone, test.answer
			}}}
			if err := r.leaveRemoved(t.Context(), live, item); !errors.Is(err, test.answer) {
				t.Errorf("error %v", err)
			}
			if got := item.Annotations[v1alpha1.LeaveEarlierClusterAnnotation]; got != test.want || asked != test.asked {
				t.Errorf("it leaves %q, asked %t", got, asked)
			}
		})
	}
}
