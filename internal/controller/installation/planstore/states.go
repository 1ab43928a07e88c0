package planstore

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/exportwriter"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// States keeps what executors store: one Secret for each, which is deleted with the Installation.
// It is for one rendering: a state only replaces the one that the rendering has read, so that no
// state gets lost that children may depend on.
type States struct {
	client client.Client
	inst   *v1alpha1.Installation
	// seen are the Secrets that were read, by their names; nil for one that does not exist.
	seen map[string]*corev1.Secret
}

// Read implements plan.States.
func (s *States) Read(ctx context.Context, key plan.StateKey) ([]byte, error) {
	secret, err := s.read(ctx, key)
	if err != nil || secret == nil || !s.isOwn(secret) {
		return nil, err
	}
	content, ok := secret.Data[plan.StateSecretKey]
	if !ok {
		return nil, fmt.Errorf("key %q is missing in Secret %s, so the state of execution %q is lost: restore the key, or delete the Secret to begin with nothing stored", plan.StateSecretKey, secret.Name, key.Executor)
	}
	return content, nil
}

// read returns the Secret with a state, or nil.
func (s *States) read(ctx context.Context, key plan.StateKey) (*corev1.Secret, error) {
	name := key.SecretName(s.inst.Name)
	if secret, known := s.seen[name]; known {
		return secret, nil
	}
	secret := &corev1.Secret{}
	err := s.client.Get(ctx, client.ObjectKey{Namespace: s.inst.Namespace, Name: name}, secret)
	switch {
	case apierrors.IsNotFound(err):
		secret = nil
	case err != nil:
		return nil, &repocontext.ReadError{Object: "Secret " + name, Cause: err}
	case metav1.GetControllerOf(secret) != nil && !predicates.AsOwner(s.inst).MayReplace(secret):
		return nil, exportwriter.Foreign("Secret", secret)
	}
	s.seen[name] = secret
	return secret, nil
}

// isOwn reports whether a Secret holds a state of this Installation, and not of an earlier one that
// had the same name.
func (s *States) isOwn(secret *corev1.Secret) bool {
	return metav1.GetControllerOf(secret) == nil || predicates.AsOwner(s.inst).Owns(secret)
}

// Write stores states. If another client has written one since it was read, that is a conflict: the
// templates have to be rendered again, with the newer state.
func (s *States) Write(ctx context.Context, all []plan.State) error {
	for _, state := range all {
		if err := s.writeOne(ctx, state); err != nil {
			return job.Wrap(err, published.HandlePhaseInit, reasons.CreateImportsAndSubobjects, fmt.Sprintf("ReconcileExecution: store the state of execution %q", state.Key.Executor))
		}
	}
	return nil
}

func (s *States) writeOne(ctx context.Context, state plan.State) error {
	seen, err := s.read(ctx, state.Key)
	if err != nil {
		return err
	}
	if seen == nil {
		seen = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.inst.Namespace, Name: state.Key.SecretName(s.inst.Name)}}
	}
	secret := seen.DeepCopy()
	secret.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(s.inst, v1alpha1.GroupVersion.WithKind("Installation"))}
	secret.Data = map[string][]byte{plan.StateSecretKey: state.Content}
	if seen.ResourceVersion == "" {
		return s.client.Create(ctx, secret) // the caller says what is stored
	}
	return s.client.Update(ctx, secret) // the caller says what is stored
}

// NewStates are the states of an Installation.
func NewStates(c client.Client, inst *v1alpha1.Installation) *States {
	return &States{client: c, inst: inst, seen: map[string]*corev1.Secret{}}
}
