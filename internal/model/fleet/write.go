package fleet

import (
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
)

// Kind is what a write is for.
type Kind string

// The kinds of writes.
const (
	Create Kind = "Create"
	Update Kind = "Update"
	Adopt  Kind = "Adopt"
	GoBack Kind = "GoBack"
	// Depart notes that a Target is absent, Return that it is back.
	Depart Kind = "Depart"
	Return Kind = "Return"
	// Release leaves an Installation to users, Delete deletes it.
	Release Kind = "Release"
	Delete  Kind = "Delete"
)

// Write is one request that changes an Installation.
type Write struct {
	Kind Kind
	// Installation is what it is to be: for an update a changed copy of what was read.
	Installation *v1alpha1.Installation
}

// write returns the write by which a member gets a content: specification, request and notes at once.
func (d *decider) write(m *Member, desired *Desired, revision string) Write {
	kind, inst := Create, &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: d.Fleet.Namespace, Name: desired.Name}}
	if m.Installation != nil {
		kind, inst = Update, m.Installation.DeepCopy()
		if !isOf(inst, d.Fleet) {
			kind = Adopt
		}
	}
	d.forget(inst)
	desired.Spec.DeepCopyInto(&inst.Spec)
	inst.Labels = with(inst.Labels, desired.Labels, map[string]string{
		fleetv1alpha1.FleetLabel: LabelValue(d.Fleet.Name), fleetv1alpha1.TargetLabel: LabelValue(m.Target), fleetv1alpha1.WaveLabel: m.Wave,
	})
	inst.Annotations = with(inst.Annotations, desired.Annotations, map[string]string{
		fleetv1alpha1.FleetUIDAnnotation: string(d.Fleet.UID), fleetv1alpha1.RevisionAnnotation: revision, fleetv1alpha1.AppliedAnnotation: desired.Digest,
		v1alpha1.OperationAnnotation: string(v1alpha1.ReconcileOperation),
	})
	delete(inst.Annotations, fleetv1alpha1.WentBackFromAnnotation)
	delete(inst.Annotations, fleetv1alpha1.DepartedAnnotation)
	return Write{Kind: kind, Installation: inst}
}

// forget removes the labels and annotations that the revision before has given, as far as it is known.
func (d *decider) forget(inst *v1alpha1.Installation) {
	before, known := d.Contents[inst.Annotations[fleetv1alpha1.RevisionAnnotation]]
	if !known || !isOf(inst, d.Fleet) {
		return
	}
	for key, value := range before.Template.Labels {
		if inst.Labels[key] == value {
			delete(inst.Labels, key)
		}
	}
	for key, value := range before.Template.Annotations {
		if inst.Annotations[key] == value {
			delete(inst.Annotations, key)
		}
	}
}

// goBack returns the write by which a member gets the content that it had before one that has failed.
func (d *decider) goBack(m *Member, before *Desired, revision string) Write {
	write := d.write(m, before, revision)
	write.Kind = GoBack
	write.Installation.Annotations[fleetv1alpha1.WentBackFromAnnotation] = m.desired.Digest
	return write
}

// with returns maps as one; the later goes before the earlier.
func with(all ...map[string]string) map[string]string {
	merged := map[string]string{}
	for _, one := range all {
		maps.Copy(merged, one)
	}
	return merged
}

// depart notes since when the Target is absent.
func depart(inst *v1alpha1.Installation, now time.Time) Write {
	inst = inst.DeepCopy()
	inst.Annotations = with(inst.Annotations, map[string]string{fleetv1alpha1.DepartedAnnotation: now.UTC().Format(time.RFC3339)})
	return Write{Kind: Depart, Installation: inst}
}

// comeBack removes that note.
func comeBack(inst *v1alpha1.Installation) Write {
	inst = inst.DeepCopy()
	delete(inst.Annotations, fleetv1alpha1.DepartedAnnotation)
	return Write{Kind: Return, Installation: inst}
}

// release removes everything that makes an Installation a part of a Fleet.
func release(inst *v1alpha1.Installation) Write {
	inst = inst.DeepCopy()
	for _, key := range []string{fleetv1alpha1.FleetLabel, fleetv1alpha1.TargetLabel, fleetv1alpha1.WaveLabel} {
		delete(inst.Labels, key)
	}
	for _, key := range []string{
		fleetv1alpha1.FleetUIDAnnotation, fleetv1alpha1.RevisionAnnotation, fleetv1alpha1.AppliedAnnotation,
		fleetv1alpha1.WentBackFromAnnotation, fleetv1alpha1.DepartedAnnotation,
	} {
		delete(inst.Annotations, key)
	}
	return Write{Kind: Release, Installation: inst}
}
