package planstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/exportwriter"
	"go.landscaper.dev/internal/landscape/desired"
	"go.landscaper.dev/internal/landscape/plan/parcel"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Store keeps the plans of jobs in Secrets.
type Store struct {
	Client client.Client
	// Reader reads from the API server: the caches do not have these Secrets.
	Reader client.Reader
	Cache  *Cache
	// Known returns what is known of the plan of an Installation.
	Known func(types.UID) *Known
	// Key authenticates the plans.
	Key parcel.Key
}

// Save keeps what the exports of the job need when it ends. Nothing is stored for an Installation
// without exports. JobStored says that the job is stored: otherwise it must not write over the plan of
// another attempt, whose job may be the one that is stored first. So it returns whether the job has to
// be stored before the plan.
func (k Store) Save(ctx context.Context, inst *v1alpha1.Installation, content []byte, jobStored bool) (jobFirst bool, err error) {
	if content == nil {
		return false, nil
	}
	known := k.Known(inst.UID)
	known.set(nil, nil)
	stored := &storedPlan{job: inst.Status.JobID, content: content}
	if !known.Exists() && k.Cache.isListed(inst.Namespace) {
		stored.secrets = map[string]client.Preconditions{}
	}
	// An attempt whose answer is lost may have stored something, too.
	known.note(true)
	for _, secret := range k.Key.Secrets(inst, content) {
		jobFirst, err := k.write(ctx, inst, secret, stored, jobStored)
		if err != nil {
			return false, job.Wrap(err, published.HandlePhaseInit, reasons.CreateImportsAndSubobjects, "store what the exports need in Secret "+secret.Name)
		}
		if jobFirst {
			return true, nil
		}
	}
	known.set(k.Cache, stored)
	return false, nil
}

// write writes one Secret. That of an earlier attempt is replaced, unless another process leads since.
func (k Store) write(ctx context.Context, inst *v1alpha1.Installation, secret *corev1.Secret, stored *storedPlan, jobStored bool) (jobFirst bool, err error) {
	created := secret.DeepCopy()
	err = k.Client.Create(ctx, created)
	if err == nil && stored.secrets != nil {
		stored.secrets[created.Name] = client.Preconditions{UID: &created.UID, ResourceVersion: &created.ResourceVersion}
	}
	if !apierrors.IsAlreadyExists(err) {
		return false, err // the caller says what is stored
	}
	stored.secrets = nil
	live := &corev1.Secret{}
	if err := k.Reader.Get(ctx, client.ObjectKeyFromObject(secret), live); err != nil {
		return false, err // the caller says what is stored
	}
	if !predicates.AsOwner(inst).Owns(live) || live.Type != secret.Type {
		return false, exportwriter.Foreign("Secret", live)
	}
	if !jobStored && exportwriter.OfOtherAttempt(inst, live) {
		return true, nil
	}
	changed, change, err := desired.PlanSecret(secret, live)
	if err != nil || change == desired.None {
		return false, err // the caller says what is stored
	}
	if err := k.checkVersion(ctx, inst); err != nil {
		return false, err
	}
	return false, k.Client.Update(ctx, changed) // the caller says what is stored
}

// checkVersion returns a conflict if an Installation was written since it was read. Another process may
// lead since: what is stored is its plan then. It comes after the read of what is to be changed in that
// version, so that a write in between is a conflict, too.
func (k Store) checkVersion(ctx context.Context, inst *v1alpha1.Installation) error {
	live := &v1alpha1.Installation{}
	if err := k.Reader.Get(ctx, client.ObjectKeyFromObject(inst), live); err != nil {
		return fmt.Errorf("read Installation %s/%s: %w", inst.Namespace, inst.Name, err)
	}
	if live.UID != inst.UID || live.ResourceVersion != inst.ResourceVersion {
		return apierrors.NewConflict(v1alpha1.GroupVersion.WithResource("installations").GroupResource(), inst.Name, errors.New("it was written since the job was read"))
	}
	return nil
}

// Load returns what the job has stored. Read is what an earlier process has stored.
func (k Store) Load(ctx context.Context, inst *v1alpha1.Installation) ([]byte, error) {
	content, _, err := k.load(ctx, inst)
	return content, err // says what is wrong and what to do
}

// IsMissing reports whether nothing is stored for the job.
func (k Store) IsMissing(ctx context.Context, inst *v1alpha1.Installation) bool {
	_, missing, _ := k.load(ctx, inst) // an error in what is stored is reported where it is needed
	return missing
}

// load returns what the job has stored, and whether nothing is stored at all, which is an error, too.
func (k Store) load(ctx context.Context, inst *v1alpha1.Installation) (content []byte, missing bool, err error) {
	known := k.Known(inst.UID)
	if stored := known.of(inst.Status.JobID); stored != nil {
		return stored.content, false, nil
	}
	secrets, err := k.read(ctx, inst)
	if err != nil {
		return nil, false, err // names what could not be read
	}
	known.note(len(secrets) > 0)
	content, err = k.Key.Content(inst, secrets)
	if err == nil {
		known.set(k.Cache, &storedPlan{job: inst.Status.JobID, content: content})
	}
	return content, len(secrets) == 0, err // says what is wrong and what to do
}

// read reads the Secrets of a plan by their names: a list by the label could hold any number of Secrets
// that a tenant has labelled.
func (k Store) read(ctx context.Context, inst *v1alpha1.Installation) (secrets []*corev1.Secret, err error) {
	for part, parts := 0, 1; part < parts; part++ {
		secret := &corev1.Secret{}
		name := parcel.SecretName(inst, part)
		err := k.Reader.Get(ctx, client.ObjectKey{Namespace: inst.Namespace, Name: name}, secret)
		switch {
		case apierrors.IsNotFound(err):
			return secrets, nil
		case err != nil:
			return nil, &repocontext.ReadError{Object: "Secret " + name + " with the stored plan", Cause: err}
		case part == 0:
			parts = parcel.Parts(secret)
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
}

// Delete deletes the stored plan of a job that has ended.
func (k Store) Delete(ctx context.Context, inst *v1alpha1.Installation) error {
	known := k.Known(inst.UID)
	stored := known.of(inst.Status.JobID)
	known.set(nil, nil)
	if stored != nil && stored.secrets != nil {
		for _, name := range slices.Sorted(maps.Keys(stored.secrets)) {
			if err := k.deleteSecret(ctx, inst.Namespace, name, stored.secrets[name]); err != nil {
				return err
			}
		}
		known.note(false)
		return nil
	}
	list := secretMetadata()
	if err := k.Reader.List(ctx, list, client.InNamespace(inst.Namespace), client.MatchingLabels(parcel.Labels(inst))); err != nil {
		return err // only logged
	}
	for i := range list.Items {
		found := &list.Items[i]
		if !predicates.AsOwner(inst).Owns(found) {
			continue
		}
		if found.Labels[v1alpha1.DataObjectJobIDLabel] != inst.Status.JobID {
			// It is of a job before, or of one that another process has begun.
			if err := k.checkVersion(ctx, inst); err != nil {
				return err
			}
		}
		// A list of metadata does not have the kind of each object.
		if err := k.deleteSecret(ctx, found.Namespace, found.Name, client.Preconditions{UID: &found.UID, ResourceVersion: &found.ResourceVersion}); err != nil {
			return err
		}
	}
	known.note(false)
	return nil
}

// deleteSecret deletes a Secret as it was stored or read: the next process may have replaced it.
func (k Store) deleteSecret(ctx context.Context, namespace, name string, as client.Preconditions) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	return client.IgnoreNotFound(k.Client.Delete(ctx, secret, as)) // only logged
}

// HasLeftover reports whether an Installation without a job has a stored plan. After a start nothing
// is remembered; then the namespace is read once, as soon as an Installation in it may have one.
func (k Store) HasLeftover(ctx context.Context, inst *v1alpha1.Installation) (bool, error) {
	if job.Unfinished(inst.Status.JobID, inst.Status.JobIDFinished) {
		return false, nil
	}
	if mayHavePlan(inst) && !k.Cache.isListed(inst.Namespace) {
		list := secretMetadata()
		if err := k.Reader.List(ctx, list, client.InNamespace(inst.Namespace), client.HasLabels{parcel.Label}); err != nil {
			return false, &repocontext.ReadError{Object: "the Secrets with stored plans", Cause: err}
		}
		for i := range list.Items {
			if owner := metav1.GetControllerOf(&list.Items[i]); owner != nil {
				k.Known(owner.UID).note(true)
			}
		}
		k.Cache.noteListed(inst.Namespace)
	}
	return k.Known(inst.UID).Exists(), nil
}

// CopyNames are the names of the copies of imports that a job has written.
type CopyNames struct{ data, targets map[string]bool }

// AreIn reports whether lists have all of them, as the job has written them.
func (c *CopyNames) AreIn(jobID string, data *v1alpha1.DataObjectList, targets *v1alpha1.TargetList) bool {
	count := 0
	for i := range data.Items {
		if object := &data.Items[i]; c.data[object.Name] && object.Labels[v1alpha1.DataObjectJobIDLabel] == jobID {
			count++
		}
	}
	for i := range targets.Items {
		if object := &targets.Items[i]; c.targets[object.Name] && object.Labels[v1alpha1.DataObjectJobIDLabel] == jobID {
			count++
		}
	}
	return count == len(c.data)+len(c.targets)
}

func secretMetadata() *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	return list
}

// mayHavePlan reports whether a job of an Installation may have stored a plan: that of
// an earlier specification, too.
func mayHavePlan(inst *v1alpha1.Installation) bool {
	return predicates.Exporting(inst) || inst.Generation > 1 && !predicates.BeingDeleted(inst)
}
