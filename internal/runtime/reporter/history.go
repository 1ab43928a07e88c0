package reporter

import (
	"encoding/json"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

const (
	// maxHistory is how many jobs a status remembers.
	maxHistory = 10
	// maxStatus is how large a status may become by its history, in bytes.
	// Each change of an Installation sends its whole status to all who watch it.
	maxStatus = 8 << 10
)

// RecordTrigger notes in the history what has started the current job: at its end, the request
// for it does not exist any more. The trigger is stored with the job's ID.
func (s *Subject) RecordTrigger(trigger v1alpha1.JobTrigger) {
	if inst, ok := s.Object.(*v1alpha1.Installation); ok {
		record(inst).Trigger = trigger
	}
}

// record returns the entry of the current job, which is the first one of the history.
func record(inst *v1alpha1.Installation) *v1alpha1.JobRecord {
	status := &inst.Status
	if len(status.History) == 0 || status.History[0].JobID != status.JobID {
		// A job that did not end before the next one began, as in a status that a user has
		// changed, has nothing to record.
		past := slices.DeleteFunc(slices.Clone(status.History), func(r v1alpha1.JobRecord) bool { return r.Phase == "" })
		status.History = append([]v1alpha1.JobRecord{{JobID: status.JobID}}, past...)
		status.History = status.History[:min(len(status.History), maxHistory)]
	}
	return &status.History[0]
}

// enter enters a phase, and keeps a job that ends with it in the history.
func (s *Subject) enter(phase string, err error, now metav1.Time) {
	running := s.Status.Unfinished()
	s.Status.Enter(phase, err, now)
	if running && !s.Status.Unfinished() {
		s.finishRecord()
	}
}

// finishRecord writes the end of the current job into the history, and drops the
// oldest jobs as far as the status would become too large.
func (s *Subject) finishRecord() {
	inst, ok := s.Object.(*v1alpha1.Installation)
	if !ok || job.IsRemoval(inst.Status.JobID) {
		// A removal round is a part of a job that is remembered already.
		return
	}
	entry, times := record(inst), inst.Status.TransitionTimes
	entry.Phase = inst.Status.InstallationPhase
	if times != nil {
		entry.Start = times.TriggerTime
		entry.Queued = span(times.TriggerTime, times.InitTime)
		written := times.WaitTime
		if written == nil {
			// It never came to its children.
			written = times.FinishedTime
		}
		entry.Preparing = span(times.InitTime, written)
		entry.Running = span(times.WaitTime, times.FinishedTime)
	}
	for len(inst.Status.History) > 1 {
		text, err := json.Marshal(inst.Status)
		if err != nil || len(text) <= maxStatus {
			return
		}
		inst.Status.History = inst.Status.History[:len(inst.Status.History)-1]
	}
}

// span returns the time between two moments, or nil if it is less than a second, as
// they are stored.
func span(from, to *metav1.Time) *v1alpha1.Duration {
	if from == nil || to == nil {
		return nil
	}
	if length := to.Truncate(time.Second).Sub(from.Truncate(time.Second)); length >= time.Second {
		return v1alpha1.NewDuration(length)
	}
	return nil
}
