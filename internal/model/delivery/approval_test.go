package delivery_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/delivery"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// askedAt is the time of the judgements.
var askedAt = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

const (
	planA, planB = "sha256:aaaa", "sha256:bbbb"
	always       = "{approval: {when: Always}}"
)

// asked is a question about the plan planA of a root, just worked out, which creates an object.
func asked(t *testing.T, specs []string, changes ...func(*delivery.Asked)) delivery.Asked {
	t.Helper()
	in := delivery.Asked{Inst: rootOf(func(inst *v1alpha1.Installation) { inst.UID, inst.Generation = "u", 1 }), Now: askedAt}
	for i, spec := range specs {
		in.Policies = append(in.Policies, policyOf(t, fmt.Sprintf("p%d", i), spec))
	}
	in.Planned = &delivery.Planned{Basis: delivery.BasisOf(in.Inst), At: askedAt, Name: "x-aaaa", Digest: planA, Summary: deliveryv1alpha1.PlanSummary{Create: 1}}
	for _, change := range changes {
		change(&in)
	}
	return in
}

// approves adds an approval that was created some time ago.
func approves(digest, user string, ago time.Duration, changes ...func(*deliveryv1alpha1.DeliveryApproval)) func(*delivery.Asked) {
	return func(in *delivery.Asked) {
		approval := &deliveryv1alpha1.DeliveryApproval{
			ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a", CreationTimestamp: metav1.NewTime(askedAt.Add(-ago))},
			Spec:       deliveryv1alpha1.DeliveryApprovalSpec{Installation: "x", Digest: digest, ApprovedBy: user},
		}
		approval.UID = types.UID(fmt.Sprint("approval-", len(in.Approvals)))
		in.Planned.Seen = append(in.Planned.Seen, approval.UID)
		for _, change := range changes {
			change(approval)
		}
		in.Approvals = append(in.Approvals, approval)
	}
}

func planned(change func(*delivery.Planned)) func(*delivery.Asked) {
	return func(in *delivery.Asked) { change(in.Planned) }
}

func counting(summary deliveryv1alpha1.PlanSummary) func(*delivery.Asked) {
	return planned(func(p *delivery.Planned) { p.Summary = summary })
}

func old(age time.Duration) func(*delivery.Asked) {
	return planned(func(p *delivery.Planned) { p.At = p.At.Add(-age) })
}

func stored(digest, uid string) func(*delivery.Asked) {
	return func(in *delivery.Asked) {
		plan := &deliveryv1alpha1.DeliveryPlan{}
		plan.Spec.Digest, plan.Spec.Installation.Name, plan.Spec.Installation.UID = digest, "x", "u"
		if uid != "" {
			plan.Spec.Installation.UID = "other"
		}
		in.Plans = append(in.Plans, plan)
	}
}

// owns lets the root ask for approvals itself.
func owns(value string) func(*delivery.Asked) {
	return func(in *delivery.Asked) { in.Own = value }
}

func acceptsUnknown(approval *deliveryv1alpha1.DeliveryApproval) { approval.Spec.AcceptUnknown = true }

// TestApproval: whether a job may begin as far as its plan is concerned, and whether a plan is worked out.
// By are the users who have approved a plan that may be carried out, "-" if it needs none.
func TestApproval(t *testing.T) {
	const two = "{approval: {when: Always, approvers: 2}}"
	type changes = []func(*delivery.Asked)
	summary := func(s deliveryv1alpha1.PlanSummary) func(*delivery.Asked) { return counting(s) }
	for _, test := range []struct {
		reason  string
		specs   []string
		changes changes
		want    reasons.Reason
		work    bool
		by      string
	}{
		{"no policy asks", []string{"{}"}, nil, "", false, ""},
		{"a policy for other roots asks", []string{"{installations: [other], approval: {when: Always}}"}, nil, "", false, ""},
		{"there is no plan yet", []string{always}, changes{func(in *delivery.Asked) { in.Planned = nil }}, reasons.PlanPending, true, ""},
		{"the specification was changed since", []string{always}, changes{approves(planA, "ann", 0), old(time.Minute), func(in *delivery.Asked) { in.Inst.Generation++ }}, reasons.PlanPending, true, ""},
		{"it was changed again and again: plans have pauses", []string{always}, changes{old(time.Second), func(in *delivery.Asked) { in.Inst.Generation++ }}, reasons.PlanPending, false, ""},
		{"another job has run since: the plan is used", []string{always}, changes{approves(planA, "ann", 0), old(time.Minute), func(in *delivery.Asked) { in.Inst.Status.JobID = "j" }}, reasons.PlanPending, true, ""},
		{"the root is to be deleted now", []string{always}, changes{approves(planA, "ann", 0), old(time.Minute), func(in *delivery.Asked) { in.Inst.DeletionTimestamp = &metav1.Time{Time: askedAt} }}, reasons.PlanPending, true, ""},
		{"no user has approved it", []string{always}, nil, reasons.ApprovalRequired, false, ""},
		{"a plan that waits for long is worked out again", []string{always}, changes{old(2 * time.Hour)}, reasons.ApprovalRequired, true, ""},
		{"approved", []string{always}, changes{approves(planA, "ann", time.Minute)}, "", false, "ann"},
		{"approved, but the plan is not fresh: what happens now has to be the same", []string{always}, changes{approves(planA, "ann", time.Minute), old(time.Minute)}, reasons.PlanPending, true, ""},
		{"approved after the plan was worked out: what happens now has to be the same", []string{always}, changes{approves(planA, "ann", 0), planned(func(p *delivery.Planned) { p.Seen = nil })}, reasons.PlanPending, true, ""},
		{"the second user has approved after it was worked out", []string{two}, changes{approves(planA, "ann", 0), approves(planA, "bob", 0), planned(func(p *delivery.Planned) { p.Seen = p.Seen[:1] })}, reasons.PlanPending, true, ""},
		{"another plan was approved", []string{always}, changes{approves(planB, "ann", time.Minute)}, reasons.ApprovalRequired, false, ""},
		{"the approval is for another root", []string{always}, changes{approves(planA, "ann", 0, func(a *deliveryv1alpha1.DeliveryApproval) { a.Spec.Installation = "y" })}, reasons.ApprovalRequired, false, ""},
		{"the approval is withdrawn", []string{always}, changes{approves(planA, "ann", 0, func(a *deliveryv1alpha1.DeliveryApproval) { a.DeletionTimestamp = &metav1.Time{Time: askedAt} })}, reasons.ApprovalRequired, false, ""},
		{"the approval ends with its last moment", []string{"{approval: {validFor: 1h}}"}, changes{approves(planA, "ann", time.Hour)}, reasons.ApprovalRequired, false, ""},
		{"and counts before it", []string{"{approval: {validFor: 1h}}"}, changes{approves(planA, "ann", time.Hour-time.Second)}, "", false, "ann"},
		{"the clock of the API server is ahead", []string{always}, changes{approves(planA, "ann", -time.Minute)}, "", false, "ann"},
		{"two are needed, and one has approved", []string{two}, changes{approves(planA, "ann", 0)}, reasons.ApprovalRequired, false, ""},
		{"one has approved twice", []string{two}, changes{approves(planA, "ann", 0), approves(planA, "ann", time.Minute)}, reasons.ApprovalRequired, false, ""},
		{"two have approved", []string{two}, changes{approves(planA, "bob", 0), approves(planA, "ann", time.Minute)}, "", false, "ann bob"},
		{"two have approved different plans", []string{two}, changes{approves(planA, "bob", 0), approves(planB, "ann", time.Minute)}, reasons.ApprovalRequired, false, ""},
		{"of two policies, each has to be satisfied", []string{always, two}, changes{approves(planA, "ann", 0)}, reasons.ApprovalRequired, false, ""},

		{"nothing is deleted", []string{"{approval: {when: Deletions}}"}, nil, "", false, "-"},
		{"nothing is deleted, but the plan is not fresh", []string{"{approval: {when: Deletions}}"}, changes{old(time.Minute)}, reasons.PlanPending, true, ""},
		{"an object is deleted", []string{"{approval: {when: Deletions}}"}, changes{summary(deliveryv1alpha1.PlanSummary{Delete: 1})}, reasons.ApprovalRequired, false, ""},
		{"an object is deleted and created", []string{"{approval: {when: Deletions}}"}, changes{summary(deliveryv1alpha1.PlanSummary{Replace: 1})}, reasons.ApprovalRequired, false, ""},
		{"a deletion could hide behind what is unknown", []string{"{approval: {when: Deletions}}"}, changes{summary(deliveryv1alpha1.PlanSummary{Unknown: 1})}, reasons.ApprovalRequired, false, ""},
		{"as many objects as are permitted", []string{"{approval: {when: Objects, objects: 3}}"}, changes{summary(deliveryv1alpha1.PlanSummary{Create: 1, Change: 1, Move: 1, Keep: 9})}, "", false, "-"},
		{"one more", []string{"{approval: {when: Objects, objects: 3}}"}, changes{summary(deliveryv1alpha1.PlanSummary{Create: 1, Change: 1, Delete: 1, Replace: 1})}, reasons.ApprovalRequired, false, ""},
		{"changes could hide behind what is unknown", []string{"{approval: {when: Objects, objects: 3}}"}, changes{summary(deliveryv1alpha1.PlanSummary{Unknown: 1})}, reasons.ApprovalRequired, false, ""},
		{"always means a plan that changes nothing, too", []string{always}, changes{summary(deliveryv1alpha1.PlanSummary{Keep: 3})}, reasons.ApprovalRequired, false, ""},

		{"unknown parts are approved only by those who say so", []string{always}, changes{summary(deliveryv1alpha1.PlanSummary{Unknown: 1}), approves(planA, "ann", 0)}, reasons.ApprovalRequired, false, ""},
		{"and are by them", []string{always}, changes{summary(deliveryv1alpha1.PlanSummary{Unknown: 1}), approves(planA, "ann", 0, acceptsUnknown)}, "", false, "ann"},
		{"a policy refuses unknown parts, approved or not", []string{"{approval: {unknown: Refuse}}"}, changes{summary(deliveryv1alpha1.PlanSummary{Unknown: 1}), approves(planA, "ann", 0, acceptsUnknown)}, reasons.PlanRefused, false, ""},
		{"what is unknown may be known later", []string{"{approval: {unknown: Refuse}}"}, changes{summary(deliveryv1alpha1.PlanSummary{Unknown: 1}), old(time.Hour)}, reasons.PlanRefused, true, ""},

		{"the plan could not be worked out", []string{always}, changes{planned(func(p *delivery.Planned) { p.Failed = "no Context" })}, reasons.PlanFailed, false, ""},
		{"it is tried again", []string{always}, changes{old(time.Minute), planned(func(p *delivery.Planned) { p.Failed = "no Context" })}, reasons.PlanFailed, true, ""},
		{"the plan is too large: no approval helps", []string{always}, changes{approves(planA, "ann", 0), planned(func(p *delivery.Planned) { p.Failed, p.Refused = "it is too large", true })}, reasons.PlanRefused, false, ""},
		{"the policy is overridden", []string{always}, changes{func(in *delivery.Asked) {
			in.Inst.Annotations = map[string]string{deliveryv1alpha1.OverrideAnnotation: "p0"}
		}}, "", false, ""},
		{"the owner asks, and no policy does", nil, changes{owns("Always")}, reasons.ApprovalRequired, false, ""},
		{"the owner asks, and there is no plan yet", nil, changes{owns("Always"), func(in *delivery.Asked) { in.Planned = nil }}, reasons.PlanPending, true, ""},
		{"the owner's approval is enough", nil, changes{owns("Always"), approves(planA, "ann", 0)}, "", false, "ann"},
		{"for a day", nil, changes{owns("Always"), approves(planA, "ann", 24*time.Hour)}, reasons.ApprovalRequired, false, ""},
		{"the owner asks for deletions, and nothing is deleted", nil, changes{owns("Deletions")}, "", false, "-"},
		{"the owner asks for deletions, and there is one", nil, changes{owns("Deletions"), summary(deliveryv1alpha1.PlanSummary{Delete: 1})}, reasons.ApprovalRequired, false, ""},
		{"the owner does not permit unknown parts by asking for less", nil, changes{owns("Deletions"), summary(deliveryv1alpha1.PlanSummary{Unknown: 1}), approves(planA, "ann", 0)}, reasons.ApprovalRequired, false, ""},
		{"the owner may accept them", nil, changes{owns("Always"), summary(deliveryv1alpha1.PlanSummary{Unknown: 1}), approves(planA, "ann", 0, acceptsUnknown)}, "", false, "ann"},
		{"the owner takes nothing from a policy", []string{two}, changes{owns("Deletions"), approves(planA, "ann", 0)}, reasons.ApprovalRequired, false, ""},
		{"a policy takes nothing from the owner", []string{"{approval: {when: Deletions}}"}, changes{owns("Always")}, reasons.ApprovalRequired, false, ""},
		{"an override is of a policy, not of the owner", []string{always}, changes{owns("Always"), func(in *delivery.Asked) {
			in.Inst.Annotations = map[string]string{deliveryv1alpha1.OverrideAnnotation: "p0"}
		}}, reasons.ApprovalRequired, false, ""},
		{"the owner asks for something that there is not", nil, changes{owns("always"), approves(planA, "ann", 0)}, reasons.InvalidPolicy, false, ""},
		{"a number of objects is for policies", nil, changes{owns("Objects")}, reasons.InvalidPolicy, false, ""},
		{"another policy is overridden", []string{always, always}, changes{func(in *delivery.Asked) {
			in.Inst.Annotations = map[string]string{deliveryv1alpha1.OverrideAnnotation: "p0"}
		}}, reasons.ApprovalRequired, false, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := delivery.JudgeApproval(asked(t, test.specs, test.changes...))
			by := ""
			if got.Plan != nil {
				by = strings.Join(got.Plan.ApprovedBy, " ")
				if by == "" {
					by = "-"
				}
				if got.Plan.Digest != planA || got.Plan.Name != "x-aaaa" {
					t.Errorf("the plan is %+v", got.Plan)
				}
			}
			if got.Reason != test.want || got.Work != test.work || by != test.by {
				t.Errorf("%q, works %t, by %q, want %q, %t, %q: %s", got.Reason, got.Work, by, test.want, test.work, test.by, got)
			}
			if !got.Permitted() && !got.Work && got.Wake(askedAt).Deadline().After(askedAt.Add(delivery.Recheck)) {
				t.Errorf("it is judged again at %s", got.Wake(askedAt))
			}
		})
	}
}

// TestAhead: what becomes of the plan of a job that waits for a window. The window opens at 20:00, in eight
// hours.
func TestAhead(t *testing.T) {
	const night = "{windows: [{start: '20:00', duration: 4h}]}"
	const refused, at = "deferred by DeliveryPolicy p0: no window is open", "; it may begin at 2026-06-01T20:00:00Z"
	none := func(in *delivery.Asked) { in.Planned = nil }
	for _, test := range []struct {
		reason  string
		specs   []string
		changes []func(*delivery.Asked)
		work    bool
		wake    time.Duration
		want    string
	}{
		{"no policy asks for an approval", []string{night}, nil, false, delivery.Recheck, refused + at},
		{"there is no plan yet", []string{night, always}, []func(*delivery.Asked){none}, true, 0, refused + "; its plan is being worked out" + at},
		{"an approval given now would end before", []string{night, "{approval: {validFor: 7h}}"}, []func(*delivery.Asked){none}, false, delivery.Recheck, refused + at},
		{"of two policies, the shorter time counts", []string{night, always, "{approval: {validFor: 7h}}"}, []func(*delivery.Asked){none}, false, delivery.Recheck, refused + at},
		{"it would count from soon on", []string{night, "{approval: {validFor: 7h59m}}"}, []func(*delivery.Asked){none}, false, time.Minute, refused + at},
		{"no window follows", []string{"{windows: [{from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z'}]}", always}, []func(*delivery.Asked){none}, false, delivery.Recheck, "deferred by DeliveryPolicy p0: no window is open, and none follows; it may begin when the policy is changed"},
		{"no user has approved it", []string{night, always}, nil, false, delivery.Recheck, refused + "; plan " + planA + " (1 to create) needs the approval of a user: landscaper-cli plans approve x -n n --digest " + planA + at},
		{"approved: it is compared when the window opens, and not before", []string{night, always}, []func(*delivery.Asked){approves(planA, "ann", 0), old(time.Minute)}, false, delivery.Recheck, refused + "; its plan " + planA + " is approved by ann, and is compared with what would happen then" + at},
		{"approved after it was worked out", []string{night, always}, []func(*delivery.Asked){approves(planA, "ann", 0), planned(func(p *delivery.Planned) { p.Seen = nil })}, false, delivery.Recheck, refused + "; its plan " + planA + " is approved by ann, and is compared with what would happen then" + at},
		{"those who have approved see once an hour whether it still is the plan", []string{night, always}, []func(*delivery.Asked){approves(planA, "ann", 0), old(time.Hour)}, true, 0, refused + "; its plan " + planA + " is approved by ann, and is compared with what would happen then" + at},
		{"approved in time for now, and not for when the window opens", []string{night, always}, []func(*delivery.Asked){approves(planA, "ann", 17*time.Hour)}, false, delivery.Recheck, refused + "; plan " + planA + " (1 to create) needs the approval of a user: landscaper-cli plans approve x -n n --digest " + planA + at},
		{"the owner alone asks for an approval", []string{night}, []func(*delivery.Asked){none, func(in *delivery.Asked) { in.Own = "Always" }}, true, 0, refused + "; its plan is being worked out" + at},
		{"no approval is needed", []string{night, "{approval: {when: Deletions}}"}, nil, false, delivery.Recheck, refused + "; its plan " + planA + " needs no approval" + at},
		{"the plan is refused", []string{night, "{approval: {unknown: Refuse}}"}, []func(*delivery.Asked){counting(deliveryv1alpha1.PlanSummary{Unknown: 1})}, false, delivery.Recheck, refused + "; plan " + planA + " has 1 parts that only the job can know, which the policy does not permit" + at},
		{"the specification was changed since", []string{night, always}, []func(*delivery.Asked){approves(planA, "ann", 0), old(time.Minute), func(in *delivery.Asked) { in.Inst.Generation++ }}, true, 0, refused + "; its plan is being worked out" + at},
	} {
		t.Run(test.reason, func(t *testing.T) {
			in := asked(t, test.specs, test.changes...)
			got := in.Ahead(delivery.Judge(in.Policies, in.Inst, v1alpha1.TriggeredByReconcile, in.Now))
			if got.Permitted() || got.Plan != nil || got.Pending || got.Planning {
				t.Fatalf("%+v", got)
			}
			if got.Work != test.work || got.String() != test.want {
				t.Errorf("works %t\ngot  %s\nwant %s", got.Work, got, test.want)
			}
			if wake := got.Wake(in.Now).Deadline(); !test.work && !wake.Equal(in.Now.Add(test.wake)) {
				t.Errorf("it is judged again at %s", wake)
			}
		})
	}
}

// TestApprovalMessages: what users read.
func TestApprovalMessages(t *testing.T) {
	const command = ": landscaper-cli plans approve x -n n --digest " + planA
	for _, test := range []struct {
		reason  string
		spec    string
		changes []func(*delivery.Asked)
		want    string
	}{
		{"no user has approved", always, nil, "plan " + planA + " (1 to create) needs the approval of a user" + command},
		{"one of two has approved", "{approval: {approvers: 2}}", []func(*delivery.Asked){approves(planA, "ann", 0)}, "plan " + planA + " (1 to create) needs the approval of 2 users, and has that of ann" + command},
		{"parts are unknown", always, []func(*delivery.Asked){counting(deliveryv1alpha1.PlanSummary{Delete: 1, Unknown: 2})}, "plan " + planA + " (1 to delete, 2 known only when the job runs) needs the approval of a user" + command + " --accept-unknown"},
		{"the plan before was approved, and is void", always, []func(*delivery.Asked){approves(planB, "ann", 0), stored(planB, "")}, "plan " + planA + " (1 to create) needs the approval of a user; plan " + planB + ", which ann has approved, is not what would happen any more" + command},
		{"that was the plan of another Installation of the name", always, []func(*delivery.Asked){approves(planB, "ann", 0), stored(planB, "other")}, "plan " + planA + " (1 to create) needs the approval of a user" + command},
		{"the plan before was carried out", always, []func(*delivery.Asked){approves(planB, "ann", 0), stored(planB, ""), func(in *delivery.Asked) {
			in.Inst.Status.ApprovedPlan = &v1alpha1.ApprovedPlan{Digest: planB}
		}}, "plan " + planA + " (1 to create) needs the approval of a user" + command},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := delivery.JudgeApproval(asked(t, []string{test.spec}, test.changes...))
			if want := "deferred by DeliveryPolicy p0: " + test.want; got.String() != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// TestOwnApproval: what users read where the Installation itself asks, and what ends the wait.
func TestOwnApproval(t *testing.T) {
	for _, test := range []struct {
		reason      string
		in          delivery.Asked
		want, waits string
	}{
		{
			"the owner asks", asked(t, nil, owns("Always")),
			"deferred by annotation delivery.landscaper.dev/approval: plan " + planA + " (1 to create) needs the approval of a user: landscaper-cli plans approve x -n n --digest " + planA,
			"DeliveryApproval any, the time 2026-06-01T12:15:00Z",
		},
		{
			"a policy asks, too", asked(t, []string{always}, owns("Always")),
			"deferred by DeliveryPolicy p0: plan " + planA + " (1 to create) needs the approval of a user: landscaper-cli plans approve x -n n --digest " + planA + "; also by annotation delivery.landscaper.dev/approval",
			"DeliveryPolicy p0, DeliveryApproval any, the time 2026-06-01T12:15:00Z",
		},
		{
			"what the owner asks for is not understood", asked(t, nil, owns("Sometimes")),
			`deferred by annotation delivery.landscaper.dev/approval: its value "Sometimes" is not Always or Deletions`,
			"the time 2026-06-01T12:15:00Z",
		},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := delivery.JudgeApproval(test.in)
			if got.String() != test.want || got.Wake(askedAt).String() != test.waits {
				t.Errorf("got  %s, waits for %s\nwant %s, %s", got, got.Wake(askedAt), test.want, test.waits)
			}
		})
	}
}

// TestOverriddenApproval: an override of a policy that asks for an approval is recorded.
func TestOverriddenApproval(t *testing.T) {
	in := asked(t, []string{always})
	in.Inst.Annotations = map[string]string{deliveryv1alpha1.OverrideAnnotation: "p0"}
	if got := delivery.JudgeApproval(in); got.Overridden != "p0" || got.Plan != nil {
		t.Errorf("%+v", got)
	}
	names := delivery.JudgeApproval(asked(t, []string{always, "{approval: {approvers: 2}}"})).Policies
	if !slices.Equal(names, []string{"p0", "p1"}) {
		t.Errorf("the policies are %v", names)
	}
}
