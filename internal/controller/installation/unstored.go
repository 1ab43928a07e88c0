package installation

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/predicates"
)

// observeUnstored asks the API server for the children that an attempt may have made whose job was not
// stored, because another client was faster: a cache that shows the newer Installation need not show
// them. After a restart it does. What the next attempt does not know would be left, or get the job
// although nothing wants it any more. When a job is stored, the watch that brings it has brought all
// subinstallations before.
func (r *Reconciler) observeUnstored(ctx context.Context, s *snapshot, created []string) error {
	if !r.memory.Of(s.Inst.UID).marks.has(unstored) {
		return nil
	}
	for _, name := range created {
		if s.shows(name) || name == s.Inst.Name {
			continue
		}
		sub := &v1alpha1.Installation{}
		exists, err := r.readUnstored(ctx, s, name, sub)
		if err != nil {
			return err
		}
		if exists {
			s.Subs = append(s.Subs, sub)
			// As long as no job is stored, the next attempt has to know it, too. It waits for the cache
			// before it asks again.
			r.memory.Of(s.Inst.UID).created.Expect(name, r.Now())
		}
	}
	if s.Exec != nil {
		return nil
	}
	exec := &v1alpha1.Execution{}
	exists, err := r.readUnstored(ctx, s, s.Inst.Name, exec)
	if exists {
		s.Exec = exec
	}
	return err
}

// readUnstored reads a child of an Installation from the API server, and reports whether it exists.
func (r *Reconciler) readUnstored(ctx context.Context, s *snapshot, name string, into client.Object) (bool, error) {
	key := client.ObjectKey{Namespace: s.Inst.Namespace, Name: name}
	err := r.Reader.Get(ctx, key, into)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("read child %s of an attempt whose job was not stored: %w", key, err)
	}
	return err == nil && predicates.AsOwner(s.Inst).Owns(into), nil
}
