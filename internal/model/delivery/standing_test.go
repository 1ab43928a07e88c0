package delivery_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/delivery"
)

// TestStanding: who counts as one who has approved a plan, and how many have to, for people who look at it.
func TestStanding(t *testing.T) {
	const two = "{approval: {when: Deletions, approvers: 2}}"
	unknown := counting(deliveryv1alpha1.PlanSummary{Unknown: 1})
	type changes = []func(*delivery.Asked)
	for _, test := range []struct {
		reason  string
		specs   []string
		changes changes
		want    string
	}{
		{"nothing asks", []string{"{}"}, nil, "by [], needs 0, void []"},
		{"the policies are not known", nil, changes{approves(planA, "ann", 0), approves(planA, "bob", 24*time.Hour)}, "by [ann], needs 0, void [bob]"},
		{"a policy asks", []string{always}, nil, "by [], needs 1, void []"},
		{"of two policies, the stricter one counts", []string{always, two}, changes{counting(deliveryv1alpha1.PlanSummary{Delete: 1})}, "by [], needs 2, void []"},
		{"if it asks for approvals of such a plan", []string{always, two}, nil, "by [], needs 1, void []"},
		{"the owner asks", nil, changes{owns("Always")}, "by [], needs 1, void []"},
		{"the owner asks for what is not understood", nil, changes{owns("Sometimes")}, "by [], needs 0, void []"},
		{"one of two", []string{"{approval: {approvers: 2}}"}, changes{approves(planA, "ann", time.Hour)}, "by [ann], needs 2, void []"},
		{"one of two, and an approval that is too old", []string{"{approval: {approvers: 2, validFor: 1h}}"}, changes{approves(planA, "ann", time.Minute), approves(planA, "bob", time.Hour)}, "by [ann], needs 2, void [bob]"},
		{"a policy for which the approval is too old counts, and not one that is satisfied", []string{"{approval: {approvers: 2}}", "{approval: {validFor: 1h}}"}, changes{approves(planA, "ann", time.Hour), approves(planA, "bob", time.Hour)}, "by [], needs 1, void [ann bob]"},
		{"unknown parts are not accepted", []string{always}, changes{unknown, approves(planA, "ann", 0), approves(planA, "bob", 0, acceptsUnknown)}, "by [bob], needs 1, void [ann]"},
		{"an approval is withdrawn", []string{always}, changes{approves(planA, "ann", 0, func(a *deliveryv1alpha1.DeliveryApproval) { a.DeletionTimestamp = &metav1.Time{Time: askedAt} })}, "by [], needs 1, void [ann]"},
		{"it was given again", []string{"{approval: {validFor: 1h}}"}, changes{approves(planA, "ann", time.Hour), approves(planA, "ann", 0)}, "by [ann], needs 1, void []"},
		{"another plan was approved", []string{always}, changes{approves(planB, "ann", 0)}, "by [], needs 1, void []"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			in := asked(t, test.specs, test.changes...)
			in.Inst.Annotations = map[string]string{deliveryv1alpha1.ApprovalAnnotation: in.Own}
			plan := &deliveryv1alpha1.DeliveryPlan{Spec: deliveryv1alpha1.DeliveryPlanSpec{Digest: planA, Summary: in.Planned.Summary}}
			got := delivery.StandingOf(plan, in.Inst, in.Policies, in.Approvals, in.Now)
			if said := fmt.Sprintf("by %v, needs %d, void %v", got.By, got.Needs, got.Void); said != test.want {
				t.Errorf("got  %s\nwant %s", said, test.want)
			}
		})
	}
}

// TestMayBeOfNextJob: which stored plans people are asked to approve.
func TestMayBeOfNextJob(t *testing.T) {
	for _, test := range []struct {
		reason string
		plan   deliveryv1alpha1.PlannedInstallation
		delete bool
		want   bool
	}{
		{"the plan of the specification", deliveryv1alpha1.PlannedInstallation{UID: "u", Generation: 2}, false, true},
		{"the last job has carried it out", deliveryv1alpha1.PlannedInstallation{Name: "carried-out", UID: "u", Generation: 2}, false, false},
		{"the specification was changed since", deliveryv1alpha1.PlannedInstallation{UID: "u", Generation: 1}, false, false},
		{"a cache is behind", deliveryv1alpha1.PlannedInstallation{UID: "u", Generation: 3}, false, true},
		{"another Installation of the name", deliveryv1alpha1.PlannedInstallation{UID: "v", Generation: 2}, false, false},
		{"it is being deleted since", deliveryv1alpha1.PlannedInstallation{UID: "u", Generation: 2}, true, false},
		{"the plan of the deletion", deliveryv1alpha1.PlannedInstallation{UID: "u", Generation: 2, Deleted: true}, true, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := rootOf(func(inst *v1alpha1.Installation) { inst.UID, inst.Generation = "u", 2 })
			if test.delete {
				inst.DeletionTimestamp = &metav1.Time{Time: askedAt}
			}
			inst.Status.ApprovedPlan = &v1alpha1.ApprovedPlan{Digest: "carried-out"}
			plan := &deliveryv1alpha1.DeliveryPlan{Spec: deliveryv1alpha1.DeliveryPlanSpec{Installation: test.plan, Digest: test.plan.Name}}
			if got := delivery.MayBeOfNextJob(plan, inst); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
