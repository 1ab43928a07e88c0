package console

import (
	"encoding/json"
	"net/http"
	"testing"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// TestStoredPlan: which pages ask for the plan that waits, and when it can be approved.
func TestStoredPlan(t *testing.T) {
	const refused = "The job does not wait for an approval of this plan."
	for _, test := range []struct {
		why    string
		reason reasons.Reason
		plan   *Plan
		waits  bool
		want   string
	}{
		{"an approval is missing", reasons.ApprovalRequired, &Plan{Digest: "sha256:aa"}, true, ""},
		{"it is compared once more", reasons.PlanPending, &Plan{Digest: "sha256:aa"}, true, ""},
		{"no approval helps", reasons.PlanRefused, &Plan{Digest: "sha256:aa"}, true, refused},
		{"it could not be worked out: what is stored is another one", reasons.PlanFailed, &Plan{Digest: "sha256:aa"}, true, refused},
		{"nothing is stored yet", reasons.PlanPending, nil, true, ""},
		{"it is approved during a freeze", reasons.Frozen, &Plan{Digest: "sha256:aa"}, true, ""},
		{"or before a window", reasons.OutsideWindow, &Plan{Digest: "sha256:aa"}, true, ""},
		{"a job waits for a window, and needs no approval", reasons.OutsideWindow, nil, true, ""},
		{"nothing begins during a pause", reasons.Paused, &Plan{Digest: "sha256:aa"}, false, refused},
		{"nothing waits", "", &Plan{Digest: "sha256:aa"}, false, refused},
	} {
		t.Run(test.why, func(t *testing.T) {
			inst := installation("a", "", func(inst *v1alpha1.Installation) {
				if test.reason != "" {
					inst.Status.Conditions = []v1alpha1.Condition{{Type: deliveryv1alpha1.DeferredCondition, Status: v1alpha1.ConditionTrue, Reason: string(test.reason), Message: "deferred by DeliveryPolicy p"}}
				}
			})
			ahead := test.reason == reasons.Frozen || test.reason == reasons.OutsideWindow
			if said, waitsForTime := planWait(&inspect.Node{Installation: inst}); (said != "") != test.waits || waitsForTime != ahead {
				t.Errorf("the page says %q, %t", said, waitsForTime)
			}
			visitor := sees("installations/shop")
			visitor.actor = &fakeActor{plan: test.plan}
			answer := sendTo(openFor(t, inspect.Snapshot{Installations: []*v1alpha1.Installation{inst}}, visitor), "/approval/shop/a", "")
			var stored StoredPlan
			if err := json.Unmarshal(answer.Body.Bytes(), &stored); err != nil || answer.Code != http.StatusOK || stored.Refusal != test.want || (stored.Plan == nil) != (test.plan == nil) {
				t.Errorf("%d %s, want %q: %v", answer.Code, answer.Body, test.want, err)
			}
		})
	}
}
