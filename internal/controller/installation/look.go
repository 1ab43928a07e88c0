package installation

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/controller/installation/observe"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// readInputs reads what the children are made from.
func (r *Reconciler) readInputs(ctx context.Context, s *snapshot) (err error) {
	reader, waits := r.reader(), &r.memory.Of(s.Inst.UID).waits
	reader.Await = func(object client.Object, key client.ObjectKey) error {
		return r.memory.arrivals.Await(object, key, waits, client.ObjectKeyFromObject(s.Inst))
	}
	s.Inputs, err = reader.Inputs(ctx, s.Family, r.planning(s.Inst))
	return err // says what could not be read
}

// reader reads from the resource cluster.
func (r *Reconciler) reader() observe.Reader {
	return observe.Reader{Cached: r.Client, Live: r.Reader, Relations: &r.memory.relations, Triggers: r.Triggers, Sources: r.Planner.Sources}
}

// noteImports notes which imports the job uses, however it ends.
func noteImports(s *snapshot) (err error) {
	var digests map[string]string
	if s.Inputs.Hash, digests, err = dataflow.ImportDigests(s.Inputs.Imports); err != nil {
		return job.AsTerminal(job.Wrap(err, published.Init, reasons.HashImports, ""))
	}
	s.Inst.Status.ImportsHash = s.Inputs.Hash
	s.subject.RecordImports(s.Inputs.Hash, digests)
	return nil
}

// noteMissing notes that the job has no imports to use. A missing import that is back counts as a
// change, also if the job before has used the same value.
func noteMissing(s *snapshot) {
	if s.Inputs != nil && len(s.Inputs.Missing) > 0 {
		s.Inst.Status.ImportsHash = ""
	}
}
