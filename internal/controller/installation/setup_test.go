package installation

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kube "k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/index"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/queue"
)

// indexing is a manager that notes which indexes are made of it.
type indexing struct {
	manager.Manager
	made   []string
	refuse string
}

// GetFieldIndexer implements manager.Manager.
func (m *indexing) GetFieldIndexer() client.FieldIndexer { return m }

// IndexField implements client.FieldIndexer.
func (m *indexing) IndexField(_ context.Context, object client.Object, field string, _ client.IndexerFunc) error {
	m.made = append(m.made, strings.TrimPrefix(fmt.Sprintf("%T", object), "*v1alpha1.")+" by "+field)
	if field == m.refuse {
		return errors.New("there is one already")
	}
	return nil
}

// TestSetup: which indexes there are. A lookup without its index would find nothing; the index of
// imports costs memory only where it is wanted.
func TestSetup(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := errors.Join(fakeapi.AddCore(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	always := []string{"DataObject by scope", "DataObject by source", "Installation by approval", "Installation by parent", "Installation by waiting", "Target by scope", "Target by source"}
	for _, test := range []struct {
		reason   string
		triggers predicates.Triggers
		refuse   string
		made     []string
		want     string
	}{
		{"indexes that every server needs", predicates.Triggers{OnSpecChange: true}, "", always, ""},
		{"the index of imports, where jobs follow changed imports", predicates.Triggers{OnImportChange: true}, "", append(slices.Clone(always), "Installation by imports"), ""},
		{"without the copies of imports, none would be deleted", predicates.Triggers{}, index.CopiesByScope, nil, "index copies of imports"},
		{"without the exports, none would be deleted", predicates.Triggers{}, index.ExportsBySource, nil, "index exports"},
		{"without the families, there are no trees", predicates.Triggers{}, index.ByParent, nil, "index Installations by parent"},
		{"without those that wait, no Installation is enqueued", predicates.Triggers{}, index.Waiting, nil, "index Installations by waiting"},
		{"without the approvals, a job could do something else", predicates.Triggers{}, index.ByApproval, nil, "index Installations by approval"},
		{"without the importers, no job follows", predicates.Triggers{OnImportChange: true}, index.ByImport, nil, "index Installations by what they import"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			whole, err := ctrl.NewManager(&kube.Config{Host: "http://127.0.0.1:1"}, ctrl.Options{
				Scheme: scheme, Metrics: server.Options{BindAddress: "0"},
				MapperProvider: func(*kube.Config, *http.Client) (meta.RESTMapper, error) {
					return meta.NewDefaultRESTMapper([]schema.GroupVersion{v1alpha1.GroupVersion, corev1.SchemeGroupVersion}), nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			m := &indexing{Manager: whole, refuse: test.refuse}
			r := &Reconciler{Order: &queue.Order{}, Triggers: test.triggers}
			unique := true
			err = r.SetupWithManager(t.Context(), m, controller.Options{SkipNameValidation: &unique, MaxConcurrentReconciles: 3})
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v", err)
			}
			if slices.Sort(m.made); test.made != nil {
				slices.Sort(test.made)
				if !slices.Equal(m.made, test.made) {
					t.Errorf("made %q, want %q", m.made, test.made)
				}
			}
			if err == nil {
				if running, waiting := r.Plans(); running != 0 || waiting != 0 {
					t.Errorf("%d plans are made, %d wait, before anything was asked for", running, waiting)
				}
			}
		})
	}
}

// TestChangesMore: a patch that only asserts the version is not sent.
func TestChangesMore(t *testing.T) {
	for _, test := range []struct {
		reason, patch string
		want          bool
	}{
		{"nothing but the version", `{"metadata": {"resourceVersion": "7"}}`, false},
		{"nothing", `{}`, false},
		{"the finalizers", `{"metadata": {"resourceVersion": "7", "finalizers": []}}`, true},
		{"the specification", `{"metadata": {"resourceVersion": "7"}, "spec": {}}`, true},
		{"a patch that cannot be parsed is sent", `[]`, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := changesMore([]byte(test.patch)); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
