package exportwriter

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// TestStoreCopies: which owner may have the name of a copy, and what stays of the object.
func TestStoreCopies(t *testing.T) {
	mine := testbuilders.Owner("Installation", "shop", "2")
	marked := testbuilders.CopyOf("cluster", "job-1", mine, testbuilders.Owner("Deployment", "web", "9"))
	marked.Labels[v1alpha1.DataObjectIndexLabel], marked.Labels["team"] = "3", "a"
	for _, test := range []struct {
		reason string
		live   *v1alpha1.Target
		want   string
	}{
		{"the first job", nil, ""},
		{"a later job", testbuilders.CopyOf("cluster", "job-1", mine), ""},
		{"a later attempt", testbuilders.CopyOf("cluster", "job-2", mine), ""},
		{"an earlier Installation of the name", testbuilders.CopyOf("cluster", "job-1", testbuilders.Owner("Installation", "shop", "1")), ""},
		{"a list became a single Target; what others added stays", marked, ""},
		{"the name belongs to another Installation", testbuilders.CopyOf("cluster", "job-1", testbuilders.Owner("Installation", "other", "2x")), "Target cluster does not belong to this Installation"},
		{"the name belongs to a user", testbuilders.CopyOf("cluster", "job-1"), "delete it, or choose another name for the Installation"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c := fakeapi.New(t)
			if test.live != nil {
				c = fakeapi.New(t, test.live)
			}
			w := (Writer{Client: c, Reader: c})
			inst := testbuilders.InstallationOf(t, "{}")
			wanted := testbuilders.CopyOf("cluster", "job-2", mine)
			wanted.Spec.Type = "example.org/y"
			blamed := reasons.Reason("")
			_, err := w.WriteCopies(t.Context(), siblings.Family{Inst: inst}, dataflow.Exports{Targets: []*v1alpha1.Target{wanted}}, true, func(_ client.Object, reason reasons.Reason, err error) error {
				blamed = reason
				return err
			})
			live := &v1alpha1.Target{}
			if getErr := c.Get(t.Context(), client.ObjectKeyFromObject(wanted), live); getErr != nil {
				t.Fatal(getErr)
			}
			if test.want != "" {
				if job.OutcomeOf(err) != job.Terminal || !strings.Contains(err.Error(), test.want) || live.Spec.Type != "example.org/x" || blamed != "CreateTargets" {
					t.Errorf("%s: %v, %+v, %s", test.reason, err, live, blamed)
				}
				return
			}
			if err != nil || live.Spec.Type != "example.org/y" || live.Labels[v1alpha1.DataObjectJobIDLabel] != "job-2" || live.Labels[v1alpha1.DataObjectIndexLabel] != "" {
				t.Errorf("%s: %v, %+v", test.reason, err, live)
			}
			if !predicates.AsOwner(inst).Owns(live) || test.live == marked && (live.Labels["team"] != "a" || len(live.OwnerReferences) != 2) {
				t.Errorf("%s: %+v", test.reason, live.ObjectMeta)
			}
		})
	}
}

// TestDropCopies: only copies of ours that this job did not write are deleted.
func TestDropCopies(t *testing.T) {
	mine := testbuilders.Owner("Installation", "shop", "2")
	elsewhere := testbuilders.CopyOf("elsewhere", "job-1", mine)
	elsewhere.Labels[v1alpha1.DataObjectContextLabel] = "Inst.other"
	c := fakeapi.New(t,
		testbuilders.CopyOf("kept", "job-2", mine), testbuilders.CopyOf("stale", "job-1", mine), testbuilders.CopyOf("of-a-child", "job-1", testbuilders.Owner("Installation", "shop-child", "3")), elsewhere,
		&v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "stale", Labels: map[string]string{v1alpha1.DataObjectContextLabel: "Inst.shop"}, OwnerReferences: []metav1.OwnerReference{mine}}},
	)
	w := Writer{Client: c}
	if err := w.DeleteStaleCopies(t.Context(), testbuilders.InstallationOf(t, "{}")); err != nil {
		t.Fatal(err)
	}
	targets, data := &v1alpha1.TargetList{}, &v1alpha1.DataObjectList{}
	if err := c.List(t.Context(), targets); err != nil {
		t.Fatal(err)
	}
	if err := c.List(t.Context(), data); err != nil {
		t.Fatal(err)
	}
	var left []string
	for i := range targets.Items {
		left = append(left, targets.Items[i].Name)
	}
	slices.Sort(left)
	if want := []string{"elsewhere", "kept", "of-a-child"}; !slices.Equal(left, want) || len(data.Items) != 0 {
		t.Errorf("Targets %v, want %v; %d DataObjects", left, want, len(data.Items))
	}
}
