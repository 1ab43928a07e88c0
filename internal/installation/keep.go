package installation

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/facts"
	"go.landscaper.dev/internal/installation/holdings"
	"go.landscaper.dev/internal/job"
	"go.landscaper.dev/internal/plan/parcel"
	"go.landscaper.dev/internal/sources"
	"go.landscaper.dev/internal/wanted"
)

// tidyPause is the time after which a plan that could not be deleted is tried again.
const tidyPause = 30 * time.Second

// kept remembers which Installations have a stored plan, so that those without one
// cost no request when their job ends.
type kept struct {
	mu sync.Mutex
	// by are the UIDs of those Installations.
	by map[types.UID]bool
	// listed are the namespaces in which we know about plans of the time before this
	// process.
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

// first reports whether a namespace was not listed yet, and notes whether it is now.
func (k *kept) first(namespace string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.listed[namespace]
}

func (k *kept) seen(namespace string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.listed == nil {
		k.listed = map[string]bool{}
	}
	k.listed[namespace] = true
}

// keepPlan stores what the exports of the job need when it ends. Nothing is stored
// for an Installation without exports.
func (r *Reconciler) keepPlan(ctx context.Context, s *snapshot, content []byte) error {
	if content == nil {
		return nil
	}
	r.remembered.forget(s.Inst.UID)
	stored := &storedPlan{job: s.Inst.Status.JobID, content: content}
	if !r.kept.has(s.Inst.UID) && !r.kept.first(s.Inst.Namespace) {
		stored.secrets = map[string]types.UID{}
	}
	// Also an attempt whose answer is lost may have stored something.
	r.kept.note(s.Inst.UID, true)
	for _, secret := range parcel.Secrets(s.Inst, content) {
		if err := r.keep(ctx, s.Inst, secret, stored); err != nil {
			return job.Wrap(err, "handlePhaseInit", "CreateImportsAndSubobjects", "store what the exports need in Secret "+secret.Name)
		}
	}
	r.remembered.note(s.Inst.UID, stored)
	return nil
}

// keep writes one Secret. That of an earlier attempt is replaced.
func (r *Reconciler) keep(ctx context.Context, inst *v1alpha1.Installation, secret *corev1.Secret, stored *storedPlan) error {
	created := secret.DeepCopy()
	err := r.Client.Create(ctx, created)
	if err == nil && stored.secrets != nil {
		stored.secrets[created.Name] = created.UID
	}
	if !apierrors.IsAlreadyExists(err) {
		return err // the caller tells what is stored
	}
	stored.secrets = nil
	live := &corev1.Secret{}
	if err := r.Reader.Get(ctx, client.ObjectKeyFromObject(secret), live); err != nil {
		return err // the caller tells what is stored
	}
	if !facts.AsOwner(inst).Owns(live) || live.Type != secret.Type {
		return holdings.Foreign("Secret", live)
	}
	changed, change, err := wanted.PlanSecret(secret, live)
	if err != nil || change == wanted.None {
		return err // the caller tells what is stored
	}
	return r.Client.Update(ctx, changed) // the caller tells what is stored
}

// keptPlan returns what the job has stored. Read is what an earlier process has stored.
func (r *Reconciler) keptPlan(ctx context.Context, inst *v1alpha1.Installation) ([]byte, error) {
	if known := r.remembered.of(inst.UID, inst.Status.JobID); known != nil {
		return known.content, nil
	}
	list := &corev1.SecretList{}
	if err := r.Reader.List(ctx, list, client.InNamespace(inst.Namespace), client.MatchingLabels(parcel.Labels(inst))); err != nil {
		return nil, &sources.ReadError{Object: "the Secrets with the stored plan", Cause: err}
	}
	secrets := make([]*corev1.Secret, len(list.Items))
	for i := range list.Items {
		secrets[i] = &list.Items[i]
	}
	r.kept.note(inst.UID, len(secrets) > 0)
	content, err := parcel.Content(inst, secrets)
	if err == nil {
		r.remembered.note(inst.UID, &storedPlan{job: inst.Status.JobID, content: content})
	}
	return content, err // says what is wrong and what to do
}

// tidy deletes the stored plan of a job that has ended. The job has ended well or
// not already, so that a failure here is nothing but a reason to try again.
func (r *Reconciler) tidy(ctx context.Context, s *snapshot) error {
	if err := r.dropPlan(ctx, s.Inst); err != nil {
		log.FromContext(ctx).Info("the stored plan of a job that has ended is still there", "cause", err.Error())
		s.TidyAt = r.Now().Add(tidyPause)
		return nil
	}
	r.kept.note(s.Inst.UID, false)
	s.Leftover = false
	return nil
}

func (r *Reconciler) dropPlan(ctx context.Context, inst *v1alpha1.Installation) error {
	known := r.remembered.of(inst.UID, inst.Status.JobID)
	r.remembered.forget(inst.UID)
	if known != nil && known.secrets != nil {
		for name, uid := range known.secrets {
			if err := r.dropSecret(ctx, inst.Namespace, name, uid); err != nil {
				return err
			}
		}
		return nil
	}
	list := secretMetadata()
	if err := r.Reader.List(ctx, list, client.InNamespace(inst.Namespace), client.MatchingLabels(parcel.Labels(inst))); err != nil {
		return err // only logged
	}
	for i := range list.Items {
		found := &list.Items[i]
		if !facts.AsOwner(inst).Owns(found) {
			continue
		}
		// What lists metadata does not tell the kind of each.
		if err := r.dropSecret(ctx, found.Namespace, found.Name, found.UID); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reconciler) dropSecret(ctx context.Context, namespace, name string, uid types.UID) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	return client.IgnoreNotFound(r.Client.Delete(ctx, secret, client.Preconditions{UID: &uid})) // only logged
}

func secretMetadata() *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	return list
}

// mayHavePlan reports whether a job of an Installation may have stored a plan: that of
// an earlier specification, too.
func mayHavePlan(inst *v1alpha1.Installation) bool {
	return facts.Exporting(inst) || inst.Generation > 1 && !facts.BeingDeleted(inst)
}

// leftover reports whether an Installation without a job has a stored plan. After a
// start nobody remembers; then the namespace is looked at once, as soon as there is an
// Installation in it that may have one.
func (r *Reconciler) leftover(ctx context.Context, inst *v1alpha1.Installation) (bool, error) {
	if job.Unfinished(inst.Status.JobID, inst.Status.JobIDFinished) {
		return false, nil
	}
	if mayHavePlan(inst) && r.kept.first(inst.Namespace) {
		list := secretMetadata()
		if err := r.Reader.List(ctx, list, client.InNamespace(inst.Namespace), client.HasLabels{parcel.Label}); err != nil {
			return false, &sources.ReadError{Object: "the Secrets with stored plans", Cause: err}
		}
		for i := range list.Items {
			if owner := metav1.GetControllerOf(&list.Items[i]); owner != nil {
				r.kept.note(owner.UID, true)
			}
		}
		r.kept.seen(inst.Namespace)
	}
	return r.kept.has(inst.UID), nil
}
