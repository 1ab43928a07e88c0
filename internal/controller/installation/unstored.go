package installation

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/predicates"
)

// observeUnstored asks the API server for the Execution that an attempt may have made whose job was
// not stored, because another client was faster: a cache that shows the newer Installation need not
// show it. After a restart it does. Subinstallations need no request: they come by the watch that
// brings the Installation with the job that is stored first then.
func (r *Reconciler) observeUnstored(ctx context.Context, s *snapshot) error {
	if s.Exec != nil || !r.memory.Of(s.Inst.UID).marks.has(unstored) {
		return nil
	}
	exec := &v1alpha1.Execution{}
	err := r.Reader.Get(ctx, client.ObjectKeyFromObject(s.Inst), exec)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read Execution %s/%s: %w", s.Inst.Namespace, s.Inst.Name, err)
	}
	if err == nil && predicates.AsOwner(s.Inst).Owns(exec) {
		s.Exec = exec
	}
	return nil
}
