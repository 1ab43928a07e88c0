package execution

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow/targets"
	"go.landscaper.dev/internal/model/siblings/itemorder"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/cause"
)

// pickupWarnAfter is how long an item may wait for its deployer before that is shown: a deployer
// that works has picked it up by then, also where many items wait.
const pickupWarnAfter = 30 * time.Second

// itemErrors says which items have failed, and why.
func itemErrors(s snapshot, failed []itemorder.Member) string {
	causes := make([]cause.Cause, len(failed))
	for i, m := range failed {
		causes[i] = s.failureOf(m)
	}
	return cause.List(causes)
}

// failureOf is why an item has failed.
func (s snapshot) failureOf(m itemorder.Member) cause.Cause {
	switch {
	case m.Item == nil:
		return cause.Cause{Item: m.Name, Message: "the DeployItem is missing: another client has deleted it: ask the root for another job"}
	case m.Item.Status.LastError == nil || m.Item.Status.LastError.Message == "":
		return s.causeAt(m, fmt.Sprintf("DeployItem %s is in phase %s", m.Item.Name, m.Item.Status.Phase))
	}
	return s.causeAt(m, m.Item.Status.LastError.Message)
}

// causeAt is the error at an item. Targets have the names that users know.
func (s snapshot) causeAt(m itemorder.Member, message string) cause.Cause {
	found := cause.Cause{Item: m.Name, Message: targets.Say(s.lineage, message)}
	if m.Unwanted {
		found.Item += " (no longer wanted)"
	}
	if target := m.Item.Spec.Target; target != nil {
		found.Target = targets.NameOf(s.lineage, target.Name)
	}
	return found
}

// obstacles are why a job does not continue: items that have failed, wait, or have not been picked
// up. Again is when to check one that does not count yet.
func obstacles(s snapshot, order itemorder.Order) (found []cause.Cause, again time.Time) {
	for i, m := range order.Members {
		var message string
		var counts time.Time
		switch {
		case order.States[i] == itemorder.Failed:
			message, counts = s.failureOf(m).Message, failedAt(m.Item)
		case order.States[i] == itemorder.Running && m.Item.Status.JobID == s.exec.Status.JobID:
			message, counts = obstacle(m.Item)
		}
		switch {
		case message == "":
		case counts.After(s.now):
			if again.IsZero() || counts.Before(again) {
				again = counts
			}
		case m.Item == nil:
			found = append(found, s.failureOf(m))
		default:
			found = append(found, s.causeAt(m, message))
		}
	}
	return found, again
}

// failedAt is from when on a failure is to be shown while other items are at work.
func failedAt(item *v1alpha1.DeployItem) time.Time {
	if item == nil {
		return time.Time{}
	}
	return job.SettledAt(item.Status.PhaseTransitionTime)
}

// obstacle is why an item at work does not continue, and from when on that is to be shown.
func obstacle(item *v1alpha1.DeployItem) (message string, counts time.Time) {
	status := &item.Status
	if message := job.Obstacle(status.Conditions); message != "" && status.JobID != status.JobIDFinished && isPickedUp(status) {
		return message, job.SettledAt(status.PhaseTransitionTime)
	}
	if status.JobIDGenerationTime != nil && !isPickedUp(status) {
		return fmt.Sprintf("no deployer has picked DeployItem %s up: check that a deployer for type %s runs; landscaper-cli doctor says why", item.Name, item.Spec.Type), status.JobIDGenerationTime.Add(pickupWarnAfter)
	}
	return "", time.Time{}
}

// resting lets a job rest until a change of its items, and shows what blocks them.
func resting(s snapshot, wake job.Wake, order itemorder.Order) decision {
	found, again := obstacles(s, order)
	message := cause.List(found)
	due, later := s.showing().Due(message, s.now)
	if due {
		return decision{do: show, message: message, wake: job.Continues()}
	}
	return decision{do: rest, wake: wake.By(again).By(later)}
}

// showing is what the Execution shows about its items.
func (s snapshot) showing() job.Showing {
	status := &s.exec.Status
	return job.ShowingOf(&status.Conditions, string(status.ExecutionPhase), status.ObservedGeneration, status.PhaseTransitionTime)
}

// show writes what the items say into the conditions. That is not a transition.
func (s snapshot) show(message string) { s.showing().Write(message, metav1.NewTime(s.now)) }
