package ownership_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/ownership"
)

// family are relatives whose answers are given.
type family struct {
	others             []*v1alpha1.DeployItem
	mayKeep, mayMove   bool
	unreadable, broken error
	// goes names a relative that is being deleted.
	goes string
}

func (f family) Others(context.Context) ([]*v1alpha1.DeployItem, error) {
	return f.others, f.unreadable
}
func (f family) Stays(_ context.Context, other *v1alpha1.DeployItem) (bool, error) {
	return other.Name != f.goes, nil
}
func (f family) MayKeep(context.Context) (bool, error) { return f.mayKeep, f.broken }
func (f family) MayMove(context.Context) (bool, error) { return f.mayMove, f.broken }

func TestJudge(t *testing.T) {
	const object = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"n"}}`
	ref := corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: "a"}
	listing := func(name string, change ...func(*v1alpha1.DeployItem)) *v1alpha1.DeployItem {
		heir := item(name, `{"manifests":[{"manifest":`+object+`}]}`)
		for _, c := range change {
			c(heir)
		}
		return heir
	}
	recorded := func(item *v1alpha1.DeployItem) {
		item.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(`{"managedResources":[{"resource":{"apiVersion":"v1","kind":"ConfigMap","namespace":"n","name":"a"}}]}`)}
	}
	expecting := func(name string) *v1alpha1.DeployItem {
		return item(name, `{"manifests":[{"policy":"ignore","manifest":`+object+`}]}`)
	}
	done := func(item *v1alpha1.DeployItem) { item.Status.Phase = v1alpha1.DeployItemPhases.Succeeded }
	tests := []struct {
		reason              string
		family              ownership.Family
		gone, foreign, ends bool
		leaving             bool
		want                ownership.Fate
		heir                string
	}{
		{reason: "no other item is known", want: ownership.Remove},
		{reason: "the object does not exist any more", gone: true, family: family{mayMove: true}, want: ownership.Forget},
		{reason: "the object belongs to another owner", foreign: true, family: family{mayMove: true}, want: ownership.Spare},
		{reason: "the object is being deleted, so no item can inherit it", ends: true, family: family{others: []*v1alpha1.DeployItem{listing("b", recorded)}, mayMove: true}, want: ownership.Remove},
		{reason: "an heir has recorded the object", family: family{others: []*v1alpha1.DeployItem{listing("b", recorded)}, mayKeep: true}, want: ownership.Inherit, heir: "b"},
		{reason: "of two heirs, one has recorded it", family: family{others: []*v1alpha1.DeployItem{listing("b"), listing("c", recorded)}, mayKeep: true}, want: ownership.Inherit, heir: "c"},
		{reason: "an heir is being deleted", family: family{others: []*v1alpha1.DeployItem{listing("b", recorded)}, goes: "b"}, want: ownership.Remove},
		{reason: "an heir is being deleted, another one stays", family: family{others: []*v1alpha1.DeployItem{listing("b", recorded), listing("c", recorded)}, goes: "b"}, want: ownership.Inherit, heir: "c"},
		{reason: "an heir has not begun", family: family{others: []*v1alpha1.DeployItem{listing("b")}, mayKeep: true}, want: ownership.Keep},
		{reason: "an heir has not begun, and there is no later decision", family: family{others: []*v1alpha1.DeployItem{listing("b")}}, want: ownership.Inherit, heir: "b"},
		{reason: "others are unknown", family: family{mayKeep: true, mayMove: true}, want: ownership.Keep},
		{reason: "no item wants the object", family: family{mayKeep: true}, want: ownership.Remove},
		{reason: "a terminating item leaves the object to its heir", leaving: true, family: family{others: []*v1alpha1.DeployItem{listing("b", recorded)}}, want: ownership.Inherit, heir: "b"},
		{reason: "a terminating item leaves the object to an heir whose job has found another owner", leaving: true, family: family{others: []*v1alpha1.DeployItem{listing("b", done)}}, want: ownership.Inherit, heir: "b"},
		{reason: "a terminating item leaves nothing to an item that never had a job", leaving: true, family: family{others: []*v1alpha1.DeployItem{listing("b")}, mayKeep: true}, want: ownership.Remove},
		{reason: "an item expects the object", family: family{others: []*v1alpha1.DeployItem{expecting("b")}}, want: ownership.Leave},
		{reason: "an item expects the object, and its job may fail", family: family{others: []*v1alpha1.DeployItem{expecting("b")}, mayKeep: true}, want: ownership.Keep},
		{reason: "an item expects the object and is being deleted", family: family{others: []*v1alpha1.DeployItem{expecting("b")}, goes: "b"}, want: ownership.Remove},
		{reason: "an item expects the object that another one has recorded", family: family{others: []*v1alpha1.DeployItem{expecting("b"), listing("c", recorded)}, mayKeep: true}, want: ownership.Inherit, heir: "c"},
		{reason: "a terminating item leaves the object to an item that expects it", leaving: true, family: family{others: []*v1alpha1.DeployItem{expecting("b"), listing("c")}}, want: ownership.Leave},
		{reason: "a terminating item keeps nothing", leaving: true, family: family{mayKeep: true, mayMove: true}, want: ownership.Remove},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			live := unstructuredOf(map[string]any{"metadata": map[string]any{"name": "a"}})
			if test.ends {
				live.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
			}
			if test.gone {
				live = nil
			}
			verdict, err := ownership.Judge(t.Context(), test.family, live, ref, !test.foreign, test.leaving)
			name := ""
			if verdict.Heir != nil {
				name = verdict.Heir.Name
			}
			if err != nil || verdict.Fate != test.want || name != test.heir {
				t.Errorf("the fate is %q with heir %q, %v; want %q with %q", verdict.Fate, name, err, test.want, test.heir)
			}
		})
	}
	for _, broken := range []family{{unreadable: errors.New("unreadable")}, {broken: errors.New("unreadable")}, {broken: errors.New("unreadable"), others: []*v1alpha1.DeployItem{listing("b")}}} {
		if verdict, err := ownership.Judge(t.Context(), broken, unstructuredOf(map[string]any{}), ref, true, false); err == nil {
			t.Errorf("it is unknown which item wants the object, and the fate is %q", verdict.Fate)
		}
	}
}

// TestManyObjects: the heirs of the first objects are found like those of all later ones, however
// their names are written.
func TestManyObjects(t *testing.T) {
	var manifests []string
	for i := range 20 {
		manifests = append(manifests, fmt.Sprintf(`{"manifest":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a%d","namespace":"n"}}}`, i))
	}
	heirs := family{others: []*v1alpha1.DeployItem{
		item("plain", `{"manifests":[`+strings.Join(manifests, ",")+`]}`),
		item("escaped", `{"manifests":[{"manifest":{"apiVersion":"rbac/v1","kind":"ClusterRole","metadata":{"name":"x\u003cy"}}},{"manifest":{"apiVersion":"rbac/v1","kind":"ClusterRole","metadata":{"name":"x\/z"}}}]}`),
		item("none", `{"manifests":[]}`),
	}}
	claims := ownership.NewClaims(heirs, false)
	want := func(object corev1.ObjectReference, heir string) {
		t.Helper()
		verdict, err := claims.Judge(t.Context(), unstructuredOf(map[string]any{}), object, true)
		if err != nil || heir == "" && verdict.Fate != ownership.Remove || heir != "" && (verdict.Heir == nil || verdict.Heir.Name != heir) {
			t.Errorf("%s: %s, heir %v, %v, want %q", object.Name, verdict.Fate, verdict.Heir, err, heir)
		}
	}
	want(corev1.ObjectReference{APIVersion: "rbac/v1", Kind: "ClusterRole", Name: "x<y"}, "escaped")
	want(corev1.ObjectReference{APIVersion: "rbac/v1", Kind: "ClusterRole", Name: "x/z"}, "escaped")
	for i := range 21 {
		want(corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: fmt.Sprintf("a%d", i)}, map[bool]string{true: "plain"}[i < 20])
	}
}
