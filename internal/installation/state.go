package installation

import (
	"bytes"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/plan"
)

// states keeps what executors store: one Secret for each, which goes with the
// Installation.
type states struct {
	client client.Client
	inst   *v1alpha1.Installation
}

// Read implements plan.States.
func (s states) Read(ctx context.Context, key plan.StateKey) ([]byte, error) {
	secret := &corev1.Secret{}
	name := key.SecretName(s.inst.Name)
	if err := s.client.Get(ctx, client.ObjectKey{Namespace: s.inst.Namespace, Name: name}, secret); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("read Secret %s: %w", name, err)
	}
	if !s.mayUse(secret) {
		return nil, nil
	}
	return secret.Data[plan.StateSecretKey], nil
}

// write stores states. A Secret of that name that belongs to an Installation which
// was deleted, or to nobody, is taken over.
func (s states) write(ctx context.Context, all []plan.State) error {
	for _, state := range all {
		if err := s.writeOne(ctx, state); err != nil {
			return fmt.Errorf("store the state of execution %q: %w", state.Key.Executor, err)
		}
	}
	return nil
}

func (s states) writeOne(ctx context.Context, state plan.State) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: s.inst.Namespace, Name: state.Key.SecretName(s.inst.Name),
		OwnerReferences: []metav1.OwnerReference{s.owner()},
	}}
	secret.Data = map[string][]byte{plan.StateSecretKey: state.Content}
	err := s.client.Create(ctx, secret)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	live := &corev1.Secret{}
	if err := s.client.Get(ctx, client.ObjectKeyFromObject(secret), live); err != nil {
		return err
	}
	if s.mayUse(live) && bytes.Equal(live.Data[plan.StateSecretKey], state.Content) {
		return nil
	}
	live.OwnerReferences, live.Data = secret.OwnerReferences, secret.Data
	return s.client.Update(ctx, live)
}

func (s states) owner() metav1.OwnerReference {
	return *metav1.NewControllerRef(s.inst, v1alpha1.GroupVersion.WithKind("Installation"))
}

// mayUse tells whether a Secret holds a state of this Installation, and not of an
// earlier one that had the same name.
func (s states) mayUse(secret *corev1.Secret) bool {
	owner := metav1.GetControllerOf(secret)
	return owner == nil || owner.UID == s.inst.UID
}
