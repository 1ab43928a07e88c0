package job

import (
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"

	"go.landscaper.dev/api/v1alpha1"
)

// NewID returns the ID of a new job.
func NewID() string { return string(uuid.NewUUID()) }

// Unfinished reports whether a job was handed over and has not ended yet.
func Unfinished(jobID, finished string) bool { return jobID != finished }

// Starting reports whether a job was handed over and nobody has begun to work on
// it: the phase is still empty or that of the job before.
func Starting(jobID, finished, phase string) bool {
	current := v1alpha1.InstallationPhase(phase).Current()
	return Unfinished(jobID, finished) && (current.IsEmpty() || current.IsFinal())
}

// Admitted reports whether the first job of an Installation was asked for and the request
// removed, but its status does not show the job yet. What is only a copy of such an
// Installation has another UID.
func Admitted(inst *v1alpha1.Installation) bool {
	return inst.UID != "" && inst.Annotations[v1alpha1.AdmittedAnnotation] == string(inst.UID) && NeverWorked(inst) && inst.DeletionTimestamp == nil
}

// NeverWorked reports whether an Installation had no job yet.
func NeverWorked(inst *v1alpha1.Installation) bool {
	return inst.Status.JobID == "" && inst.Status.InstallationPhase.Current().IsEmpty()
}

// TriggerOf returns what asks for a job of an Installation, as far as that shows.
func TriggerOf(inst *v1alpha1.Installation) v1alpha1.JobTrigger {
	switch operation := v1alpha1.Operation(inst.Annotations[v1alpha1.OperationAnnotation]); {
	case inst.DeletionTimestamp != nil && !inst.Status.InstallationPhase.Current().IsDeletion():
		return v1alpha1.TriggeredByDeletion
	case operation == v1alpha1.ReconcileOperation:
		return v1alpha1.TriggeredByReconcile
	case operation == v1alpha1.ForceReconcileOperation:
		return v1alpha1.TriggeredByForceReconcile
	case operation == v1alpha1.DataUpdateOperation:
		return v1alpha1.TriggeredByExports
	case operation == "" && inst.Generation != inst.Status.ObservedGeneration:
		return v1alpha1.TriggeredByChange
	}
	return ""
}

// Triggered returns the transition times of a job that was just handed over.
func Triggered(now metav1.Time) *v1alpha1.TransitionTimes {
	return &v1alpha1.TransitionTimes{TriggerTime: &now}
}

// Written remembers which version of each object this process wrote last, so
// that a controller does not act on an older one from its cache: the newer one
// is on its way and wakes the controller.
// Versions are compared as numbers, which holds for two versions of one object. One that is
// no number is believed: then a conflict stops a write that is too late.
type Written struct {
	mutex    sync.Mutex
	versions map[types.UID]uint64
}

// Record remembers the version of an object that was just written.
func (w *Written) Record(object metav1.Object) {
	version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.versions == nil {
		w.versions = make(map[types.UID]uint64)
	}
	w.versions[object.GetUID()] = max(version, w.versions[object.GetUID()])
}

// Fresh reports whether an object from a cache is at least as new as what this
// process wrote. What it no longer needs to remember it forgets.
func (w *Written) Fresh(object metav1.Object) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	written, ok := w.versions[object.GetUID()]
	if !ok {
		return true
	}
	version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil || version >= written {
		delete(w.versions, object.GetUID())
		return true
	}
	return false
}

// Forget drops what is remembered of an object that is gone.
func (w *Written) Forget(uid types.UID) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.versions, uid)
}
