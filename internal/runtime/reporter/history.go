package reporter

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
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
	// maxName is how long a name of others is in a record, in bytes.
	maxName = 128
	// maxImports and maxImportNames bound what a record has of imports: their number, and the bytes
	// of their names.
	maxImports, maxImportNames = 16, 512
	// fingerprint is how long the digests of a record are: they tell few values apart.
	fingerprint = 12
)

// RecordTrigger notes in the history what has started the current job: at its end, the request
// for it does not exist any more. The trigger is stored with the job's ID. The requester is the client
// that has asked for the job by an operation.
func (s *Subject) RecordTrigger(trigger v1alpha1.JobTrigger, requester string) {
	inst, ok := s.Object.(*v1alpha1.Installation)
	if !ok {
		return
	}
	entry := record(inst)
	entry.Trigger = trigger
	switch trigger {
	case v1alpha1.TriggeredByReconcile, v1alpha1.TriggeredByForceReconcile, v1alpha1.TriggeredByRollback:
		entry.RequestedBy = limited(requester)
	}
}

// RecordOverride notes in the history which DeliveryPolicy was left out for the current job, and by which
// client.
func (s *Subject) RecordOverride(policy, by string) {
	if inst, ok := s.Object.(*v1alpha1.Installation); ok {
		record(inst).Overridden = &v1alpha1.OverriddenPolicy{Policy: limited(policy), By: limited(by)}
	}
}

// RecordImports notes in the history which imports the current job uses, as digests by their names.
// Many of them are noted in part.
func (s *Subject) RecordImports(hash string, digests map[string]string) {
	inst, ok := s.Object.(*v1alpha1.Installation)
	if !ok {
		return
	}
	entry := record(inst)
	entry.ImportsHash, entry.Imports = beginning(hash), nil
	size := 0
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		if size += len(name); len(entry.Imports) == maxImports || size > maxImportNames {
			break
		}
		entry.Imports = append(entry.Imports, v1alpha1.ImportFingerprint{Name: name, Fingerprint: beginning(digests[name])})
	}
	for i, earlier := range inst.Status.History {
		if i > 0 && earlier.ImportsHash == entry.ImportsHash {
			inst.Status.History[i].Imports = nil
		}
	}
}

// limited cuts what others have written.
func limited(text string) string { return strings.ToValidUTF8(text[:min(len(text), maxName)], "") }

func beginning(digest string) string { return digest[:min(len(digest), fingerprint)] }

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
	entry.Phase, entry.Generation = inst.Status.InstallationPhase, inst.Status.ObservedGeneration
	if component := inst.Spec.ComponentDescriptor; component != nil && component.Reference != nil && inst.Generation == inst.Status.ObservedGeneration {
		entry.Component = limited(component.Reference.ComponentName + ":" + component.Reference.Version)
	}
	if last := inst.Status.LastError; last != nil && entry.Phase != v1alpha1.InstallationPhases.Succeeded {
		entry.Reason = limited(last.Reason)
	}
	if s.Objects != nil {
		entry.Objects = s.Objects(inst.Status.JobID)
	}
	if update := inst.Status.DataUpdate; update != nil && update.Unchanged {
		// It uses what the last job has used.
		entry.ImportsHash = beginning(inst.Status.ImportsHash)
	}
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
