package installation

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow"
	"go.landscaper.dev/internal/imported"
	"go.landscaper.dev/internal/installation/decide"
	"go.landscaper.dev/internal/installation/facts"
	"go.landscaper.dev/internal/installation/kin"
	"go.landscaper.dev/internal/job"
	"go.landscaper.dev/internal/sources"
	"go.landscaper.dev/internal/validation"
)

// look reads what the children are made from, as far as it is in the resource
// cluster. It judges nothing: an error means that it could not be read.
func (r *Reconciler) look(ctx context.Context, s *snapshot) error {
	in := &decide.Inputs{Invalid: validation.Installation(s.Inst, r.Sources.Foreign)}
	if len(in.Invalid) > 0 {
		s.Inputs = in
		return nil
	}
	var err error
	if in.Turn, err = r.turnToDeploy(ctx, s); err != nil {
		return err
	}
	if !in.Turn.HasCome() {
		s.Inputs = in
		return nil
	}
	if in.Landscape, err = r.landscape(ctx, s.Inst); err != nil {
		return err
	}
	if err := r.readCurrent(ctx, s, in); err != nil {
		return err
	}
	if s.Inst.Status.DataUpdate != nil && in.Broken == nil && len(in.Missing) == 0 {
		if in.Hash, err = dataflow.ImportsHash(in.Imports); err != nil {
			return job.Terminally(job.Wrap(err, "init", "HashImports", ""))
		}
	}
	s.Inputs = in
	return nil
}

// readCurrent reads the imports as they were when the job was asked for, or later. Who
// asks a root for a job has often written its imports a moment before, and their watches
// may be slower than that of Installations: they are read from the API server, once. What
// is missing the caches tell for nothing, unless an import has none, or the job waits
// already. A plan that is being made has what an earlier attempt has read, but whether one
// is needed at all, a data update decides each time.
func (r *Reconciler) readCurrent(ctx context.Context, s *snapshot, in *decide.Inputs) error {
	live, reader := reading(r.Reader, r.Reader, s.Inst), reading(r.Client, r.Reader, s.Inst)
	// What somebody is about to export may be missing: that needs no confirmation.
	live.believing, reader.believing = true, true
	current := s.Parent == nil && (s.Inst.Status.DataUpdate != nil || !r.planning(s.Inst))
	atOnce := current && s.Inst.Status.LastError == nil && importsUncached(s.Inst)
	if atOnce {
		reader = live
	}
	if err := r.readImports(ctx, s, in, reader); err != nil {
		return err
	}
	if len(in.Missing) > 0 && decide.ByMissing(s.Parent, in.Missing, in.Exporters).Do == decide.Fail {
		// The cache may be behind, and who exports it may have ended, well, after we
		// looked for it.
		reader.believing = atOnce
		if err := r.readImports(ctx, s, in, reader); err != nil {
			return err
		}
	}
	if current && !atOnce && len(in.Missing) == 0 {
		return r.readImports(ctx, s, in, live)
	}
	return nil
}

// importsUncached reports whether an Installation imports what no cache has.
func importsUncached(inst *v1alpha1.Installation) bool {
	return slices.ContainsFunc(inst.Spec.Imports.Data, func(data v1alpha1.DataImport) bool { return data.SecretRef != nil || data.ConfigMapRef != nil })
}

// noteImports notes which imports the job uses, however it ends.
func noteImports(s *snapshot) (err error) {
	if s.Inputs.Hash, err = dataflow.ImportsHash(s.Inputs.Imports); err != nil {
		return job.Terminally(job.Wrap(err, "init", "HashImports", ""))
	}
	s.Inst.Status.ImportsHash = s.Inputs.Hash
	return nil
}

// noteMissing notes that the job has no imports to use. When what is missing is back, it
// is something new, also if it is what the job before has used.
func noteMissing(s *snapshot) {
	if s.Inputs != nil && len(s.Inputs.Missing) > 0 {
		s.Inst.Status.ImportsHash = ""
	}
}

// turnToDeploy looks for siblings that have to be done before. Roots do not wait for
// each other, only for what is missing.
func (r *Reconciler) turnToDeploy(ctx context.Context, s *snapshot) (kin.Turn, error) {
	if s.Parent == nil {
		return kin.Turn{}, nil
	}
	siblings, err := r.siblings(ctx, s.Inst)
	if err != nil {
		return kin.Turn{}, job.Wrap(err, "init", "FetchPredecessors", "")
	}
	return kin.TurnToDeploy(s.Inst, s.Parent, siblings, r.relations.Of(s.Inst, siblings)), nil
}

// readImports reads the imports, and who may bring those that are missing.
func (r *Reconciler) readImports(ctx context.Context, s *snapshot, in *decide.Inputs, reader confirming) (err error) {
	in.Missing, in.Broken = nil, nil
	in.Imports, err = dataflow.Read(ctx, s.Inst, imported.From(reader))
	var unread *sources.ReadError
	switch missing := missingOf(err); {
	case errors.As(err, &unread), err != nil && ctx.Err() != nil:
		return job.Wrap(err, "init", "ImportsSatisfied", "")
	case len(missing) > 0:
		in.Missing = missing
		if in.Exporters, err = r.exporters(ctx, s.Inst); err != nil {
			return err
		}
	default:
		in.Broken = err
	}
	return nil
}

// missingOf returns the imports that are missing, if nothing else is wrong.
func missingOf(err error) []*dataflow.MissingError {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var list []*dataflow.MissingError
	for _, err := range joined.Unwrap() {
		var missing *dataflow.MissingError
		if !errors.As(err, &missing) {
			return nil
		}
		list = append(list, missing)
	}
	return list
}

// landscape reads the Context of an Installation; nil if there is none.
func (r *Reconciler) landscape(ctx context.Context, inst *v1alpha1.Installation) (*v1alpha1.Context, error) {
	found := &v1alpha1.Context{}
	err := confirming{Reader: r.Client, live: r.Reader}.Get(ctx, client.ObjectKey{Namespace: inst.Namespace, Name: facts.ContextOf(inst)}, found)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, job.Wrap(err, "InitPrerequisites", "CalculateContext", "read Context "+facts.ContextOf(inst))
	}
	return found, nil
}

// exporters returns what the siblings of an Installation export. It is asked only
// when something is missing.
func (r *Reconciler) exporters(ctx context.Context, inst *v1alpha1.Installation) ([]kin.Exporter, error) {
	siblings, err := r.siblings(ctx, inst)
	if err != nil {
		return nil, job.Wrap(err, "init", "ImportsSatisfied", "look for the Installations that may export what is missing")
	}
	return kin.ExportersAmong(inst, siblings, r.relations.Of(inst, siblings), r.Triggers), nil
}
