package planstore

import (
	"context"
	"maps"
	"slices"
	"sync"

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
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
)

// Memory is what a process remembers of stored plans. A restart forgets it, and costs
// some reads.
type Memory struct {
	kept       kept
	remembered remembered
}

// Has reports whether an Installation may have a stored plan.
func (m *Memory) Has(uid types.UID) bool { return m.kept.has(uid) }

// Forget forgets an Installation that no longer exists.
func (m *Memory) Forget(uid types.UID) {
	m.kept.note(uid, false)
	m.remembered.forget(uid)
}

// Wrote remembers what a job that has stored a plan has written into its scope.
func (m *Memory) Wrote(uid types.UID, copies dataflow.Exports) { m.remembered.wrote(uid, copies) }

// CopiesOf returns what a job has written into its scope, or nil if that is unknown.
func (m *Memory) CopiesOf(uid types.UID, job string) *Written {
	if known := m.remembered.of(uid, job); known != nil {
		return known.copies
	}
	return nil
}

// Plans keeps the plans of jobs in Secrets.
type Plans struct {
	Client client.Client
	// Reader reads from the API server: the caches do not have these Secrets.
	Reader client.Reader
	Memory *Memory
}

// Store keeps what the exports of the job need when it ends. Nothing is stored
// for an Installation without exports.
func (k Plans) Store(ctx context.Context, inst *v1alpha1.Installation, content []byte) error {
	if content == nil {
		return nil
	}
	k.Memory.remembered.forget(inst.UID)
	stored := &storedPlan{job: inst.Status.JobID, content: content}
	if !k.Memory.kept.has(inst.UID) && k.Memory.kept.isListed(inst.Namespace) {
		stored.secrets = map[string]types.UID{}
	}
	// An attempt whose answer is lost may have stored something, too.
	k.Memory.kept.note(inst.UID, true)
	for _, secret := range parcel.Secrets(inst, content) {
		if err := k.write(ctx, inst, secret, stored); err != nil {
			return job.Wrap(err, published.HandlePhaseInit, "CreateImportsAndSubobjects", "store what the exports need in Secret "+secret.Name)
		}
	}
	k.Memory.remembered.note(inst.UID, stored)
	return nil
}

// write writes one Secret. That of an earlier attempt is replaced.
func (k Plans) write(ctx context.Context, inst *v1alpha1.Installation, secret *corev1.Secret, stored *storedPlan) error {
	created := secret.DeepCopy()
	err := k.Client.Create(ctx, created)
	if err == nil && stored.secrets != nil {
		stored.secrets[created.Name] = created.UID
	}
	if !apierrors.IsAlreadyExists(err) {
		return err // the caller says what is stored
	}
	stored.secrets = nil
	live := &corev1.Secret{}
	if err := k.Reader.Get(ctx, client.ObjectKeyFromObject(secret), live); err != nil {
		return err // the caller says what is stored
	}
	if !predicates.AsOwner(inst).Owns(live) || live.Type != secret.Type {
		return exportwriter.Foreign("Secret", live)
	}
	changed, change, err := desired.PlanSecret(secret, live)
	if err != nil || change == desired.None {
		return err // the caller says what is stored
	}
	return k.Client.Update(ctx, changed) // the caller says what is stored
}

// Content returns what the job has stored. Read is what an earlier process has stored.
func (k Plans) Content(ctx context.Context, inst *v1alpha1.Installation) ([]byte, error) {
	if known := k.Memory.remembered.of(inst.UID, inst.Status.JobID); known != nil {
		return known.content, nil
	}
	list := &corev1.SecretList{}
	if err := k.Reader.List(ctx, list, client.InNamespace(inst.Namespace), client.MatchingLabels(parcel.Labels(inst))); err != nil {
		return nil, &repocontext.ReadError{Object: "the Secrets with the stored plan", Cause: err}
	}
	secrets := make([]*corev1.Secret, len(list.Items))
	for i := range list.Items {
		secrets[i] = &list.Items[i]
	}
	k.Memory.kept.note(inst.UID, len(secrets) > 0)
	content, err := parcel.Content(inst, secrets)
	if err == nil {
		k.Memory.remembered.note(inst.UID, &storedPlan{job: inst.Status.JobID, content: content})
	}
	return content, err // says what is wrong and what to do
}

// Drop deletes the stored plan of a job that has ended.
func (k Plans) Drop(ctx context.Context, inst *v1alpha1.Installation) error {
	known := k.Memory.remembered.of(inst.UID, inst.Status.JobID)
	k.Memory.remembered.forget(inst.UID)
	if known != nil && known.secrets != nil {
		for _, name := range slices.Sorted(maps.Keys(known.secrets)) {
			uid := known.secrets[name]
			if err := k.dropSecret(ctx, inst.Namespace, name, uid); err != nil {
				return err
			}
		}
		k.Memory.kept.note(inst.UID, false)
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
		// A list of metadata does not have the kind of each object.
		if err := k.dropSecret(ctx, found.Namespace, found.Name, found.UID); err != nil {
			return err
		}
	}
	k.Memory.kept.note(inst.UID, false)
	return nil
}

func (k Plans) dropSecret(ctx context.Context, namespace, name string, uid types.UID) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	return client.IgnoreNotFound(k.Client.Delete(ctx, secret, client.Preconditions{UID: &uid})) // only logged
}

// Leftover reports whether an Installation without a job has a stored plan. After a start nothing
// is remembered; then the namespace is read once, as soon as an Installation in it may have one.
func (k Plans) Leftover(ctx context.Context, inst *v1alpha1.Installation) (bool, error) {
	if job.Unfinished(inst.Status.JobID, inst.Status.JobIDFinished) {
		return false, nil
	}
	if mayHavePlan(inst) && !k.Memory.kept.isListed(inst.Namespace) {
		list := secretMetadata()
		if err := k.Reader.List(ctx, list, client.InNamespace(inst.Namespace), client.HasLabels{parcel.Label}); err != nil {
			return false, &repocontext.ReadError{Object: "the Secrets with stored plans", Cause: err}
		}
		for i := range list.Items {
			if owner := metav1.GetControllerOf(&list.Items[i]); owner != nil {
				k.Memory.kept.note(owner.UID, true)
			}
		}
		k.Memory.kept.seen(inst.Namespace)
	}
	return k.Memory.kept.has(inst.UID), nil
}

// kept remembers which Installations have a stored plan, so that those without one
// cost no request when their job ends.
type kept struct {
	mu sync.Mutex
	// by are the UIDs of those Installations.
	by map[types.UID]bool
	// listed are the namespaces whose plans of earlier processes are known.
	listed map[string]bool
}

// note remembers that an Installation has a plan, or forgets it.
func (k *kept) note(uid types.UID, has bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.by == nil {
		k.by = map[types.UID]bool{}
	}
	if !has {
		delete(k.by, uid)
		return
	}
	k.by[uid] = true
}

func (k *kept) has(uid types.UID) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.by[uid]
}

// isListed reports whether the plans of earlier processes in a namespace are known.
func (k *kept) isListed(namespace string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.listed[namespace]
}

func (k *kept) seen(namespace string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.listed == nil {
		k.listed = map[string]bool{}
	}
	k.listed[namespace] = true
}

// Written are the names of the copies of imports that a job has written.
type Written struct{ data, targets map[string]bool }

// AreIn reports whether lists have all of them, as the job has written them.
func (c *Written) AreIn(jobID string, data *v1alpha1.DataObjectList, targets *v1alpha1.TargetList) bool {
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
