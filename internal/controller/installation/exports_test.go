package installation

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/landscape/desired"
	"go.landscaper.dev/internal/runtime/job"
)

// publishing is what newBench needs for an Installation whose item exports a value, which the
// Installation exports.
func publishing(t *testing.T) []client.Object { return publishingWith(t, "") }

// publishingWith is publishing with additions to the blueprint.
func publishingWith(t *testing.T, more string) []client.Object {
	t.Helper()
	objects := installed(t, "web")
	inst, ok := objects[0].(*v1alpha1.Installation)
	if !ok {
		t.Fatal("no Installation")
	}
	var files map[string]string
	if err := json.Unmarshal(inst.Spec.Blueprint.Inline.Filesystem.RawMessage, &files); err != nil {
		t.Fatal(err)
	}
	files["blueprint.yaml"] += "\nexports: [{name: url, type: data, schema: {type: string}}]\nexportExecutions:\n- {name: default, type: GoTemplate, template: 'exports: {url: {{ toJson .deployitems.web.url }}}'}\n" + more
	raw, err := json.Marshal(files)
	if err != nil {
		t.Fatal(err)
	}
	inst.Spec.Blueprint.Inline.Filesystem = v1alpha1.NewAnyJSON(raw)
	inst.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "url", DataRef: "shop-url"}}
	return objects
}

// finishWith ends the job of the Execution; its item has exported a value.
func (b *bench) finishWith(t *testing.T, value any) {
	t.Helper()
	object, change, err := desired.ItemExports(b.execution(t), map[string]any{"web": map[string]any{"url": value}}, nil)
	if err != nil || change != desired.Create {
		t.Fatal(change, err)
	}
	if err := b.api.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	b.finish(t, "Succeeded", nil)
}

// export returns the object that the Installation publishes.
func (b *bench) export(t *testing.T) *v1alpha1.DataObject {
	t.Helper()
	object := &v1alpha1.DataObject{}
	if err := b.api.Get(t.Context(), client.ObjectKey{Namespace: shop.Namespace, Name: "shop-url"}, object); err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	return object
}

// forgetPlans is what a restart does.
func (b *bench) forgetPlans() { b.memory = memory{} }

// TestExportingJob: what a job with exports writes, also over a restart, and that
// nothing of its plan is left.
func TestExportingJob(t *testing.T) {
	for _, test := range []struct {
		reason  string
		between func(*bench)
	}{
		{"the process that began the job", func(*bench) {}},
		{"a restart while the children work", (*bench).forgetPlans},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, publishing(t)...)
			if got := b.reconcile(t); got != "patch Installation, create *v1.Secret, create Target, create Execution, status Installation" {
				t.Errorf("the job begins with: %s", got)
			}
			if c := job.GetCondition(b.installation(t).Status.Conditions, v1alpha1.CreateExportsCondition); c == nil || c.Status != v1alpha1.ConditionUnknown {
				t.Errorf("%+v", c)
			}
			test.between(b)
			b.finishWith(t, "https://shop")
			if got := b.reconcile(t); !strings.HasPrefix(got, "create DataObject, status Installation, delete ") || strings.Count(got, ",") != 2 {
				t.Errorf("the job ends with: %s", got)
			}
			if got := b.export(t); string(got.Data.RawMessage) != `"https://shop"` || got.Labels[v1alpha1.DataObjectJobIDLabel] != "job-1" {
				t.Errorf("%s, %v", got.Data.RawMessage, got.Labels)
			}
			if s := b.installation(t).Status; s.InstallationPhase != "Succeeded" || job.GetCondition(s.Conditions, v1alpha1.CreateExportsCondition).Status != v1alpha1.ConditionTrue {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestFailedExports: how a job ends whose exports are wrong, and that no error contains a value.
func TestFailedExports(t *testing.T) {
	for _, test := range []struct {
		reason                          string
		prepare                         func(*testing.T, *bench)
		value                           any
		ended                           bool
		errorReason, condition, message string
	}{
		{"an export violates its schema", nil, map[string]any{"token": "hunter2"}, true, "ConstructExports", "ConstructExports", "does not satisfy the configured schema"},
		{"another client has deleted the plan", func(t *testing.T, b *bench) {
			if err := b.api.DeleteAllOf(t.Context(), &corev1.Secret{}, client.InNamespace(shop.Namespace)); err != nil {
				t.Fatal(err)
			}
			b.forgetPlans()
		}, "x", true, "ConstructExports", "ConstructExports", "start another job"},
		{"the name of the export belongs to another Installation", func(t *testing.T, b *bench) {
			other := &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "shop-url", OwnerReferences: []metav1.OwnerReference{testbuilders.Owner("Installation", "other", "9")}}}
			if err := b.api.Create(t.Context(), other); err != nil {
				t.Fatal(err)
			}
		}, "x", true, "CreateOrUpdateExports", "CreateDataObjects", "owned by another installation"},
		{"the API server is overloaded: another attempt may succeed", func(_ *testing.T, b *bench) {
			b.refuse["create DataObject"] = errors.New("busy")
		}, "x", false, "CreateOrUpdateExports", "CreateDataObjects", "store export shop-url: busy"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, publishing(t)...)
			b.reconcile(t)
			b.finishWith(t, test.value)
			if test.prepare != nil {
				test.prepare(t, b)
			}
			_, _ = b.Reconcile(t.Context(), ctrl.Request{NamespacedName: shop})
			s := b.installation(t).Status
			e := s.LastError
			if (s.JobID == s.JobIDFinished) != test.ended || e == nil || e.Operation != "handlePhaseCompleting" || e.Reason != test.errorReason || !strings.Contains(e.Message, test.message) || strings.Contains(fmt.Sprint(s), "hunter2") {
				t.Fatalf("%+v, %+v", s, e)
			}
			if c := job.GetCondition(s.Conditions, v1alpha1.CreateExportsCondition); c.Status != v1alpha1.ConditionFalse || c.Reason != test.condition {
				t.Errorf("%+v", c)
			}
			if !test.ended {
				delete(b.refuse, "create DataObject")
			}
			b.reconcile(t)
			secrets := &corev1.SecretList{}
			if err := b.api.List(t.Context(), secrets); err != nil || len(secrets.Items) > 0 {
				t.Errorf("%d Secrets are left, %v", len(secrets.Items), err)
			}
			if phase := b.installation(t).Status.InstallationPhase; !test.ended && phase != "Succeeded" {
				t.Errorf("the next attempt ends %s", phase)
			}
		})
	}
}

// TestLeftPlan: the plan of a job that ended just before a crash is deleted after the next start.
// Each namespace is read once, and only for Installations that may have a plan.
func TestLeftPlan(t *testing.T) {
	b := newBench(t, publishing(t)...)
	b.reconcile(t)
	b.finish(t, "Failed", nil)
	b.reconcile(t)
	b.forgetPlans()
	if got := b.reconcile(t); !strings.HasPrefix(got, "delete ") {
		t.Errorf("after a restart: %q", got)
	}
	if got := b.reconcile(t); got != "" {
		t.Errorf("and then: %q", got)
	}
}
