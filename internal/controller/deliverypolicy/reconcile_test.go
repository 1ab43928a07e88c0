package deliverypolicy

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/delivery"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

func inst(name, deferral string, labels map[string]string) *v1alpha1.Installation {
	made := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, Labels: labels}}
	if deferral != "" {
		made.Status.Conditions = []v1alpha1.Condition{{Type: deliveryv1alpha1.DeferredCondition, Status: v1alpha1.ConditionTrue, Reason: deferral}}
	}
	return made
}

// TestStatus: a policy says what it does, what it counts and when that changes, and is written when that
// is new.
func TestStatus(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := deliveryv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	policy := &deliveryv1alpha1.DeliveryPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "p", Generation: 3}, Spec: deliveryv1alpha1.DeliveryPolicySpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "prod"}},
		Windows:  []deliveryv1alpha1.Window{{Start: "12:05", Duration: "1h"}},
	}}
	prod, writes := map[string]string{"tier": "prod"}, 0
	c := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(policy).
		WithObjects(policy, inst("a", "OutsideWindow", prod), inst("b", "", prod), inst("c", "Frozen", nil)).
		WithInterceptorFuncs(interceptor.Funcs{SubResourceUpdate: func(ctx context.Context, c client.Client, name string, object client.Object, options ...client.SubResourceUpdateOption) error {
			writes++
			return c.SubResource(name).Update(ctx, object, options...)
		}}).Build()
	now := noon
	r := &Reconciler{Client: c, Now: func() time.Time { return now }}
	look := func() (*deliveryv1alpha1.DeliveryPolicyStatus, time.Duration) {
		result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(policy)})
		if err != nil {
			t.Fatal(err)
		}
		found := &deliveryv1alpha1.DeliveryPolicy{}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(policy), found); err != nil {
			t.Fatal(err)
		}
		return &found.Status, result.RequeueAfter
	}
	status, next := look()
	open := meta.FindStatusCondition(status.Conditions, deliveryv1alpha1.OpenCondition)
	if status.ObservedGeneration != 3 || status.Selected != 2 || status.Deferred != 1 || open.Status != metav1.ConditionFalse || open.Reason != string(reasons.OutsideWindow) || !status.NextChange.Time.Equal(noon.Add(5*time.Minute)) || next != 5*time.Minute {
		t.Errorf("%+v, after %s", status, next)
	}
	if look(); writes != 1 {
		t.Errorf("%d writes without a change", writes)
	}
	now = noon.Add(5 * time.Minute)
	if status, next = look(); !meta.IsStatusConditionTrue(status.Conditions, deliveryv1alpha1.OpenCondition) || !status.NextChange.Time.Equal(noon.Add(65*time.Minute)) || next != delivery.Recheck {
		t.Errorf("%+v, after %s", status, next)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(r.Metrics()...)
	families, err := registry.Gather()
	if err != nil || len(families) != 1 {
		t.Fatalf("%d metrics, %v", len(families), err)
	}
	counts := map[string]float64{}
	for _, metric := range families[0].GetMetric() {
		counts[metric.GetLabel()[0].GetValue()] = metric.GetGauge().GetValue()
	}
	if want := map[string]float64{"Frozen": 1, "InvalidPolicy": 0, "OutsideWindow": 1, "Paused": 0, "ApprovalRequired": 0, "PlanFailed": 0, "PlanPending": 0, "PlanRefused": 0}; !maps.Equal(counts, want) {
		t.Errorf("%v", counts)
	}
}

// TestInvalid: a policy that cannot be understood says why.
func TestInvalid(t *testing.T) {
	policy := &deliveryv1alpha1.DeliveryPolicy{Spec: deliveryv1alpha1.DeliveryPolicySpec{TimeZone: "Mars/Phobos"}}
	describe(policy, nil, noon)
	valid := meta.FindStatusCondition(policy.Status.Conditions, deliveryv1alpha1.ValidCondition)
	if valid.Status != metav1.ConditionFalse || !strings.Contains(valid.Message, `no time zone "Mars/Phobos"`) || !meta.IsStatusConditionFalse(policy.Status.Conditions, deliveryv1alpha1.OpenCondition) {
		t.Errorf("%+v", policy.Status.Conditions)
	}
}

// TestChangesCount: most writes of an Installation change nothing that a policy counts.
func TestChangesCount(t *testing.T) {
	plain := inst("a", "", nil)
	working := inst("a", "", nil)
	working.Status.JobID = "x"
	moved := inst("a", "", nil)
	moved.Spec.Context = "other"
	for reason, test := range map[string]struct {
		after *v1alpha1.Installation
		want  bool
	}{
		"a job":              {working, false},
		"a deferred job":     {inst("a", "Frozen", nil), true},
		"another label":      {inst("a", "", map[string]string{"tier": "prod"}), true},
		"another Context":    {moved, true},
		"the same once more": {inst("a", "", nil), false},
	} {
		if got := changesCount(plain, test.after); got != test.want {
			t.Errorf("%s: %t", reason, got)
		}
	}
}
