package access

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Look returns the first object that is not ready, and why; nil if all are ready. If the shoot cannot be
// looked into yet, notYet says why: that is for the caller to wait for, and no failure.
func (s *Shoots) Look(ctx context.Context, namespace, kubeconfig string, objects ...*unstructured.Unstructured) (unready *Unready, notYet string, err error) {
	unready, err = s.look(ctx, namespace, kubeconfig, objects...)
	notYet, err = apart(err)
	return unready, notYet, err
}

// Taken returns the name of the first Secret that the shoot has already; "" if it has none of them. If the
// shoot cannot be looked into yet, notYet says why.
func (s *Shoots) Taken(ctx context.Context, namespace, kubeconfig string, secrets ...*unstructured.Unstructured) (name, notYet string, err error) {
	name, err = s.taken(ctx, namespace, kubeconfig, secrets...)
	notYet, err = apart(err)
	return name, notYet, err
}

// apart returns the text of an error that only says that a shoot cannot be looked into yet, or the error.
func apart(err error) (notYet string, failure error) {
	if errors.Is(err, errNotYet) {
		return err.Error(), nil
	}
	return "", err
}
